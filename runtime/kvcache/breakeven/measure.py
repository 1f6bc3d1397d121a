"""Measure what a fetch costs: a module and block sizes in, a `Fetch` out.

Random blocks are stored on the embedded controller, in its memory or in a Ceph pool, and
retrieved into one buffer: one block, and many. A sample is of a whole call, from before it
until all of it is there. The blocks are compared with what was stored before anything is timed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np
import numpy.typing as npt

from xiokv.runtime.bench import machine
from xiokv.runtime.bench.cores import own_cores, serving
from xiokv.runtime.bench.rows import take_turns
from xiokv.runtime.bench.store_client import fresh_keys
from xiokv.runtime.buffer import Buffer
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.emulator.options import pool_of
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.breakeven.fetch import Fetch, FetchCost, Timing, fitted
from xiokv.runtime.kvcache.breakeven.origin import Origin
from xiokv.runtime.leftovers import StoredKeys, cleared, named_place, refuse_read_only
from xiokv.runtime.module import Module
from xiokv.runtime.units import size_text

_QUEUES = 4
_CALLS = 15  # whose median is one sample of one block
_BATCH_BYTES = 64 << 20
_BATCH_MIN, _BATCH_MAX = 8, 4096
_ONE, _MANY = "one", "many"


@dataclass(frozen=True, slots=True)
class Setting:
    """What to measure with.

    Attributes:
        queues: queue pairs; 0 for 4, or as many as have cores of their own.
        depth: entries of each ring.
        runs: samples of each time.
        place: "device" or "host", where blocks end; empty for where the kernels run.
        store: where the controller keeps them, as `Emulator` takes it.
    """

    queues: int
    depth: int
    runs: int
    place: str = ""
    store: str = "memory"


def blocks_of(size: int) -> int:
    """Return how many blocks of a size are retrieved at once."""
    return min(max(_BATCH_BYTES // size, _BATCH_MIN), _BATCH_MAX)


def measure(
    module: Module,
    sizes: Sequence[int],
    setting: Setting,
    say: Callable[[str], None] = lambda text: None,
) -> Fetch:
    """Measure blocks of some sizes.

    Args:
        module: whose kernels retrieve.
        sizes: bytes of a block.
        setting: what to measure with.
        say: is told what is being measured.

    Raises:
        ArgumentFault: the host has no memory of a device, or the store is only read.
        RuntimeFault: a block did not come as it was stored, or the store cannot be used.
    """
    refuse_read_only(setting.store, "breakeven")
    place, pool = _place(module, setting.place), pool_of(setting.store)
    most = own_cores().most(2 if module.target == "host" else 1)
    queues = setting.queues or min(_QUEUES, most)
    cpus, threads = serving(queues, module.target) if pool is None else ((), min(queues, most))
    costs = []
    with Emulator(cpus=cpus, threads=threads, queues=queues, store=setting.store) as controller:
        for size in sizes:
            say(size_text(size))
            with module.attach(
                controller, queues=queues, depth=setting.depth, block_size=size
            ) as kv:
                costs.append(_measured(module, kv, size, place, setting))
    return Fetch(
        origin=Origin.MEASURED,
        costs=tuple(costs),
        place=place.name.lower(),
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        machine=machine.describe(),
        setting={
            "target": module.target,
            "queues": queues,
            "depth": setting.depth,
            "runs": setting.runs,
            "controller": "embedded",
            **({} if pool is None else {"store": pool.shortest}),
            "threads": threads,
        },
    )


def _place(module: Module, asked: str) -> Place:
    if module.target == "host":
        if asked == "device":
            raise ArgumentFault("--place device: the host's blocks end in its own memory; use host")
        return Place.HOST
    return Place.HOST if asked == "host" else Place.DEVICE


def _measured(module: Module, kv: KV, size: int, place: Place, setting: Setting) -> FetchCost:
    """Store, check, time and delete blocks of one size."""
    count = blocks_of(size)
    keys = fresh_keys(count)
    stored = module.empty(count * size, place=Place.HOST)
    stored.view[:] = np.random.default_rng(size).integers(0, 256, count * size, np.uint8)
    out, first = module.empty(count * size, place=place), module.empty(size, place=place)
    pool = pool_of(setting.store)
    left = named_place(pool, keys[0, :8].tobytes().hex()) if pool else None
    with cleared(StoredKeys(kv, keys), left):
        kv.store(keys, stored).raise_for_status()
        _check(kv, keys, out, stored)
        samples = take_turns(
            {
                _ONE: lambda: statistics.median(_timed(kv, keys[:1], first) for _ in range(_CALLS)),
                _MANY: lambda: _timed(kv, keys, out),
            },
            setting.runs,
        )
        kv.delete(keys).raise_for_status()
    one, many = Timing(1, tuple(samples[_ONE])), Timing(count, tuple(samples[_MANY]))
    return fitted(size, one, many, Origin.MEASURED)


def _timed(kv: KV, keys: npt.NDArray[np.uint8], out: Buffer) -> float:
    started = time.perf_counter()
    result = kv.retrieve(keys, out)
    seconds = time.perf_counter() - started
    result.raise_for_status()
    return seconds


def _check(kv: KV, keys: npt.NDArray[np.uint8], out: Buffer, stored: Buffer) -> None:
    """Stop unless every block comes as it was stored."""
    out.view[:] = ~stored.view
    out.upload()
    kv.retrieve(keys, out).raise_for_status()
    out.download()
    if not np.array_equal(out.view, stored.view):
        raise RuntimeFault("blocks did not come as they were stored; run xiokv verify")
