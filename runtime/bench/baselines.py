"""The module of baselines: the engine's launches, arguments and rings, with other kernels."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from xiokv.runtime import toolchain
from xiokv.runtime.bench.cpu import package_root
from xiokv.runtime.module import Module, load

#: The kernels, each an entry like that of a command.
SHAPES = ("reference", "lean_reference", "each", "ping_pong", "gate", "nothing")

# It is compiled of no spec; the kernels say the same.
_NO_SPEC = "0" * 64


def entry(shape: str) -> str:
    """Return the entry of one of `SHAPES`."""
    return f"xiokv_batch_{shape}"


def load_baselines(module: Module) -> Module:
    """Return the baselines for the device of a module; they are compiled on first use."""
    built = toolchain.build_cached(recipe(module.target, _architecture(module)))
    return load(module.target, module=built)


def recipe(target: str, architecture: str = "") -> toolchain.Recipe:
    """Return how the module is made for a device of one architecture."""
    root, kernels = package_root(), Path(__file__).parent / "kernels"
    headers = (*kernels.glob("*.h"), *(root / "generated").glob("include/**/*.h"))
    read = tuple(path.relative_to(root).as_posix() for path in headers)
    unit = (kernels / "bench_kernels.cpp").relative_to(root).as_posix()
    sources = toolchain.Sources(root, (unit,), "generated/include", (unit, *read))
    engine = (root / "generated" / "kernels" / "kv_module.json").read_text(encoding="utf-8")
    description = {
        **json.loads(engine),
        "generator": version("xiokv"),
        "spec": _NO_SPEC,
        "commands": {shape: {"kernel": entry(shape)} for shape in SHAPES},
    }
    return toolchain.kernel_recipe(target, "xiokv_baselines", sources, description, architecture)


def _architecture(module: Module) -> str:
    """Return what the driver of a GPU states; a host's compiler need not be told."""
    if module.target == "host":
        return ""
    stream = module.driver.stream()
    try:
        return str(stream.device.architecture)
    finally:
        stream.close()
