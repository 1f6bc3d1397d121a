"""Stamps: how a build system learns that a run went well, and what it depended on.

In: the path of a stamp. Out: the stamp, an empty file as new as the run, and beside it
``<stamp>.d``, a rule of Make that names every file whose change calls for another run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import click

from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.config import CONFIG_NAME, Config
from xiokv.codegen.files import replace_files

_SPECIAL = re.compile(r"([ \\#])")

stamp_option = click.option(
    "--stamp",
    type=GivenPath(dir_okay=False, path_type=Path, resolve_path=True),
    help="Where all is well, touch this file for a build system, and write FILE.d, a rule of"
    " Make that names what was read.",
)


def inputs(config: Config) -> tuple[Path, ...]:
    """Return the files of a project that decide what is rendered."""
    profile = config.semantics.profile
    own = (config.root / CONFIG_NAME, config.lock_path, config.ir_path)
    return (*own, profile) if isinstance(profile, Path) else own


def write_stamp(stamp: Path, read: Iterable[Path]) -> None:
    """Write a stamp that depends on the files given, and the rule that says so."""
    rule = " \\\n  ".join([f"{_escape(stamp)}:", *map(_escape, read)]) + "\n"
    replace_files(stamp.parent, {stamp.with_name(f"{stamp.name}.d"): rule})
    stamp.touch()


def _escape(path: Path) -> str:
    """Return a path as Make, Ninja and CMake read it."""
    return _SPECIAL.sub(r"\\\1", str(path)).replace("$", "$$")
