"""What a call costs beside the kernel: no Python code runs once a key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.drivers.host import HostDriver

COUNT = 2000


class Idle:
    """A launch that ended without having run anything, so that only the call itself is seen."""

    done = True

    def wait(self, timeout: float | None = None) -> bool:
        return True


ROWS = np.random.default_rng(0).integers(0, 256, (COUNT, 16), np.uint8)
KEYS: dict[str, Any] = {
    "bytes": [row.tobytes() for row in ROWS],
    "bytes of all lengths": [row.tobytes()[: i % 16 + 1] for i, row in enumerate(ROWS)],
    "array": ROWS,
}


def steps_of(call: Callable[[], object]) -> int:
    """Return how many instructions of Python a call takes."""
    steps = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_a_call_takes_as_many_steps_for_many_keys_as_for_half_of_them(
    attach, monkeypatch, keys: Any
) -> None:
    _, kv = attach()
    monkeypatch.setattr(HostDriver, "launch", lambda *arguments: Idle())
    out = np.zeros((COUNT, 64), np.uint8)

    def retrieve(count: int) -> None:
        sizes, offsets = np.full(count, 64), np.arange(count)[::-1] * 64
        result = kv.retrieve(keys[:count], out, sizes=sizes, offsets=offsets)
        assert len(result.status) == count

    retrieve(COUNT)  # its memory is made, and what else is made once
    steps = [steps_of(lambda count=count: retrieve(count)) for count in (COUNT // 2, COUNT)]
    assert steps[0] > 500
    assert steps[0] == steps[1]
