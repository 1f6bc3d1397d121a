"""xiokv-gen build: render the spec into the project's output folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import click

from xiokv.codegen.config import Config, load_config
from xiokv.codegen.lock import Lock, dump_lock
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.spec.load import load_spec, lock_of
from xiokv.codegen.version import VERSION
from xiokv.codegen.writer import Written, write


@click.command(name="build")
@click.option("--emit-only", is_flag=True, help="Write the text and compile nothing.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the text below this folder and compile nothing; the project stays as it is.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, emit_only: bool, out: Path | None, as_json: bool) -> None:
    """Render the spec into headers, encoders, kernels and the Python twin."""
    config = load_config(project)
    written = emit_elsewhere(config, out.resolve()) if out else emit(config)
    root = out.resolve() if out else config.root
    click.echo(_as_json(written, root) if as_json else _as_text(written, root))
    if config.compile.targets and not (emit_only or out):
        # Imported here: text needs no compiler, nor anything that looks for one.
        from xiokv.codegen.compile import compile_targets

        compile_targets(config, config.compile.targets)


def emit(config: Config) -> Written:
    """Write the project's generated files and their list in the lock."""
    lock = lock_of(config)
    texts = render_all(load_spec(config), config.output)

    def record(owned: Iterable[str]) -> Mapping[Path, str]:
        return {config.lock_path: dump_lock(built(lock, owned))}

    return write(config.root, texts, lock.owned, record)


def built(lock: Lock, owned: Iterable[str]) -> Lock:
    """Return the lock as a build by this generator leaves it."""
    return replace(lock, generator=VERSION, owned=tuple(sorted(owned)))


def emit_elsewhere(config: Config, folder: Path) -> Written:
    """Write the text below another folder, which keeps no list of owned files."""
    output = replace(config.output, dir=folder, python=folder / config.output.python.name)
    texts = render_all(load_spec(config), output)
    return write(folder, texts, (), lambda _: {})


def _as_text(written: Written, root: Path) -> str:
    lines = [f"wrote {path.relative_to(root)}" for path in written.changed]
    lines += [f"removed {path.relative_to(root)}" for path in written.removed]
    return "\n".join(lines or ["every generated file is up to date"])


def _as_json(written: Written, root: Path) -> str:
    values = {
        "root": str(root),
        "written": [path.relative_to(root).as_posix() for path in written.changed],
        "removed": [path.relative_to(root).as_posix() for path in written.removed],
    }
    return json.dumps(values, indent=2)
