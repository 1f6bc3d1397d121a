"""What a call costs beside the kernel stays small for every key."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.drivers.host import HostDriver

COUNT = 100_000
LIMIT = 1e-6


class Idle:
    """A launch that ended without having run anything, so that only the call itself costs."""

    done = True

    def wait(self, timeout: float | None = None) -> bool:
        return True


ROWS = np.random.default_rng(0).integers(0, 256, (COUNT, 16), np.uint8)
KEYS: dict[str, Any] = {
    "bytes": [row.tobytes() for row in ROWS],
    "bytes of all lengths": [row.tobytes()[: i % 16 + 1] for i, row in enumerate(ROWS)],
    "array": ROWS,
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_a_call_costs_less_than_a_microsecond_a_key(attach, monkeypatch, keys: Any) -> None:
    _, kv = attach()
    monkeypatch.setattr(HostDriver, "launch", lambda *arguments: Idle())
    out = np.zeros((COUNT, 64), np.uint8)
    sizes, offsets = np.full(COUNT, 64), np.arange(COUNT)[::-1] * 64
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        assert len(kv.retrieve(keys, out, sizes=sizes, offsets=offsets).status) == COUNT
        best = min(best, time.perf_counter() - started)
    assert best / COUNT < LIMIT
