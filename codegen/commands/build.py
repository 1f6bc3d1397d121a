"""xiokv-gen build: render the spec into the project's output folder, and compile it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xiokv.codegen.allowed import check_architecture
from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.config import SPEC_FILE, TARGETS, Config, load_config
from xiokv.codegen.errors import UsageError
from xiokv.codegen.files import held, read_text, replace_files
from xiokv.codegen.listed import write_listed
from xiokv.codegen.lock import Lock, dump_lock
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.spec.load import former_ir, load_spec, lock_of, read_ir, shown_path
from xiokv.codegen.stamp import inputs, stamp_option, write_stamp
from xiokv.codegen.version import VERSION, is_newer
from xiokv.codegen.writer import Written, write

if TYPE_CHECKING:
    from xiokv.codegen.compile import Module

_LIST = ".xiokv-files.txt"  # in the folder of --out


@click.command(name="build")
@click.option(
    "--target",
    "added",
    type=click.Choice(TARGETS),
    multiple=True,
    help="Compile for this target too, besides [compile].targets of xiokv.toml.",
)
@click.option(
    "--arch",
    "architectures",
    multiple=True,
    help="Compile the one --target, hip or cuda, for this architecture only; may be repeated.",
)
@click.option("--emit-only", is_flag=True, help="Write the text and compile nothing.")
@click.option(
    "--out",
    type=GivenPath(file_okay=False, path_type=Path),
    help="Write the text below this folder and compile nothing; the project stays as it is.",
)
@stamp_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(
    project: str | None,
    added: tuple[str, ...],
    architectures: tuple[str, ...],
    emit_only: bool,
    out: Path | None,
    stamp: Path | None,
    as_json: bool,
) -> None:
    """Render the spec into headers, encoders, kernels and the Python twin; compile."""
    text_alone = emit_only or out is not None
    if added and text_alone:
        raise UsageError("--target compiles, --emit-only and --out do not: give one of both")
    chosen = _chosen(added, architectures)
    config = load_config(project)
    former = None
    if out is None:
        with held(config.root):
            former = move_spec(config)
    root = out.resolve() if out else config.root
    written = emit_elsewhere(config, root) if out else emit(config)
    if not as_json:
        click.echo("\n".join([*_moved(config, former), _as_text(written, root)]))
    targets = () if text_alone else tuple(dict.fromkeys((*config.compile.targets, *added)))
    modules = _compile(config, targets, chosen)
    for line in (line for module in modules for line in module.warnings):
        click.echo(f"xiokv-gen: warning: {line}", err=True)
    if as_json:
        values = _values(config, written, modules, root)
        moved = former and former.relative_to(root).as_posix()
        click.echo(json.dumps({**values, "moved_spec_from": moved}, indent=2))
    else:
        for path in (path for module in modules for path in module.files):
            click.echo(f"module {path.relative_to(root)}")
    if stamp:
        write_stamp(stamp, inputs(config))


def _chosen(added: tuple[str, ...], names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the architectures of the one target that they are given for."""
    if not names:
        return {}
    if len(set(added)) != 1:
        raise UsageError(f"--arch {names[0]} goes with one --target: give hip or cuda")
    for fault in filter(None, (check_architecture(added[0], name) for name in names)):
        raise UsageError(f"--arch {fault}")
    return {added[0]: names}


def _compile(
    config: Config, targets: tuple[str, ...], architectures: Mapping[str, tuple[str, ...]]
) -> tuple[Module, ...]:
    if not targets:
        return ()
    # Imported here: text needs no compiler, nor anything that looks for one.
    from xiokv.codegen.compile import compile_targets

    return compile_targets(config, targets, architectures)


def move_spec(config: Config) -> Path | None:
    """Bring the spec file to where it belongs after a change of [output] dir.

    Returns the path that it was at; None where it is in its place, or nowhere.
    """
    if read_ir(config) is not None:
        return None
    former = former_ir(config, lock_of(config))
    if former is not None:
        text = read_text(former, shown_path(config, former))
        replace_files(config.root, {config.ir_path: text or ""})
        former.unlink()
    return former


def _moved(config: Config, former: Path | None) -> list[str]:
    """Return what to say of a spec file that was moved."""
    if former is None:
        return []
    places = [shown_path(config, path) for path in (former, config.ir_path)]
    folders = ["/".join(place.split("/")[: -len(SPEC_FILE.parts)]) for place in places]
    return [
        f"moved {places[0]} to {places[1]}",
        f"note: where .gitattributes or a build file names {folders[0]}/, write {folders[1]}/",
    ]


def emit(config: Config) -> Written:
    """Write the project's generated files and their list in the lock."""
    with held(config.root):
        lock = lock_of(config)
        texts = render_all(load_spec(config), config.output)
        if is_newer(lock.generator):
            _warn_of_newer(lock.generator)

        def record(owned: Iterable[str]) -> Mapping[Path, str]:
            return {config.lock_path: dump_lock(built(lock, owned))}

        return write(config.root, texts, lock.owned, record)


def _warn_of_newer(generator: str) -> None:
    click.echo(
        f"xiokv-gen: warning: xiokv.lock was written by xiokv {generator}, which is newer than"
        f" {VERSION}: files go back to what {VERSION} makes of the spec; to forbid that, say in"
        " xiokv.toml which versions may: requires-xiokv",
        err=True,
    )


def built(lock: Lock, owned: Iterable[str]) -> Lock:
    """Return the lock as a build by this generator leaves it."""
    return replace(lock, generator=VERSION, owned=tuple(sorted(owned)))


def emit_elsewhere(config: Config, folder: Path) -> Written:
    """Write the text below another folder, with a list of it, since the lock has none."""
    output = replace(config.output, dir=folder, python=folder / config.output.python.name)
    with held(config.root):
        spec = load_spec(config)
        texts = render_all(spec, output)
    return write_listed(folder, texts, _LIST, "xiokv-gen build --out", spec.identity.spec).files


def _as_text(written: Written, root: Path) -> str:
    lines = [f"wrote {path.relative_to(root)}" for path in written.changed]
    lines += [f"removed {path.relative_to(root)}" for path in written.removed]
    return "\n".join(lines or ["every generated file is up to date"])


def _values(
    config: Config, written: Written, modules: tuple[Module, ...], root: Path
) -> dict[str, object]:
    compiled = [path for module in modules for path in module.files]
    return {
        "root": str(root),
        "written": [path.relative_to(root).as_posix() for path in written.changed],
        "removed": [path.relative_to(root).as_posix() for path in written.removed],
        "modules": [path.relative_to(root).as_posix() for path in compiled],
        "warnings": [line for module in modules for line in module.warnings],
        "inputs": [str(path) for path in inputs(config)],
    }
