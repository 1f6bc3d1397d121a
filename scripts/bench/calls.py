"""What a call from Python costs a key: inside the module, and outside it.

On the null controller, one queue. Inside is from the kernel's start to its end on its
thread; outside is the rest of the time that the caller waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from native import module
from samples import Row, Samples, row

from xiokv.runtime.drivers.host_stream import Stream
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.kv import KV

KEYS = (1, 100, 10_000, 100_000)
VALUE_BYTES = 64


class Launches:
    """The launches of a driver, of which the last is kept."""

    last: Any

    def __init__(self, driver: Any) -> None:
        self._start = driver.launch
        driver.launch = self

    def __call__(self, *arguments: Any) -> Any:
        """Start one."""
        self.last = self._start(*arguments)
        return self.last


def measure(tiny: bool) -> list[Row]:
    """Return microseconds a key of Retrieve calls."""
    found: list[Row] = []
    launches = Launches(module().driver)
    with (
        Emulator(null=True) as controller,
        module().attach(controller) as kv,
        Stream() as stream,
    ):
        for count in KEYS[:2] if tiny else KEYS:
            rounds = 2 if tiny else min(max(9, 2000 // count), 301)
            found += _rows(partial(_call, kv, stream, launches), count, rounds)
    return found


def _rows(call: Callable[[Any, Any], tuple[float, float]], count: int, rounds: int) -> list[Row]:
    rows = np.random.default_rng(0).integers(0, 256, (count, 16), np.uint8)
    forms: dict[str, Any] = {"list of bytes": [key.tobytes() for key in rows], "array": rows}
    out = np.zeros((count, VALUE_BYTES), np.uint8)
    label = f"{count:,} key{'s' if count > 1 else ''}"
    found: list[Row] = []
    for form, keys in forms.items():
        call(keys, out)
        samples: Samples = {"inside": [], "outside": []}
        for _ in range(rounds):
            inside, seconds = call(keys, out)
            samples["inside"].append(inside / count * 1e6)
            samples["outside"].append((seconds - inside) / count * 1e6)
        name = f"{label}, {form}: inside the module"
        found.append(row(name, "us/key", samples["inside"]))
        beside = (name, samples["inside"])
        found.append(row(f"{label}, {form}: outside", "us/key", samples["outside"], beside))
    return found


def _call(kv: KV, stream: Stream, launches: Launches, keys: Any, out: Any) -> tuple[float, float]:
    """Return how long the kernel ran, and how long the caller waited."""
    start = time.perf_counter()
    kv.retrieve(keys, out, stream=stream).raise_for_status()
    seconds = time.perf_counter() - start
    return launches.last.seconds, seconds
