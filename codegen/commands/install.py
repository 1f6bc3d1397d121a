"""xiokv-gen install: put what the project generates below a prefix."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xiokv.codegen.config import load_config
from xiokv.codegen.errors import UsageError
from xiokv.codegen.install import install
from xiokv.codegen.writer import Written


@click.command(name="install")
@click.option(
    "--prefix",
    required=True,
    type=click.Path(file_okay=False),
    help="Folder below which include/ and share/ are; made where it is missing.",
)
@click.option(
    "--host",
    is_flag=True,
    help="Install libxiokv, too, for programs in C and C++, with the host module.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, prefix: str, host: bool, as_json: bool) -> None:
    """Install headers, kernel sources, packages and the Python twin below a prefix."""
    if not prefix:  # a variable of a script that is not set
        raise UsageError("--prefix is empty; give the folder to install below")
    config = load_config(project)
    folder = Path(prefix).resolve()
    written = install(config, folder, host=host)
    click.echo(_as_json(written, folder) if as_json else _as_text(written, folder))


def _as_text(written: Written, prefix: Path) -> str:
    lines = [f"wrote {path}" for path in written.changed]
    lines += [f"removed {path}" for path in written.removed]
    return "\n".join(lines or [f"what is installed in {prefix} is up to date"])


def _as_json(written: Written, prefix: Path) -> str:
    values = {
        "prefix": str(prefix),
        "written": [path.relative_to(prefix).as_posix() for path in written.changed],
        "removed": [path.relative_to(prefix).as_posix() for path in written.removed],
    }
    return json.dumps(values, indent=2)
