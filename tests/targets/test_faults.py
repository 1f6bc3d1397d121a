"""Controllers that go wrong: what is not true is not believed, and a hang has an end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.targets.device import Target, content, keys_of, outcomes, random_values, reported
from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime import DeadQueueFault, Outcome, Place

COUNT, SIZE, DEADLINE = 200, 64, 0.5


@pytest.mark.parametrize("queues", [1, 2])
def test_a_completion_that_never_comes_is_a_timeout(
    target: Target, place: Place, queues: int
) -> None:
    """That key alone, within the deadline; the queue is refused until it is replaced."""
    controller, kv = target.attach(queues=queues, block_size=SIZE)
    keys, values = keys_of(COUNT), random_values(COUNT, SIZE)
    kv.store(keys, target.memory(values, place)).raise_for_status()
    controller.fault("drop", key=keys[40], opcode=Opcode.RETRIEVE)
    out = target.memory(np.zeros_like(values), place)

    begin = time.monotonic()
    result = kv.retrieve(keys, out, timeout=DEADLINE)
    assert result.counts == {Outcome.OK: COUNT - 1, Outcome.TIMEOUT: 1}
    assert DEADLINE <= time.monotonic() - begin < 10 * DEADLINE
    assert result.status[40] == Outcome.TIMEOUT
    assert result.buffer_may_be_written
    with pytest.raises(DeadQueueFault, match=r"KV\.reset\(\)"):
        kv.exist(keys)

    controller.clear_faults()
    kv.reset()
    assert not result.buffer_may_be_written
    kv.retrieve(keys, out).raise_for_status()
    assert (content(out, values) == values).all()


def test_a_controller_that_hangs_is_reset_and_goes_on(target: Target, place: Place) -> None:
    """All keys time out within the deadline; after a controller reset the values are there."""
    controller, kv = target.attach(queues=2, block_size=SIZE)
    keys, values = keys_of(COUNT), random_values(COUNT, SIZE)
    kv.store(keys, target.memory(values, place)).raise_for_status()
    controller.kill()
    out = target.memory(np.zeros_like(values), place)

    result = kv.retrieve(keys, out, timeout=DEADLINE)
    assert result.counts == {Outcome.TIMEOUT: COUNT}

    controller.reset()
    kv.confirm_deleted()
    kv.reset()
    kv.retrieve(keys, out).raise_for_status()
    assert (content(out, values) == values).all()


def test_a_batch_behind_one_that_kills_the_queue_submits_nothing(target: Target) -> None:
    """The second batch was launched before anyone knew; its keys time out at once."""
    controller, kv = target.attach(block_size=SIZE, timeout=DEADLINE)
    controller.fault("drop", key=b"gone")
    stream = target.stream()
    first = kv.exist([b"gone"], stream=stream)
    second = kv.exist(keys_of(10), stream=stream)
    assert outcomes(first) == ["TIMEOUT"]
    assert second.counts == {Outcome.TIMEOUT: 10}
    assert controller.counters().commands == 1


def test_a_late_completion_is_not_believed(
    target: Target, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    """It comes on the dead queue, whose result stays; the new queue knows nothing of it."""
    controller, kv = target.attach(block_size=SIZE)
    keys, values = keys_of(4), random_values(4, SIZE)
    kv.store(keys, target.memory(values)).raise_for_status()
    controller.fault("delay", key=keys[1], amount=1_000_000, count=1)
    out = target.memory(np.zeros_like(values))
    before = controller.counters().completions

    result = kv.retrieve(keys, out, timeout=DEADLINE)
    wait_until(lambda: controller.counters().completions == before + 4)

    assert outcomes(result) == ["OK", "TIMEOUT", "OK", "OK"]
    assert [pair.state.name for pair in kv.queues] == ["DEAD"]
    kv.reset()
    other = target.memory(np.zeros_like(values))
    kv.retrieve(keys, other).raise_for_status()
    assert (content(other, values) == values).all()
    assert [reported(kv, name) for name in ("stale", "unknown", "foreign")] == [0, 0, 0]


NOT_BELIEVED: dict[str, tuple[dict[str, Any], str]] = {
    "duplicate at once": ({"kind": "duplicate"}, "stale"),
    "duplicate of an older generation": ({"kind": "duplicate", "amount": 500}, "stale"),
    "CID of no slot": ({"kind": "unknown_cid"}, "unknown"),
    "another queue's SQID": ({"kind": "foreign_sqid"}, "foreign"),
}


@pytest.mark.parametrize(("fault", "counter"), NOT_BELIEVED.values(), ids=NOT_BELIEVED)
def test_a_bogus_completion_is_counted_and_harms_nobody(
    target: Target, fault: dict[str, Any], counter: str
) -> None:
    """It is consumed and reported, and neither this batch nor the next is the worse for it."""
    controller, kv = target.attach(depth=16, block_size=SIZE)
    keys, values = keys_of(1000), random_values(1000, SIZE)
    kv.store(keys, target.memory(values)).raise_for_status()
    controller.fault(opcode=Opcode.RETRIEVE, nth=50, **fault)
    out = target.module.empty(values.nbytes, place=Place.HOST)
    for _ in range(2):
        out.view[:] = 0
        kv.retrieve(keys, out).raise_for_status()
        assert (content(out, values) == values).all()
    assert reported(kv, counter) == 1


def test_a_size_above_the_namespaces_maximum_is_not_believed(target: Target) -> None:
    """That key alone is an error, without a size; the next batch is unharmed."""
    controller, kv = target.attach({"value_max": 4096}, block_size=SIZE)
    keys, values = keys_of(100), random_values(100, SIZE)
    kv.store(keys, target.memory(values)).raise_for_status()
    controller.fault("bad_size", key=keys[7], count=1)
    out = target.memory(np.zeros_like(values))
    result = kv.retrieve(keys, out)
    assert result.counts == {Outcome.OK: 99, Outcome.ERROR: 1}
    assert (result.status[7], result.value_size[7]) == (Outcome.ERROR, 0)
    kv.retrieve(keys, out).raise_for_status()
    assert (content(out, values) == values).all()


def test_a_batch_stopped_in_the_middle_is_drained(
    target: Target, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    """What is in flight completes, the rest is CANCELLED, and the queues stay usable."""
    controller, kv = target.attach(depth=8, queues=2, block_size=SIZE)
    keys = keys_of(3000)
    kv.store(keys, target.memory(random_values(3000, SIZE))).raise_for_status()
    controller.fault("stall", opcode=Opcode.EXIST, nth=500)
    result = kv.exist(keys, stream=target.stream())
    wait_until(lambda: controller.counters().commands > 3100)
    result.cancel()
    controller.clear_faults()
    assert set(result.counts) == {Outcome.OK, Outcome.CANCELLED}
    sent = int((result.status == Outcome.OK).sum())
    assert reported(kv, "submitted") == reported(kv, "completed") == 3000 + sent
    kv.exist(keys).raise_for_status()


@pytest.mark.parametrize("queues", [1, 3])
def test_a_batch_stopped_before_its_turn_sends_nothing(target: Target, queues: int) -> None:
    """The stop flag is up before the kernel begins."""
    frozen, gate = target.attach({"threads": 0}, depth=4, block_size=SIZE, timeout=60.0)
    controller, kv = target.attach(queues=queues, block_size=SIZE)
    stream = target.stream()
    waiting = gate.exist([b"x"], stream=stream)
    result = kv.exist(keys_of(100), stream=stream)
    result.cancel()
    frozen.start()
    assert result.counts == {Outcome.CANCELLED: 100}
    assert waiting.done
    assert controller.counters().commands == 0
    assert outcomes(kv.exist([b"a"])) == ["MISSING"]
