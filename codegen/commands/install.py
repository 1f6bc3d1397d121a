"""xiokv-gen install: put what the project generates below a prefix."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.config import load_config
from xiokv.codegen.install import install
from xiokv.codegen.listed import Listed


@click.command(name="install")
@click.option(
    "--prefix",
    required=True,
    type=GivenPath(file_okay=False),
    help="Folder below which include/ and share/ are; made where it is missing.",
)
@click.option(
    "--host",
    is_flag=True,
    help="Install libxiokv, too, for programs in C and C++, with the host module.",
)
@click.option(
    "--rados",
    is_flag=True,
    help="With --host: install libxiokv_rados, too, which opens Ceph pools; it needs librados.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, prefix: str, host: bool, rados: bool, as_json: bool) -> None:
    """Install headers, kernel sources, packages and the Python twin below a prefix."""
    config = load_config(project)
    folder = Path(prefix).resolve()
    installed = install(config, folder, host=host, rados=rados)
    if installed.replaced:
        click.echo(
            f"xiokv-gen: note: {folder} held the files of spec {installed.replaced}, which these"
            " replaced; a project that is to lie beside another one needs a cpp_namespace in"
            " [output] of its xiokv.toml",
            err=True,
        )
    click.echo(_as_json(installed, folder) if as_json else _as_text(installed, folder))


def _as_text(installed: Listed, prefix: Path) -> str:
    lines = [f"wrote {path}" for path in installed.files.changed]
    lines += [f"removed {path}" for path in installed.files.removed]
    return "\n".join(lines or [f"what is installed in {prefix} is up to date"])


def _as_json(installed: Listed, prefix: Path) -> str:
    files = installed.files
    values = {
        "prefix": str(prefix),
        "written": [path.relative_to(prefix).as_posix() for path in files.changed],
        "removed": [path.relative_to(prefix).as_posix() for path in files.removed],
        "replaced_spec": installed.replaced,
    }
    return json.dumps(values, indent=2)
