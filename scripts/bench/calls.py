"""What a call from Python costs a key: inside the module, and outside it.

On the null controller, one queue. Inside is from the kernel's start to its end on its
thread; outside is the rest of the time that the caller waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

import numpy as np
from native import module
from samples import Row, Samples, row

from xiokv.runtime.drivers.host_stream import Stream
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.kv import KV

KEYS = (1, 100, 10_000, 100_000)
VALUE_BYTES = 64

_T = TypeVar("_T")


class TimedStream(Stream):
    """A stream that notes how long its last piece of work took."""

    seconds = 0.0

    def submit(self, work: Callable[[], _T], first: Callable[[], object] | None = None) -> Any:
        """Run `work` in its turn, timed."""

        def timed() -> _T:
            start = time.perf_counter()
            try:
                return work()
            finally:
                self.seconds = time.perf_counter() - start

        return super().submit(timed, first)


def measure(tiny: bool) -> list[Row]:
    """Return microseconds a key of Retrieve calls."""
    found: list[Row] = []
    with (
        Emulator(null=True) as controller,
        module().attach(controller) as kv,
        closing(TimedStream()) as stream,
    ):
        for count in KEYS[:2] if tiny else KEYS:
            rounds = 2 if tiny else min(max(9, 2000 // count), 301)
            found += _rows(kv, stream, count, rounds)
    return found


def _rows(kv: KV, stream: TimedStream, count: int, rounds: int) -> list[Row]:
    rows = np.random.default_rng(0).integers(0, 256, (count, 16), np.uint8)
    forms: dict[str, Any] = {"list of bytes": [key.tobytes() for key in rows], "array": rows}
    out = np.zeros((count, VALUE_BYTES), np.uint8)
    label = f"{count:,} key{'s' if count > 1 else ''}"
    found: list[Row] = []
    for form, keys in forms.items():
        _call(kv, stream, keys, out)
        samples: Samples = {"inside": [], "outside": []}
        for _ in range(rounds):
            seconds = _call(kv, stream, keys, out)
            samples["inside"].append(stream.seconds / count * 1e6)
            samples["outside"].append((seconds - stream.seconds) / count * 1e6)
        inside = f"{label}, {form}: inside the module"
        found.append(row(inside, "us/key", samples["inside"]))
        beside = (inside, samples["inside"])
        found.append(row(f"{label}, {form}: outside", "us/key", samples["outside"], beside))
    return found


def _call(kv: KV, stream: TimedStream, keys: Any, out: Any) -> float:
    start = time.perf_counter()
    kv.retrieve(keys, out, stream=stream).raise_for_status()
    return time.perf_counter() - start
