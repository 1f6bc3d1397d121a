"""xiokv-gen fetch: bring the spec file and the lock to what upstream says at a ref."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xiokv.codegen.allowed import check_ref
from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.config import Config, load_config
from xiokv.codegen.diff import Changes
from xiokv.codegen.errors import BreakingChangeError, UsageError
from xiokv.codegen.files import held
from xiokv.codegen.lock import Lock
from xiokv.codegen.upstream.update import Update, apply, fetch_command, prepare


@click.command(name="fetch")
@click.option("--ref", help="Tag, branch or commit, in place of the one in xiokv.toml.")
@click.option(
    "--from",
    "place",
    type=GivenPath(path_type=Path),
    help="Read a git directory or a plain folder in place of the network.",
)
@click.option("--accept", is_flag=True, help="Take changes that break users.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(
    project: str | None, ref: str | None, place: Path | None, accept: bool, as_json: bool
) -> None:
    """Fetch the upstream headers at a pin, parse them and update the spec file."""
    config = load_config(project)
    asked = ref
    ref = config.upstream.ref if ref is None else ref
    fault = check_ref(ref)
    if fault:
        raise UsageError(f"--ref: {fault}")
    with held(config.root):
        update = prepare(config, ref, place)
        refused = update.breaking and not accept
        written = () if refused else apply(config, update)
    names = [str(path.relative_to(config.root)) for path in written]
    click.echo(_as_json(update, names) if as_json else _as_text(config, update, names, refused))
    if refused:
        raise BreakingChangeError(
            "upstream changed in a way that breaks users, so nothing was written;"
            f" read the changes, then run {fetch_command(asked, place)} --accept"
        )


def _as_text(config: Config, update: Update, written: list[str], refused: bool) -> str:
    lock = update.lock
    lines = [f"{lock.repository} {_pin(lock)}: {_moved(update)}", update.layout]
    if update.changes:
        lines += update.changes.lines() or ["definitions: unchanged"]
    if lock.ref != config.upstream.ref and lock.commit:
        lines.append(f"note: xiokv.toml still names ref {config.upstream.ref!r}")
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
    if (previous.repository, previous.commit, previous.files) == (
        update.lock.repository,
        update.lock.commit,
        update.lock.files,
    ):
        return "unchanged"
    same = previous.repository == update.lock.repository
    return f"moved from {'' if same else previous.repository + ' '}{_pin(previous)}"


def _as_json(update: Update, written: list[str]) -> str:
    lock, previous = update.lock, update.previous
    values = {
        "repository": lock.repository,
        "ref": lock.ref,
        "commit": lock.commit,
        "previous_commit": previous.commit if previous else None,
        "layout": update.layout,
        **(update.changes or Changes(())).as_json(),
        "written": written,
    }
    return json.dumps(values, indent=2)
