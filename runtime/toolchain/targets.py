"""The module of each target, and other kernels for it.

In: a folder of generated text, and the architectures that are asked for. Out: a recipe.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.toolchain.gpus import gpu_recipe
from xiokv.runtime.toolchain.recipes import Recipe, Sources, library_recipe

_STEM = "xiokv"  # of the file names
_UNIT = "kernels/kv_kernels.cpp"
_HOST_FLAGS = ("-std=c++17", "-O2", "-g", "-fPIC", "-shared", "-pthread", "-fvisibility=default")


def recipe(
    target: str, generated: Path, generator: str, architectures: Sequence[str] = ()
) -> Recipe:
    """Return how a target's module is made from a folder of generated text.

    Args:
        target: "host", "hip" or "cuda".
        generated: the folder that holds ``include/`` and ``kernels/``.
        generator: version of xiokv that compiles, for the description.
        architectures: GPUs to compile for; those that xiokv supports by default.

    Raises:
        ArgumentFault: the compiler knows no such architecture.
        MissingFault: there is no compiler for the GPUs; that for the host is looked for
            later, by the build.
    """
    description = _description(target, generated, generator)
    sources = _sources(generated)
    if target != "host":
        return gpu_recipe(target, _STEM, sources, description, architectures)
    if architectures:
        raise ArgumentFault(
            f"architecture {architectures[0]}: the host module is for this machine's processor"
        )
    return library_recipe(f"{_STEM}_host.so", sources, _HOST_FLAGS, description)


def host_recipe(generated: Path, generator: str) -> Recipe:
    """Return how the host module is made from a folder of generated text."""
    return recipe("host", generated, generator)


def kernel_recipe(
    target: str,
    stem: str,
    sources: Sources,
    description: Mapping[str, Any],
    architecture: str,
) -> Recipe:
    """Return how kernels that are no module's are made, for one device.

    Args:
        target: "host", "hip" or "cuda".
        stem: the file's name without its suffix.
        sources: texts that include the engine's platform.
        description: what their description says besides.
        architecture: what the device's driver states; of no meaning for the host.
    """
    described = {**description, "target": target}
    if target == "host":
        return library_recipe(f"{stem}.so", sources, _HOST_FLAGS, described)
    return gpu_recipe(target, stem, sources, described, (architecture,))


def _description(target: str, generated: Path, generator: str) -> dict[str, Any]:
    described = generated / "kernels" / "kv_module.json"
    if not described.is_file() or not (generated / _UNIT).is_file():
        raise RuntimeFault(
            f'no kernels in {generated}: run xiokv-gen build, with "engine" among emit in'
            " xiokv.toml"
        )
    try:
        read: dict[str, Any] = json.loads(described.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeFault(f"{described} cannot be read ({error}); run xiokv-gen build") from error
    return {**read, "generator": generator, "target": target}


def _sources(generated: Path) -> Sources:
    headers = sorted(generated.glob("include/**/*.h"))
    read = tuple(path.relative_to(generated).as_posix() for path in headers)
    return Sources(generated, (_UNIT,), "include", (_UNIT, *read))
