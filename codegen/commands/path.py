"""xiokv-gen path: where in the project is what a build system asks for."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xiokv.codegen.config import Config, load_config
from xiokv.codegen.errors import UsageError, XiokvError
from xiokv.codegen.host_library import project_library
from xiokv.codegen.naming import Names
from xiokv.codegen.render.packages import PKGCONFIG_DIR, cmake_dir
from xiokv.codegen.render.rocm_xio import ROCM_XIO_DIR

# What may be asked for, and the output that makes it.
_EMIT = {
    "include": "headers",
    "cmake": "cmake",
    "pkgconfig": "pkgconfig",
    "rocm-xio": "rocm-xio",
}
_LIBRARY = "library"


@click.command(name="path")
@click.argument("name", type=click.Choice([*_EMIT, _LIBRARY]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, name: str, as_json: bool) -> None:
    """Print the folder to give to -I, to CMake as <package>_DIR, or in PKG_CONFIG_PATH.

    That of the library, for -L, is compiled first where it is not current.
    """
    config = load_config(project)
    path = project_library(config) if name == _LIBRARY else _folder(config, name)
    click.echo(json.dumps({"name": name, "path": str(path)}, indent=2) if as_json else path)


def _folder(config: Config, name: str) -> Path:
    emit = _EMIT[name]
    if emit not in config.output.emit:
        raise UsageError(
            f"this project has no {name} folder: add {emit!r} to emit in [output] of"
            f" {config.root}/xiokv.toml, then run xiokv-gen build"
        )
    path = config.output.dir / _below(name, config.output.names)
    if not path.is_dir():
        raise XiokvError(f"there is no {path} yet; run xiokv-gen build")
    return path


def _below(name: str, names: Names) -> str:
    """Return a folder, from the output folder."""
    places = {
        "include": "include",
        "cmake": cmake_dir(names),
        "pkgconfig": PKGCONFIG_DIR,
        "rocm-xio": ROCM_XIO_DIR,
    }
    return places[name]
