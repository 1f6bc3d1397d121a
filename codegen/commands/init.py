"""xiokv-gen init: begin a project with the bundled spec, so that build works at once."""

from __future__ import annotations

import json
from pathlib import Path

import click
from packaging.version import Version

from xiokv.codegen.config import BUNDLED, CONFIG_NAME, DEFAULT_DIR, Config, read_config
from xiokv.codegen.errors import UsageError
from xiokv.codegen.files import held
from xiokv.codegen.scaffold import check_source, scaffold
from xiokv.codegen.tomlfile import Document
from xiokv.codegen.upstream.update import apply, prepare
from xiokv.codegen.version import VERSION

_TEXT = """\
# What xiokv-gen takes from SPDK in this project, and what it makes of it. Paths count from
# this file and stay inside its folder.

requires-xiokv = "{requires}"

[upstream]
# "bundled" is the spec that xiokv brings along: it needs no network. To follow SPDK, write
# one of its tags, branches or commits, and run: xiokv-gen fetch
ref = "bundled"

[semantics]
# Fields in the bits that the commands leave reserved: "default" declares none, "kv_cache"
# two for stores of cache blocks; else the path of a profile of your own.
profile = "default"
# Whether to generate Exec, a vendor's command under opcode 83h.
exec = false

[output]
dir = {dir}
# headers: C headers with encoders and decoders. engine: the batch kernels and what they
# include. python: the same definitions as one Python file. rocm-xio: nvme-kv.h for that
# library, which needs none of the others.
emit = {emit}
# A C++ namespace for the headers, where those of another project may meet them:
# cpp_namespace = "acme::kv"

[compile]
# What each build compiles besides: "host" for the kernels as a library for this machine,
# "hip" for AMD GPUs (clang 19 or hipcc), "cuda" for NVIDIA GPUs (nvcc).
targets = []
# The GPUs to compile for, such as ["gfx942"] and ["sm_90"]; empty for all that are supported.
hip_arch = []
cuda_arch = []
"""


_EMIT = ("headers", "engine", "python")


@click.command(name="init")
@click.option(
    "--rocm-xio", "rocm_xio", is_flag=True, help="Emit nvme-kv.h for rocm-xio, and no more."
)
@click.option(
    "--follow-upstream",
    "follow",
    is_flag=True,
    help="Also write a GitHub workflow that opens a pull request for a newer SPDK release.",
)
@click.option(
    "--dir",
    "folder",
    default=DEFAULT_DIR,
    show_default=True,
    help="Folder of all that is generated, from the project's.",
)
@click.option(
    "--install-from",
    "source",
    metavar="SOURCE",
    help="Where the workflows install xiokv from: git+https://HOST/PATH@COMMIT, the address of"
    " a wheel with its #sha256=, or a path in the repository.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(
    project: str | None,
    rocm_xio: bool,
    follow: bool,
    folder: str,
    source: str | None,
    as_json: bool,
) -> None:
    """Begin a project here: a commented xiokv.toml, the bundled spec file and its lock.

    Besides, .gitattributes marks what is generated, and a GitHub workflow runs check. Files
    that are there are kept: lines are added to .gitattributes, and what else would have to
    change is told.
    """
    root = _folder(project)
    emit = json.dumps(("rocm-xio",) if rocm_xio else _EMIT)
    text = _TEXT.format(requires=_this_series(), emit=emit, dir=json.dumps(folder))
    config = read_config(Document(text, CONFIG_NAME), root)
    fault = check_source(source, root) if source is not None else None
    if fault:
        raise UsageError(f"--install-from {fault}")
    with held(root):
        _refuse_a_project(config)
        beside = scaffold(config, source, follow=follow)
        texts = {root / CONFIG_NAME: text, **beside.texts}
        written = apply(config, prepare(config, BUNDLED, None), texts)
    names = [path.relative_to(root).as_posix() for path in written]
    if as_json:
        values = {"root": str(root), "written": names, "notes": list(beside.notes)}
        click.echo(json.dumps(values, indent=2))
    else:
        lines = [*(f"wrote {name}" for name in names), *(f"note: {n}" for n in beside.notes)]
        click.echo("\n".join([*lines, "next: xiokv-gen build"]))


def _folder(project: str | None) -> Path:
    folder = Path(project or ".").resolve()
    if not folder.is_dir():
        raise UsageError(f"--project {project}: there is no such folder; make it, then run init")
    return folder


def _this_series() -> str:
    """Return the versions whose output is that of the running one."""
    major, minor, *_ = Version(VERSION).release
    return f">={major}.{minor},<{major}.{minor + 1}"


def _refuse_a_project(config: Config) -> None:
    places = (config.root / CONFIG_NAME, config.lock_path, config.ir_path)
    found = [path for path in places if path.exists() or path.is_symlink()]
    if found:
        shown = ", ".join(path.relative_to(config.root).as_posix() for path in found)
        raise UsageError(
            f"{shown} in {config.root}: a project is here already, and init writes over nothing;"
            " change its xiokv.toml, or take these files away first"
        )
