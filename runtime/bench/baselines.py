"""The module of baselines: the recipe of the engine's module, with other kernels in it."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from xiokv.runtime import toolchain
from xiokv.runtime.bench.cpu import package_root
from xiokv.runtime.module import Module, load

#: What each kernel of the module is called.
SHAPES = ("reference", "each", "ping_pong", "gate", "nothing")

# It is compiled of no spec; the kernels say the same.
_NO_SPEC = "0" * 64


def load_baselines(module: Module) -> Module:
    """Return the baselines for the device of a module; they are compiled on first use."""
    return load(module.target, module=toolchain.build_cached(recipe(module.target, _arch(module))))


def recipe(target: str, architectures: tuple[str, ...] = ()) -> toolchain.Recipe:
    """Return how the module is made."""
    root = package_root()
    engine = toolchain.recipe(target, root / "generated", version("xiokv"), architectures)
    kernels = Path(__file__).parent / "kernels"
    headers = (*kernels.glob("*.h"), *(root / "generated").glob("include/**/*.h"))
    read = tuple(path.relative_to(root).as_posix() for path in headers)
    unit = (kernels / "bench_kernels.cpp").relative_to(root).as_posix()
    return replace(
        engine,
        sources=toolchain.Sources(root, (unit,), "generated/include", (unit, *read)),
        description={
            **engine.description,
            "spec": _NO_SPEC,
            "commands": {shape: {"kernel": f"xiokv_batch_{shape}"} for shape in SHAPES},
        },
    )


def _arch(module: Module) -> tuple[str, ...]:
    """Return what to compile for: a GPU's architecture, without its features."""
    if module.target == "host":
        return ()
    stream = module.driver.stream()
    try:
        return (str(stream.device.architecture).split(":")[0],)
    finally:
        stream.close()
