"""Proof of the layout by a C compiler: the facts against ``offsetof`` and ``sizeof``.

Behind the upstream texts a compiler translates one constant table of every size, place
and value, which is read from the object file: nothing that was fetched ever runs. The
facts never come from here: without a compiler, or where the texts need headers that are
not there, the same facts stand, unproved.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from pathlib import Path

from xiokv.codegen.errors import Problems, XiokvError
from xiokv.codegen.facts import Facts, Field, Record
from xiokv.codegen.parse.table import MARK_BYTES, BitField, Check, Table, Value
from xiokv.codegen.parse.translate import Translator

_COMPILERS = ("cc", "gcc", "clang")


def prove_layout(facts: Facts, texts: Mapping[str, str]) -> str:
    """Compare the facts with what a C compiler makes of the texts; return a line to print.

    Raises:
        XiokvError: the compiler disagrees; both values are named.
    """
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        return (
            f"layout: no C compiler found (looked for {', '.join(_COMPILERS)}); "
            "not proved a second time, the facts are the same"
        )
    name = Path(compiler).name
    try:
        with tempfile.TemporaryDirectory(prefix="xiokv-probe-") as folder:
            return _prove(facts, Translator(Path(folder), compiler, texts), name)
    except OSError as error:
        return f"layout: not proved, {name} cannot be run here ({error.strerror})"


def _prove(facts: Facts, translator: Translator, name: str) -> str:
    fault = translator.translate("").fault
    if "static assert" in fault.replace("_", " "):
        raise XiokvError(f"{name} refuses a static assert that holds by the parser: {fault}")
    if fault:
        return f"layout: not proved, {name} cannot read the headers by themselves ({fault})"
    table = Table(tuple(_values(facts)), tuple(_bitfields(facts)), secrets.token_bytes(MARK_BYTES))
    made = translator.translate(table.source())
    if made.fault:
        raise XiokvError(f"{name} does not find in the headers what the parser found: {made.fault}")
    content = table.content(made.object)
    if content is None:
        return f"layout: not proved, {name} makes no object file that holds its constants"
    _compare(table.value_checks(content), name)
    _compare(table.bitfield_checks(content), name)
    count = len(table.values) + len(table.bitfields)
    return f"layout: proved by {name} ({count} sizes, places and values)"


def _compare(checks: Iterable[Check], name: str) -> None:
    problems = Problems()
    for check in checks:
        if check.seen != check.expected:
            problems.add(
                XiokvError(
                    f"layout: {check.label} is {check.expected} here but {check.seen} by {name}"
                )
            )
    problems.raise_if_any()


def _values(facts: Facts) -> Iterator[Value]:
    for constant in facts.constants:
        yield Value(constant.name, constant.name, constant.value)
    for enum in facts.enums:
        for enumerator in enum.enumerators:
            yield Value(enumerator.name, enumerator.name, enumerator.value)
    for record in facts.records:
        name = f"{record.kind} {record.name}"
        for expression, expected in (("sizeof", record.size), ("_Alignof", record.align)):
            yield Value(f"{expression}({name})", f"{expression}({name})", expected)
        for path, field, offset in _members(record):
            if not field.bitfield:
                yield from _member(name, path, field, offset)


def _member(record: str, path: str, field: Field, offset: int) -> Iterator[Value]:
    label, width = f"{record}.{path}", field.width * prod(field.dims)
    yield Value(f"{label} place", f"offsetof({record}, {path}) * 8", offset)
    yield Value(f"{label} width", f"sizeof((({record} *)0)->{path}) * 8", width)


def _bitfields(facts: Facts) -> Iterator[BitField]:
    for record in facts.records:
        for path, field, offset in _members(record):
            if field.bitfield:
                name = f"{record.kind} {record.name}"
                yield BitField(name, path, record.size, offset, field.width)


def _members(record: Record, prefix: str = "", base: int = 0) -> Iterator[tuple[str, Field, int]]:
    """Yield (C access path, member, bit offset); of an array, the first element is entered."""
    for field in record.fields:
        path, offset = f"{prefix}{field.name}", base + field.offset
        is_flexible = 0 in field.dims
        if field.name and not is_flexible:
            yield path, field, offset
        if isinstance(field.type, Record) and not is_flexible:
            element = path + "[0]" * len(field.dims)
            yield from _members(field.type, f"{element}." if field.name else prefix, offset)
