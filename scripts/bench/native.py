"""The compiled parts: the module's kernels, the bare loop, and what times them.

``race.cpp`` and ``bare.cpp`` are compiled into the user's cache, as the module is.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from xiokv.runtime import abi, toolchain
from xiokv.runtime.module import Module, load

ROOT = Path(__file__).resolve().parents[2]
UNITS = ("scripts/bench/bare.cpp", "scripts/bench/race.cpp")
FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread")


@cache
def module() -> Module:
    """Return the host module of this checkout's text, whatever a build left elsewhere."""
    recipe = toolchain.host_recipe(ROOT / "generated", version("xiokv"))
    return load("host", module=toolchain.build_cached(recipe))


def race(kernel: int, batch: abi.Batch) -> float:
    """Run a batch with a thread a queue; return seconds."""
    return float(_library().bench_race(kernel, ctypes.byref(batch)))


def answered(kernel: int, count: int, *, believes: bool) -> float:
    """Run commands that are answered already; return seconds of processor time.

    Args:
        kernel: what runs.
        count: commands.
        believes: whether the kernel counts the completions that it believes.
    """
    believed = ctypes.c_uint64()
    seconds = float(_library().bench_answered(kernel, count, ctypes.byref(believed)))
    if believes and believed.value != count:
        sys.exit(f"{believed.value} of {count} completions were believed")
    return seconds


def engine(command: str) -> int:
    """Return the address of the engine's kernel of a command."""
    return _address(ctypes.CDLL(str(module().path)), f"xiokv_batch_{command}")


def bare(command: str) -> int:
    """Return the address of the bare loop of a command."""
    return _address(_library(), f"bare_{command}")


def _address(library: ctypes.CDLL, name: str) -> int:
    return int(ctypes.cast(library[name], ctypes.c_void_p).value or 0)


@cache
def _library() -> ctypes.CDLL:
    headers = (ROOT / "generated" / "include").rglob("*.h")
    read = (*UNITS, *(path.relative_to(ROOT).as_posix() for path in headers))
    sources = toolchain.Sources(ROOT, UNITS, "generated/include", read)
    description = {"kind": "benchmark", "generator": version("xiokv")}
    recipe = toolchain.library_recipe("xiokv_bench.so", sources, FLAGS, description)
    library = ctypes.CDLL(str(toolchain.build_cached(recipe)))
    batch = ctypes.POINTER(abi.Batch)
    library.bench_race.argtypes = (ctypes.c_void_p, batch)
    library.bench_race.restype = ctypes.c_double
    library.bench_answered.argtypes = (
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.POINTER(ctypes.c_uint64),
    )
    library.bench_answered.restype = ctypes.c_double
    return library
