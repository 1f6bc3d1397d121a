"""Kernels that are no part of a module: compiled into the user's cache, one at a time.

In: a kernel's name, a target and a device's architecture. Out: the image to load.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from xiokv.runtime import toolchain
from xiokv.runtime.errors import ArgumentFault, MissingFault

# The folder that holds the packages, whose texts include one another's.
_ROOT = Path(__file__).parents[2]
_HERE = "runtime/gpu"
_INCLUDE = "generated/include"


def kernel_file(name: str, target: str, architecture: str) -> Path:
    """Return the file that has a kernel, compiling it where needed.

    Args:
        name: "copier" or "relay".
        target: "host", "hip" or "cuda".
        architecture: what the device's driver states; of no meaning for the host.

    Raises:
        MissingFault: there is no compiler, or none that knows the device.
    """
    sources = toolchain.Sources(_ROOT, (f"{_HERE}/{name}_kernel.cpp",), _INCLUDE, _read(name))
    description = {"kind": f"{name} kernel", "generator": version("xiokv")}
    stem = f"xiokv_{name}"
    try:
        recipe = toolchain.kernel_recipe(target, stem, sources, description, architecture)
    except ArgumentFault as fault:
        raise MissingFault(f"no compiler for the {name} kernel: {fault}") from fault
    return toolchain.build_cached(recipe)


def _read(name: str) -> tuple[str, ...]:
    """Return all that a kernel's text may include."""
    own = [f"{_HERE}/{file}" for file in (f"{name}_kernel.cpp", f"{name}_ring.h", "entry.h")]
    engine = sorted((_ROOT / _INCLUDE).glob("**/*.h"))
    return (*own, *(path.relative_to(_ROOT).as_posix() for path in engine))
