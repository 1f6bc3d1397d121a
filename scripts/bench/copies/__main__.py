"""How the controller best reaches a GPU's memory: ``python scripts/bench/copies`` on a GPU.

Values are retrieved into the device by three hooks: the copier, one call of the vendor's
library a copy, and one call for all copies of a flush; beside them, into page-locked memory,
which needs no hook. It needs cuda-bindings, nvcc and an NVIDIA GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from xiokv import runtime
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.cuda_api import CudaApi
from xiokv.runtime.emulator.library import DmaFlush, DmaHook, DmaRead, DmaWrite
from xiokv.runtime.gpu.copier import CopierHook, Size

HERE = Path(__file__).parent
THREADS_MAX = 16
STAGING_BYTES = 4 << 20
ROUNDS = 5
SECONDS_MAX = 3.0

Made = Callable[[CudaApi], Any]


class AsyncHook(ctypes.Structure):
    """struct async_hook."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("set_context", "copy", "copy_all")),
        *((name, ctypes.c_void_p) for name in ("synchronize", "attributes", "context")),
        ("staging", ctypes.c_void_p),
        ("streams", ctypes.c_void_p * THREADS_MAX),
        ("at_once", ctypes.c_uint32),
    )


def async_hook(api: CudaApi, *, at_once: bool) -> DmaHook:
    """Return a hook of the vendor's library."""
    library = _compiled()
    cuda = ctypes.CDLL("libcuda.so.1")
    symbols = ("cuCtxSetCurrent", "cuMemcpyAsync", "cuMemcpyBatchAsync_v2")
    symbols += ("cuStreamSynchronize", "cuPointerGetAttributes")
    addresses = [ctypes.cast(getattr(cuda, name), ctypes.c_void_p).value for name in symbols]
    with api.using(0):
        staging, _ = api.host_alloc(THREADS_MAX * STAGING_BYTES)
        streams = [api.urgent_stream_create() for _ in range(THREADS_MAX)]
    places = (ctypes.c_void_p * THREADS_MAX)(*streams)
    context = AsyncHook(*addresses, int(api.context(0)), staging, places, at_once)
    hook = DmaHook(
        ctypes.addressof(context),
        DmaRead(("async_read", library)),
        DmaWrite(("async_write", library)),
        DmaFlush(("async_flush", library)),
    )
    hook.kept = context
    return hook


def _compiled() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "async_hook.so"
        flags = ("-std=c++17", "-O2", "-shared", "-fPIC", "-pthread")
        subprocess.run(["g++", *flags, HERE / "async_hook.cpp", "-o", output], check=True)
        return ctypes.CDLL(str(output))


@contextmanager
def attached(module: Any, hook: Any, threads: int, size: int) -> Iterator[Any]:
    """Attach to a controller that reaches the device by a hook."""
    cpus = sorted(os.sched_getaffinity(0))[1 : threads + 1]
    with runtime.Emulator(cpus=cpus) as emulator:
        module.driver.dma_hook = lambda: hook
        with module.attach(emulator, queues=threads, block_size=size) as kv:
            yield kv


def measure(kv: Any, module: Any, size: int, count: int, place: Place) -> float:
    """Return commands a second, the median of some rounds."""
    keys = np.zeros((count, 16), np.uint8)
    keys[:, :4] = np.arange(count, dtype="<u4").view(np.uint8).reshape(-1, 4)
    values = module.empty(count * size, place=Place.HOST)
    out = module.empty(count * size, place=place)
    kv.store(keys, values).raise_for_status()
    rates: list[float] = []
    end = time.monotonic() + SECONDS_MAX
    while len(rates) <= ROUNDS and (len(rates) < 2 or time.monotonic() < end):
        begin = time.perf_counter()
        kv.retrieve(keys, out).raise_for_status()
        rates.append(count / (time.perf_counter() - begin))
    return statistics.median(rates[1:])


def main() -> None:
    """Print a line a hook, size and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--sizes", type=int, nargs="+", default=[4096, 16384, 131072])
    given = parser.parse_args()
    module = runtime.load("cuda")
    api = CudaApi()
    hooks: dict[str, Made | None] = {
        "page-locked": None,
        "page-locked, by the copier": lambda api: CopierHook(api, 0, Size()),
        "a call a copy": lambda api: async_hook(api, at_once=False),
        "a call a flush": lambda api: async_hook(api, at_once=True),
        **{
            f"copier, {groups} groups, {slots} slots": lambda api, g=groups, s=slots: CopierHook(
                api, 0, Size(groups=g, slots=s)
            )
            for groups, slots in ((2, 64), (4, 64), (8, 64))
        },
    }
    for threads in given.threads:
        for size in given.sizes:
            for name, make in hooks.items():
                place = Place.HOST if name.startswith("page-locked") else Place.DEVICE
                hook = make(api) if make else None
                with attached(module, hook, threads, size) as kv:
                    many = measure(kv, module, size, min(20_000, (1 << 28) // size), place)
                    one = measure(kv, module, size, 1, place)
                print(
                    f"{threads} threads, {size:7} B, {name:28}: {many:12,.0f} /s"
                    f" {many * size / 1e9:6.1f} GB/s, one {1e6 / one:6.1f} us",
                    flush=True,
                )


if __name__ == "__main__":
    main()
