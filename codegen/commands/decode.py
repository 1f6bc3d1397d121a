"""xiokv-gen decode: an SQE, a CQE or lines of a trace as annotated tables."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from xiokv.codegen.decode.entries import SIZES, read_entries
from xiokv.codegen.decode.pairs import decode_all
from xiokv.codegen.decode.table import Decoded
from xiokv.codegen.decode.words import with_note
from xiokv.codegen.errors import SourceError, UsageError
from xiokv.codegen.render.text import one_line
from xiokv.codegen.spec.load import nearest_spec
from xiokv.codegen.spec.model import Spec

_STDIN = "-"


@click.command(name="decode")
@click.argument("text", metavar="HEX...", nargs=-1, required=True)
@click.option("--kind", type=click.Choice(list(SIZES)), help="What it is, whatever its length.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, text: tuple[str, ...], kind: str | None, as_json: bool) -> None:
    """Take apart an SQE (64 bytes), a CQE (16 bytes) or lines of a trace.

    HEX is hexadecimal text, or - for standard input: digits in the order of memory, with
    blanks, colons or commas between them; 0x01 is a byte, and 0x00050001 a number, whose
    lowest byte comes first; a list of C in braces; lines of xxd, hexdump -C and gdb; lines of
    a trace. The spec and
    the profile are those of the nearest project, else the bundled ones.
    """
    lines, name = _lines(text)
    try:
        entries = list(read_entries(lines, name, kind))
    except SourceError:
        _refuse_file(text)
        raise
    if not entries:
        raise UsageError(f"{name} holds no digits; give the bytes of an SQE or a CQE")
    spec = nearest_spec(project)
    said = zip(entries, decode_all(spec, entries), strict=True)
    decoded = [with_note(spec, entry, one) for entry, one in said]
    click.echo(_as_json(spec, decoded) if as_json else "\n".join(_as_text(spec, decoded)))


def _lines(text: tuple[str, ...]) -> tuple[list[str], str]:
    """Return the text line by line, and what errors call it."""
    if text != (_STDIN,):
        return " ".join(text).splitlines(), "HEX"
    if not sys.stdin:
        raise UsageError("standard input is closed; give the digits as HEX, or by a pipe")
    content = sys.stdin.buffer.read()
    if b"\0" in content:
        raise UsageError(
            "standard input holds bytes and no text; for a file of bytes write:"
            " xxd FILE | xiokv-gen decode -"
        )
    return content.decode("utf-8-sig", "backslashreplace").splitlines(), "standard input"


def _refuse_file(text: tuple[str, ...]) -> None:
    """Say how to read a file that was named in place of its digits."""
    for word in text:
        if Path(word).is_file():
            name = shlex.quote(word)
            raise UsageError(
                f"{one_line(word)} is a file; for lines of text in it write: xiokv-gen decode -"
                f" < {name}; for bytes: xxd {name} | xiokv-gen decode -"
            )


def _as_text(spec: Spec, decoded: list[Decoded]) -> Iterator[str]:
    for one in decoded:
        yield from one.lines()
        yield ""
    yield f"by {_origin(spec)}"


def _origin(spec: Spec) -> str:
    source = spec.provenance
    where = " ".join(part for part in (source.ref, source.commit[:12]) if part) or "a plain folder"
    return one_line(f"the definitions of {where} and profile {spec.profile.name!r}")


def _as_json(spec: Spec, decoded: list[Decoded]) -> str:
    values = {
        "ref": spec.provenance.ref,
        "commit": spec.provenance.commit,
        "profile": spec.profile.name,
        "entries": [one.as_json() for one in decoded],
    }
    return json.dumps(values, indent=2)
