"""What controllers do wrong stays with the keys it concerns, and is never believed."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime.abi import Outcome
from xiokv.runtime.drivers.host import Stream
from xiokv.runtime.errors import DeadQueueFault
from xiokv.runtime.results import BatchFault

DEADLINE = 0.3


def keys_of(count: int) -> list[bytes]:
    return [b"key-%d" % i for i in range(count)]


def filled(kv: Any, count: int, size: int = 16) -> tuple[list[bytes], np.ndarray]:
    """Store `count` values that differ; return keys and values."""
    keys = keys_of(count)
    values = np.random.default_rng(count).integers(0, 256, (count, size), np.uint8)
    kv.store(keys, values).raise_for_status()
    return keys, values


def reported(kv: Any, counter: str) -> int:
    return sum(pair.report[counter] for pair in kv.queues)


@pytest.mark.parametrize(("kind", "amount"), [("reorder", 64), ("reverse", 32)])
@pytest.mark.parametrize("depth", [3, 255])
def test_completions_in_any_order_reach_their_own_keys(
    attach, kind: str, amount: int, depth: int
) -> None:
    controller, kv = attach({"seed": 7}, depth=depth)
    keys, values = filled(kv, 1000)
    controller.fault(kind, amount=amount)
    out = np.zeros_like(values)
    kv.retrieve(keys[::-1], out).raise_for_status()
    assert (out[::-1] == values).all()


@pytest.mark.parametrize(
    ("depth", "window"), [(2, 1023), (3, 1023), (255, 7), (1024, 1023), (65536, 65535)]
)
def test_more_commands_than_there_are_cids(attach, depth: int, window: int) -> None:
    _, kv = attach({"null": True}, depth=depth, window=window)
    for _ in range(3):
        assert kv.exist(np.zeros((30_000, 16), np.uint8)).counts == {Outcome.OK: 30_000}
    assert reported(kv, "completed") == 90_000
    assert [reported(kv, name) for name in ("stale", "unknown", "foreign")] == [0, 0, 0]


def test_missing_and_failing_keys_are_alone(attach) -> None:
    controller, kv = attach(queues=2)
    keys, values = filled(kv, 500)
    controller.fault("status", key=keys[321], sct=0, sc=0x88, dnr=True)
    kv.delete([keys[123]])
    out = np.zeros_like(values)
    result = kv.retrieve(keys, out)
    assert result.counts == {Outcome.OK: 498, Outcome.MISSING: 1, Outcome.ERROR: 1}
    assert (result.status[123], result.status[321]) == (Outcome.MISSING, Outcome.ERROR)
    assert result.nvme_status[321].item() == (0, 0x88, 1)
    good = result.status == Outcome.OK
    assert (out[good] == values[good]).all()


class Dead:
    """A KV one of whose queues died on a Retrieve of `keys`."""

    def __init__(self, attach: Any, queues: int = 1) -> None:
        self.controller, self.kv = attach(queues=queues)
        self.keys, self.values = filled(self.kv, 100)
        self.controller.fault("drop", key=self.keys[40], opcode=Opcode.RETRIEVE)
        self.out = np.zeros_like(self.values)
        started = time.monotonic()
        self.result = self.kv.retrieve(self.keys, self.out, timeout=DEADLINE)
        self.took = time.monotonic() - started


@pytest.mark.parametrize("queues", [1, 2])
def test_a_completion_that_never_comes_is_a_timeout_within_the_deadline(
    attach, queues: int
) -> None:
    dead = Dead(attach, queues)
    assert dead.result.counts == {Outcome.OK: 99, Outcome.TIMEOUT: 1}
    assert dead.result.status[40] == Outcome.TIMEOUT
    assert DEADLINE <= dead.took < 10 * DEADLINE
    with pytest.raises(BatchFault, match="may still touch the buffer"):
        dead.result.raise_for_status()


def test_a_dead_queue_is_refused_until_it_is_replaced(attach) -> None:
    dead = Dead(attach)
    for call in (lambda: dead.kv.exist([b"a"]), lambda: list(dead.kv.list())):
        with pytest.raises(DeadQueueFault, match=r"KV\.reset\(\)"):
            call()
    dead.controller.clear_faults()
    dead.kv.reset()
    dead.kv.retrieve(dead.keys, dead.out).raise_for_status()
    assert (dead.out == dead.values).all()


def test_the_buffer_counts_as_in_use_until_the_queue_is_gone(attach) -> None:
    dead = Dead(attach)
    assert dead.result.buffer_may_be_written
    dead.kv.reset()
    assert not dead.result.buffer_may_be_written


def test_the_buffer_of_a_healthy_batch_is_the_callers(attach) -> None:
    dead = Dead(attach)
    dead.kv.reset()
    assert not dead.kv.exist(dead.keys).buffer_may_be_written


def test_nothing_is_written_once_a_dead_queue_is_gone(attach) -> None:
    controller, kv = attach()
    kv.store([b"late"], b"late").raise_for_status()
    controller.fault("delay", key=b"late", amount=3_600_000_000)
    out = bytearray(4)
    assert kv.retrieve([b"late"], out, timeout=DEADLINE).status.tolist() == [Outcome.TIMEOUT]
    kv.reset()
    controller.clear_faults()
    other = bytearray(4)
    kv.retrieve([b"late"], other).raise_for_status()
    assert (bytes(out), bytes(other)) == (bytes(4), b"late")


def test_a_reset_controller_is_taken_note_of(attach) -> None:
    dead = Dead(attach)
    dead.controller.clear_faults()
    dead.controller.reset()
    dead.kv.confirm_deleted()
    assert not dead.result.buffer_may_be_written
    with pytest.raises(DeadQueueFault, match="were deleted"):
        dead.kv.exist([b"a"])
    dead.kv.reset()
    dead.kv.retrieve(dead.keys, dead.out).raise_for_status()


def test_a_killed_controller_ends_every_key_within_the_deadline(attach) -> None:
    controller, kv = attach(queues=2, depth=8, timeout=DEADLINE)
    controller.kill()
    result = kv.exist(keys_of(1000))
    assert result.counts == {Outcome.TIMEOUT: 1000}
    assert set(result.nvme_status["sc"].tolist()) == {-1}


def test_a_batch_may_take_longer_than_the_deadline_while_completions_come(attach) -> None:
    controller, kv = attach(depth=2, timeout=1.0)
    controller.fault("delay", amount=60_000)
    started = time.monotonic()
    assert kv.exist(keys_of(25)).counts == {Outcome.MISSING: 25}
    assert time.monotonic() - started > 1.0


def test_a_timeout_of_the_call_goes_before_that_of_attach(attach) -> None:
    controller, kv = attach(timeout=3600)
    controller.kill()
    assert kv.exist([b"a"], timeout=DEADLINE).status.tolist() == [Outcome.TIMEOUT]


def test_a_batch_queued_behind_one_that_kills_the_queue_submits_nothing(attach) -> None:
    controller, kv = attach(timeout=DEADLINE)
    controller.fault("drop", key=b"gone")
    with Stream() as stream:
        first = kv.exist([b"gone"], stream=stream)
        second = kv.exist(keys_of(10), stream=stream)
        assert first.status.tolist() == [Outcome.TIMEOUT]
        assert second.counts == {Outcome.TIMEOUT: 10}
    assert controller.counters().commands == 1


NOT_BELIEVED: dict[str, tuple[dict[str, Any], str]] = {
    "duplicate at once": ({"kind": "duplicate", "nth": 50}, "stale"),
    "duplicate of an older generation": ({"kind": "duplicate", "nth": 50, "amount": 500}, "stale"),
    "CID of no slot": ({"kind": "unknown_cid", "nth": 50}, "unknown"),
    "another queue's SQID": ({"kind": "foreign_sqid", "nth": 50}, "foreign"),
}


@pytest.mark.parametrize(("fault", "counter"), NOT_BELIEVED.values(), ids=NOT_BELIEVED)
def test_a_bogus_completion_is_counted_and_harms_nobody(
    attach, fault: dict[str, Any], counter: str
) -> None:
    controller, kv = attach(depth=16)
    keys, values = filled(kv, 2000)
    controller.fault(opcode=Opcode.RETRIEVE, **fault)
    for _ in range(2):
        out = np.zeros_like(values)
        kv.retrieve(keys, out).raise_for_status()
        assert (out == values).all()
    assert reported(kv, counter) == 1


def test_a_size_above_the_namespaces_maximum_is_not_believed(attach) -> None:
    controller, kv = attach({"value_max": 4096})
    keys, _ = filled(kv, 100)
    controller.fault("bad_size", key=keys[7])
    result = kv.retrieve(keys, bytearray(1600))
    assert result.counts == {Outcome.OK: 99, Outcome.ERROR: 1}
    assert (result.status[7], result.value_size[7]) == (Outcome.ERROR, 0)
    with pytest.raises(BatchFault, match="size above the namespace's maximum"):
        result.raise_for_status()
    controller.clear_faults()
    kv.retrieve(keys, bytearray(1600)).raise_for_status()


def test_cancel_drains_and_leaves_the_queue_usable(attach, wait_until) -> None:
    controller, kv = attach(depth=8, queues=2)
    keys, _ = filled(kv, 5000)
    controller.fault("stall", opcode=Opcode.EXIST, nth=1000)
    with Stream() as stream:
        result = kv.exist(keys, stream=stream)
        wait_until(lambda: controller.counters().commands > 5000)
        result.cancel()
        controller.clear_faults()
        assert set(result.counts) == {Outcome.OK, Outcome.CANCELLED}
        sent = int((result.status == Outcome.OK).sum())
        with pytest.raises(BatchFault, match="CANCELLED"):
            result.raise_for_status()
    assert reported(kv, "completed") == 5000 + sent
    kv.exist(keys).raise_for_status()


@pytest.mark.parametrize("queues", [1, 3])
def test_a_batch_that_is_cancelled_before_its_turn_sends_nothing(attach, queues: int) -> None:
    controller, kv = attach(queues=queues)
    with Stream() as stream:
        may_begin = threading.Event()
        stream.submit(may_begin.wait)
        result = kv.exist(keys_of(100), stream=stream)
        result.cancel()
        may_begin.set()
        assert result.counts == {Outcome.CANCELLED: 100}
    assert controller.counters().commands == 0
    assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]


def test_cancel_after_the_end_changes_nothing(attach) -> None:
    _, kv = attach()
    result = kv.exist([b"a"])
    result.cancel()
    assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]


def test_an_interrupt_cancels_drains_and_goes_on(attach, wait_until) -> None:
    controller, kv = attach(depth=4, timeout=60)
    controller.fault("delay", amount=1000)

    def interrupt() -> None:
        wait_until(lambda: controller.counters().commands > 20)
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        kv.exist(keys_of(20_000))
    interrupter.join()
    assert controller.counters().commands < 20_000
    assert reported(kv, "completed") == reported(kv, "submitted")
    controller.clear_faults()
    assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]
