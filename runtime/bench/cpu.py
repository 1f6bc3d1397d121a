"""The CPU's parts of the benchmark: threads that race, a client, the answer to a ping.

They are compiled from ``native/`` on first use, into the user's cache, as the module is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from os import PathLike
from pathlib import Path

import xiokv.generated
from xiokv.runtime import abi, toolchain
from xiokv.runtime.compiled import open_compiled
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.operation import Operation

_FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-pthread")
_BATCH = ctypes.POINTER(abi.Batch)


class Copier(ctypes.Structure):
    """struct bench_copier."""

    _fields_ = (
        ("copy", ctypes.c_void_p),
        ("wait", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("to", ctypes.c_uint64),
        ("per_value", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


_FUNCTIONS = {
    "race": (ctypes.c_double, (ctypes.c_void_p, _BATCH, ctypes.POINTER(ctypes.c_uint32))),
    "answered": (
        ctypes.c_double,
        (ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint64)),
    ),
    "copied": (ctypes.c_double, (_BATCH, ctypes.POINTER(Copier))),
    "answerer_begin": (ctypes.c_void_p, (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int32)),
    "answerer_end": (None, (ctypes.c_void_p,)),
}


def race(kernel: int, batch: abi.Batch, cpus: Sequence[int] = ()) -> float:
    """Run a batch with a thread a queue, each on its core if there are any; return seconds."""
    cores = (ctypes.c_uint32 * len(cpus))(*cpus) if cpus else None
    return float(_library().bench_race(kernel, ctypes.byref(batch), cores))


def answered(kernel: int, count: int, *, believes: bool) -> float:
    """Run commands that are answered already; return seconds of processor time.

    Args:
        kernel: what runs.
        count: commands, below 65536.
        believes: whether the kernel counts the completions that it believes.
    """
    believed = ctypes.c_uint64()
    seconds = float(_library().bench_answered(kernel, count, ctypes.byref(believed)))
    if believes and believed.value != count:
        raise RuntimeFault(f"{believed.value} of {count} completions were believed")
    return seconds


def copied(batch: abi.Batch, copier: Copier) -> float:
    """Retrieve values by one thread, and copy them to a GPU; return seconds."""
    seconds = float(_library().bench_copied(ctypes.byref(batch), ctypes.byref(copier)))
    if seconds < 0:
        raise RuntimeFault("a copy to the device failed")
    return seconds


@contextmanager
def answering(ping: int, pong: int, cpus: Sequence[int] = ()) -> Iterator[None]:
    """Copy the word at one address to another as soon as it changes, on the first core."""
    handle = _library().bench_answerer_begin(ping, pong, cpus[0] if cpus else -1)
    try:
        yield
    finally:
        _library().bench_answerer_end(handle)


def client(command: Operation) -> int:
    """Return the address of the client's loop for a command."""
    return _address(_library(), f"bench_client_{command}")


def function(path: str | PathLike[str], name: str) -> int:
    """Return the address of a function of another library."""
    try:
        return _address(ctypes.CDLL(str(path)), name)
    except (OSError, AttributeError) as error:
        raise RuntimeFault(f"cannot call {name} of {path}: {error}") from error


def _address(library: ctypes.CDLL, name: str) -> int:
    return int(ctypes.cast(library[name], ctypes.c_void_p).value or 0)


@cache
def _library() -> ctypes.CDLL:
    return open_compiled(recipe(), "benchmark", "bench_", _FUNCTIONS)


def recipe() -> toolchain.Recipe:
    """Return how the library is made."""
    root, here = package_root(), Path(__file__).parent / "native"
    units = tuple(path.relative_to(root).as_posix() for path in sorted(here.glob("*.cpp")))
    headers = (*here.glob("*.h"), *(root / "generated").glob("include/**/*.h"))
    read = (*units, *(path.relative_to(root).as_posix() for path in headers))
    sources = toolchain.Sources(root, units, "generated/include", read)
    description = {"kind": "benchmark", "generator": version("xiokv")}
    return toolchain.library_recipe("xiokv_bench.so", sources, _FLAGS, description)


def package_root() -> Path:
    """Return the folder that holds the runtime and the generated text side by side."""
    return Path(xiokv.generated.__file__).parent.parent
