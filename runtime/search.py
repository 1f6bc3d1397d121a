"""Where a compiled module is looked for, in order; the first place that has one decides.

In: what the caller and the environment ask for. Out: a `Found` place, and every place that
was looked at, for messages. What is found is not judged here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from pathlib import Path

import xiokv.generated
from xiokv.runtime import toolchain
from xiokv.runtime.description import is_module
from xiokv.runtime.errors import ArgumentFault, MissingFault, RuntimeFault
from xiokv.runtime.project import PROJECT, compile_dir, nearest_project

MODULE_VARIABLE = "XIOKV_MODULE"

_PROJECT_SOURCE = f"the nearest {PROJECT}"
_NOT_NAMED = f"looked at ${MODULE_VARIABLE}: not set"


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

    @property
    def lines(self) -> tuple[str, ...]:
        """Where it was found, and where nothing was, for messages."""
        return (f"found by {self.source}: {self.place}", *self.tried)


def named(module: str | PathLike[str] | None) -> Found | None:
    """Return the place that the caller, or else the environment, names in so many words."""
    if module is not None:
        return Found(Path(module), "the argument module", ())
    place = os.environ.get(MODULE_VARIABLE)
    return Found(Path(place), f"${MODULE_VARIABLE}", ()) if place else None


def in_project(target: str) -> Found | None:
    """Return the module of a target that the nearest project holds, if any."""
    place = _project_place(target)
    if place is None or not _holds_module(place):
        return None
    return Found(place, _PROJECT_SOURCE, (_NOT_NAMED,))


def find(target: str, device_arch: str) -> Found:
    """Return the module to load for `target` where none is named; at worst it is compiled.

    Args:
        target: kind of device.
        device_arch: what it has to be built for, such as ``gfx942:sramecc+:xnack-`` or
            ``sm_90``; a host module is for this machine.

    Raises:
        MissingFault: there is none, and no compiler to make one.
    """
    found = in_project(target)
    if found:
        return found
    place = _project_place(target)
    looked = f"looked at {_PROJECT_SOURCE}: {f'nothing at {place}' if place else 'none'}"
    tried = (_NOT_NAMED, looked)
    # Without its features a target id fits every setting of them.
    architectures = () if target == "host" else (device_arch.split(":")[0],)
    try:
        recipe = toolchain.recipe(target, _packaged(), version("xiokv"), architectures)
        return Found(toolchain.build_cached(recipe), "the user's cache", tried)
    except (MissingFault, ArgumentFault) as fault:  # an architecture here is the device's
        raise MissingFault("\n".join([f"no compiled module, and {fault}", *tried])) from fault


def _project_place(target: str) -> Path | None:
    project = nearest_project()
    return compile_dir(project) / target if project else None


def _holds_module(place: Path) -> bool:
    try:
        return is_module(place)
    except OSError as error:
        raise RuntimeFault(
            f"{place} cannot be looked into: {error.strerror}\nfound by {_PROJECT_SOURCE}"
        ) from error


def _packaged() -> Path:
    return Path(xiokv.generated.__file__).parent
