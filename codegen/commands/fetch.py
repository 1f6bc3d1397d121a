"""xiokv-gen fetch: bring the spec file and the lock to what upstream says at a ref."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xiokv.codegen.allowed import check_ref
from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.commands.again import again
from xiokv.codegen.config import CONFIG_NAME, Config, load_config
from xiokv.codegen.diff import Changes
from xiokv.codegen.errors import BreakingChangeError, UsageError
from xiokv.codegen.files import held, read_text
from xiokv.codegen.lock import Lock
from xiokv.codegen.tomledit import with_ref
from xiokv.codegen.upstream.update import Update, apply, prepare


@click.command(name="fetch")
@click.option("--ref", help="Tag, branch or commit, in place of the one in xiokv.toml.")
@click.option(
    "--from",
    "place",
    type=GivenPath(path_type=Path),
    help="Read a git directory or a plain folder in place of the network.",
)
@click.option("--accept", is_flag=True, help="Take changes that break users.")
@click.option("--save-ref", "save", is_flag=True, help="Also write the --ref into xiokv.toml.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(
    project: str | None,
    ref: str | None,
    place: Path | None,
    accept: bool,
    save: bool,
    as_json: bool,
) -> None:
    """Fetch the upstream headers at a pin, parse them and update the spec file."""
    config = load_config(project)
    wanted = config.upstream.ref if ref is None else ref
    fault = check_ref(wanted)
    if fault:
        raise UsageError(f"--ref: {fault}")
    with held(config.root):
        update = prepare(config, wanted, place)
        refused = update.breaking and not accept
        more = _saved(config, wanted) if save else {}
        written = () if refused else apply(config, update, more)
    names = [str(path.relative_to(config.root)) for path in written]
    if update.moved_tag:
        click.echo(f"xiokv-gen: warning: {update.moved_tag}", err=True)
    note = "" if save else _note(config, update, project, place)
    click.echo(_as_json(update, names) if as_json else _as_text(update, names, refused, note))
    if refused:
        flags = (*(["--save-ref"] if save else []), "--accept")
        raise BreakingChangeError(
            "upstream changed in a way that breaks users, so nothing was written; read the"
            f" changes, then run {again(project, 'fetch', *flags, ref=ref, from_=place)}"
        )


def _saved(config: Config, ref: str) -> dict[Path, str]:
    """Return the text of xiokv.toml with another ref, by its path."""
    path = config.root / CONFIG_NAME
    return {path: with_ref(read_text(path, CONFIG_NAME) or "", ref)}


def _note(config: Config, update: Update, project: str | None, place: Path | None) -> str:
    """Return what keeps the ref that was fetched, where xiokv.toml names another."""
    lock, named = update.lock, config.upstream.ref
    if lock.ref in ("", named):
        return ""
    keep = again(project, "fetch", "--save-ref", ref=lock.ref, from_=place)
    return (
        f"note: xiokv.toml still names ref {named!r}, which the next fetch goes back to; to keep"
        f' {lock.ref}, write ref = "{lock.ref}" there, or run: {keep}'
    )


def _as_text(update: Update, written: list[str], refused: bool, note: str) -> str:
    lock = update.lock
    lines = [f"{lock.repository} {_pin(lock)}: {_moved(update)}", update.layout]
    if update.changes:
        lines += update.changes.lines() or ["definitions: unchanged"]
    if note and not refused:
        lines.append(note)
    if not refused:
        lines.append(f"wrote {', '.join(written)}" if written else "nothing to write")
    return "\n".join(lines)


def _pin(lock: Lock) -> str:
    if not lock.commit:
        return "(unpinned folder)"
    return lock.commit if lock.ref == lock.commit else f"{lock.ref} = {lock.commit}"


def _moved(update: Update) -> str:
    previous = update.previous
    if previous is None:
        return "first fetch"
    pin = (update.lock.repository, update.lock.commit)
    if (previous.repository, previous.commit) == pin and _same_files(previous, update.lock):
        named = previous.ref in ("", update.lock.ref)
        return "unchanged" if named else f"the commit that was locked as {previous.ref}"
    same = previous.repository == update.lock.repository
    return f"moved from {'' if same else previous.repository + ' '}{_pin(previous)}"


def _same_files(one: Lock, other: Lock) -> bool:
    """Tell whether two locks of a commit state the same files; bundled ones state none."""
    return bool(one.commit and not (one.files and other.files)) or one.files == other.files


def _as_json(update: Update, written: list[str]) -> str:
    lock, previous = update.lock, update.previous
    values = {
        "repository": lock.repository,
        "ref": lock.ref,
        "commit": lock.commit,
        "previous_commit": previous.commit if previous else None,
        "moved_tag": bool(update.moved_tag),
        "layout": update.layout,
        **(update.changes or Changes(())).as_json(),
        "written": written,
    }
    return json.dumps(values, indent=2)
