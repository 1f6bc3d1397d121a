"""Where a compiled module is looked for, in order; the first place that has one decides.

In: what the caller and the environment ask for. Out: a `Found` place, and every place that
was looked at, for messages. What is found is not judged here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from pathlib import Path

import xiokv.generated
from xiokv.runtime import toolchain
from xiokv.runtime.description import is_module
from xiokv.runtime.errors import ArgumentFault, MissingFault, RuntimeFault

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = "xiokv.toml"
MODULE_VARIABLE = "XIOKV_MODULE"

_DEFAULT_DIR = "build/xiokv"
_PROJECT_SOURCE = f"the nearest {PROJECT}"


@dataclass(frozen=True, slots=True)
class Found:
    """A module's place.

    Attributes:
        place: its folder, file or description.
        source: who named the place.
        tried: a line for every place looked at before.
    """

    place: Path
    source: str
    tried: tuple[str, ...]


def named(module: str | PathLike[str] | None) -> Found | None:
    """Return the place that the caller, or else the environment, names in so many words."""
    tried: list[str] = []
    for source, place in _named(module):
        if place is not None:
            return Found(place, source, tuple(tried))
        tried.append(f"looked at {source}: not given")
    return None


def find(target: str, device_arch: str) -> Found:
    """Return the module to load for `target` where none is named; at worst it is compiled.

    Args:
        target: kind of device.
        device_arch: what it has to be built for, such as ``gfx942:sramecc+:xnack-`` or
            ``sm_90``; a host module is for this machine.

    Raises:
        MissingFault: there is none, and no compiler to make one.
    """
    tried = [f"looked at {source}: not given" for source, _ in _named(None)]
    project = _nearest_project()
    place = _compile_dir(project) / target if project else None
    if place is not None and is_module(place):
        return Found(place, _PROJECT_SOURCE, tuple(tried))
    tried.append(f"looked at {_PROJECT_SOURCE}: {f'nothing at {place}' if place else 'not given'}")
    # Without its features a target id fits every setting of them.
    architectures = () if target == "host" else (device_arch.split(":")[0],)
    try:
        recipe = toolchain.recipe(target, _packaged(), version("xiokv"), architectures)
        return Found(toolchain.build_cached(recipe), "the user's cache", tuple(tried))
    except (MissingFault, ArgumentFault) as fault:  # an architecture here is the device's
        raise MissingFault("\n".join([f"no compiled module, and {fault}", *tried])) from fault


def _named(module: str | PathLike[str] | None) -> Iterator[tuple[str, Path | None]]:
    """Yield who may name a place, and the place if so."""
    yield "the argument module", Path(module) if module is not None else None
    place = os.environ.get(MODULE_VARIABLE)
    yield f"${MODULE_VARIABLE}", Path(place) if place else None


def _packaged() -> Path:
    return Path(xiokv.generated.__file__).parent


def _nearest_project() -> Path | None:
    """Return the xiokv.toml that governs the working folder, if any.

    A working folder that is gone or may not be looked into belongs to no project.
    """
    try:
        return _project_above(Path.cwd())
    except OSError:
        return None


def _project_above(start: Path) -> Path | None:
    """Search upward, within one file system and not past the root of a git checkout."""
    device = start.stat().st_dev
    for folder in (start, *start.parents):
        if folder.stat().st_dev != device:
            return None
        if (folder / PROJECT).is_file():
            return folder / PROJECT
        if (folder / ".git").exists():
            return None
    return None


def _compile_dir(project: Path) -> Path:
    """Return the folder that holds a project's modules; no more of the file is read."""
    try:
        document = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeFault(f"{project} cannot be read: {error}") from error
    table = document.get("compile", {})
    written = table.get("dir", _DEFAULT_DIR) if isinstance(table, dict) else table
    if not isinstance(written, str) or "\0" in written:
        raise RuntimeFault(f"{project}: [compile] dir is {written!r}; a path is needed")
    try:
        folder = (project.parent / written).resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, up to Python 3.12
        raise RuntimeFault(f"{project}: [compile] dir leads nowhere: {error}") from error
    if not folder.is_relative_to(project.parent.resolve()):
        raise RuntimeFault(f"{project}: [compile] dir leaves the project's folder: {folder}")
    return folder
