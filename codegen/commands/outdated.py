"""xiokv-gen outdated: whether SPDK has a newer release than the lock, and what differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.commands.again import again
from xiokv.codegen.config import load_config
from xiokv.codegen.diff import Change
from xiokv.codegen.errors import BreakingChangeError, StaleError
from xiokv.codegen.upstream.outdated import Standing, standing

_MOST = 200  # changes in a report: the body of a pull request takes 65,536 characters


@click.command(name="outdated")
@click.option("--pre", is_flag=True, help="Let release candidates count, such as v26.05-rc1.")
@click.option(
    "--from",
    "place",
    type=GivenPath(path_type=Path),
    help="Read a git directory in place of the network.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="How to print; markdown is for the body of a pull request.",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.pass_obj
def command(project: str | None, pre: bool, place: Path | None, style: str, as_json: bool) -> None:
    """Tell whether SPDK has a newer release than xiokv.lock, and what differs.

    Nothing is written. Exit codes: 0, up to date; 3, a newer release; 4, a newer release that
    breaks users; others, it could not be told.
    """
    found = standing(load_config(project), place, pre)
    click.echo(_FORMATS["json" if as_json else style](found))
    flags = ["--save-ref", *(["--accept"] if found.breaking else [])]
    fix = again(project, "fetch", *flags, ref=found.newest.tag, from_=place)
    if found.breaking:
        raise BreakingChangeError(
            f"{found.newest.tag} breaks users of {_locked(found)}; read the changes, then run {fix}"
        )
    if found.outdated:
        raise StaleError(f"{found.newest.tag} is newer than {_locked(found)}; run {fix}")


def _locked(found: Standing) -> str:
    moved = found.ref == found.newest.tag  # the tag, to another commit
    return found.commit if moved else found.ref or found.commit or "the locked folder"


def format_text(found: Standing) -> str:
    """Return lines for a reader, the breaking changes first."""
    lines = [f"{found.repository}: locked {_pin(found.ref, found.commit)}, newest {_newest(found)}"]
    if found.note:
        lines.append(f"note: {found.note}")
    if found.changes is None:
        lines.append("up to date")
    else:
        lines += found.changes.lines() or ["definitions: unchanged"]
    return "\n".join(lines)


def format_markdown(found: Standing) -> str:
    """Return the body of a pull request, the breaking changes first."""
    heading = f"{_newest(found)} of {found.repository}, after {_pin(found.ref, found.commit)}."
    lines = [heading, ""]
    if found.note:
        lines += [f"Note: {found.note}.", ""]
    if found.changes is None:
        return "\n".join([*lines, "Up to date."])
    breaking = [change for change in found.changes.found if change.breaking]
    others = [change for change in found.changes.found if not change.breaking]
    lines += _section("Breaking changes", breaking)
    lines += _section("Other changes", others)
    if not found.changes.found:
        lines += ["The definitions are unchanged.", ""]
    return "\n".join([*lines, "Told by `xiokv-gen outdated --format markdown`."])


def format_json(found: Standing) -> str:
    """Return one JSON object."""
    values = {
        "repository": found.repository,
        "ref": found.ref,
        "commit": found.commit,
        "newest": found.newest.tag,
        "newest_commit": found.newest.commit,
        "outdated": found.outdated,
        "note": found.note,
        **(found.changes.as_json() if found.changes else {"breaking": False, "changes": []}),
    }
    return json.dumps(values, indent=2)


_FORMATS: dict[str, Callable[[Standing], str]] = {
    "text": format_text,
    "markdown": format_markdown,
    "json": format_json,
}


def _section(title: str, changes: list[Change]) -> Iterator[str]:
    if not changes:
        return
    yield f"### {title}"
    yield ""
    for change in changes[:_MOST]:
        yield f"- `{change.subject}`: {change.text}"
    if len(changes) > _MOST:
        yield f"- and {len(changes) - _MOST} more: `xiokv-gen outdated` prints all"
    yield ""


def _newest(found: Standing) -> str:
    return _pin(found.newest.tag, found.newest.commit)


def _pin(ref: str, commit: str) -> str:
    if not commit:
        return "definitions of a plain folder"
    return f"{ref} ({commit[:12]})" if ref not in ("", commit) else commit
