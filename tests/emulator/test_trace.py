"""The trace of entries, the counters, and the hook through which memory is reached."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from xiokv.runtime.emulator import DmaHook
from xiokv.runtime.errors import ArgumentFault

STORE, RETRIEVE, EXIST = 0x01, 0x02, 0x14
RINGS = 1


def test_a_trace_holds_entries_as_they_were(host: Any) -> None:
    entry = host.sqe(EXIST, b"some key", cid=0x1234)
    host.emulator.trace_start()

    host.run(entry)

    first, second = host.emulator.trace()
    assert (first.kind, first.qid, first.data) == ("sqe", 1, entry)
    assert (second.kind, second.qid, second.data) == ("cqe", 1, host.cq.get(0, 16))
    assert first.nanoseconds <= second.nanoseconds
    assert host.emulator.trace() == []


def test_a_trace_holds_admin_commands_too(host: Any) -> None:
    host.emulator.trace_start()

    host.admin(0x0A, cdw10=7)

    assert [(record.kind, record.qid) for record in host.emulator.trace()] == [
        ("sqe", 0),
        ("cqe", 0),
    ]


def test_a_trace_holds_bogus_completions(host: Any) -> None:
    host.emulator.fault("foreign_sqid", amount=9)
    host.emulator.trace_start()
    host.run_all(host.sqe(EXIST, b"k"))

    assert [record.qid for record in host.emulator.trace()] == [1, 9, 1]


def test_records_past_the_capacity_are_counted(host: Any) -> None:
    host.emulator.trace_start(3)
    for _ in range(2):
        host.run(host.sqe(EXIST, b"k"))

    assert [record.kind for record in host.emulator.trace()] == ["sqe", "cqe", "sqe"]
    assert host.emulator.counters().trace_lost == 1


def test_a_trace_of_capacity_0_ends_it(host: Any) -> None:
    host.emulator.trace_start()
    host.emulator.trace_start(0)
    host.run(host.sqe(EXIST, b"k"))

    assert host.emulator.trace() == []
    assert host.emulator.counters().trace_lost == 0


def test_a_trace_takes_more_records_than_one_read(make: Any) -> None:
    host = make(sq_depth=2048)
    host.emulator.trace_start()
    host.run_all(*[host.sqe(EXIST, b"k", cid=cid) for cid in range(2000)])

    assert len(host.emulator.trace()) == 4000


def test_counters_outlive_their_queue(host: Any) -> None:
    host.run(host.sqe(EXIST, b"k"))
    host.emulator.reset()

    counters = host.emulator.counters()

    assert (counters.commands, counters.completions, counters.doorbells) == (1, 1, 1)


class Hook:
    """A hook that reaches memory at another address than the one on the wire."""

    def __init__(self, shift: int, flags: int = 0) -> None:
        self.shift = shift
        self.calls: list[tuple[str, int, int]] = []
        self.failing: set[str] = set()
        read, write, flush = (kind for name, kind in DmaHook._fields_[1:4])
        self.structure = DmaHook(None, read(self._read), write(self._write), flush(self._flush))
        self.structure.flags = flags

    def _read(self, context: object, iova: int, buffer: int, size: int) -> int:
        return self._move("read", iova, buffer, iova - self.shift, size)

    def _write(self, context: object, iova: int, buffer: int, size: int) -> int:
        return self._move("write", iova, iova - self.shift, buffer, size)

    def _move(self, name: str, iova: int, to: int, source: int, size: int) -> int:
        self.calls.append((name, iova, size))
        if name in self.failing:
            return 1
        ctypes.memmove(to, source, size)
        return 0

    def _flush(self, context: object) -> int:
        self.calls.append(("flush", 0, 0))
        return int("flush" in self.failing)


@pytest.fixture
def hooked(host: Any) -> Any:
    """Return a queue pair whose data, not whose rings, lies behind a hook."""
    host.emulator.reset()
    host.hook = Hook(shift=1 << 60)
    host.emulator.set_dma(host.hook.structure)
    return type(host)(host.emulator).create()


def shifted(host: Any, opcode: int, size: int) -> bytes:
    address = host.data.address + (1 << 60)
    return bytes(host.sqe(opcode, b"k", size, address, address + 4096))


def test_data_goes_through_the_hook(hooked: Any, host: Any) -> None:
    hooked.data.put(0, b"value")
    assert hooked.run(shifted(hooked, STORE, 5)).status == 0
    hooked.data.put(0, b"-----")
    assert hooked.run(shifted(hooked, RETRIEVE, 5)).dw0 == 5

    assert hooked.data.get(0, 5) == b"value"
    address = hooked.data.address + (1 << 60)
    assert [call for call in host.hook.calls if call[0] != "flush"] == [
        ("read", address, 5),
        ("write", address, 5),
    ]


def test_data_is_flushed_before_a_completion_is_posted(hooked: Any, host: Any) -> None:
    hooked.run(shifted(hooked, STORE, 5))
    host.hook.calls.clear()
    hooked.submit(shifted(hooked, RETRIEVE, 5))
    while ("flush", 0, 0) not in host.hook.calls:
        assert hooked.peek() is None
        assert hooked.emulator.step(1)

    assert [name for name, *_ in host.hook.calls] == ["write", "flush"]
    assert hooked.peek() is None


@pytest.mark.parametrize(
    ("failing", "opcode"), [("read", STORE), ("write", RETRIEVE), ("flush", RETRIEVE)]
)
def test_a_failing_hook_is_a_transfer_error(
    hooked: Any, host: Any, failing: str, opcode: int
) -> None:
    hooked.run(shifted(hooked, STORE, 5))
    host.hook.failing = {failing}

    cqe = hooked.run(shifted(hooked, opcode, 5))

    assert (cqe.status, cqe.dw0) == (0x04, 0)


def test_rings_may_lie_behind_the_hook_too(host: Any) -> None:
    host.emulator.reset()
    hook = Hook(shift=0, flags=RINGS)
    host.emulator.set_dma(hook.structure)
    other = type(host)(host.emulator).create()

    assert other.run(other.sqe(EXIST, b"k", cid=3)).cid == 3
    assert hook.calls == [
        ("read", other.sq.address, 64),
        ("flush", 0, 0),
        ("write", other.cq.address, 12),
        ("flush", 0, 0),
        ("write", other.cq.address + 12, 4),
        ("flush", 0, 0),
    ]


def test_a_ring_that_cannot_be_read_kills_the_queue(host: Any) -> None:
    host.emulator.reset()
    hook = Hook(shift=0, flags=RINGS)
    host.emulator.set_dma(hook.structure)
    other = type(host)(host.emulator).create()
    hook.failing = {"read"}
    other.submit(other.sqe(EXIST, b"k"))
    other.drive()
    hook.failing = set()

    assert other.drive() == 0
    assert other.peek() is None


def test_a_hook_is_set_before_there_are_queues(host: Any) -> None:
    with pytest.raises(ArgumentFault, match="no queues"):
        host.emulator.set_dma(None)
    host.emulator.reset()
    with pytest.raises(ArgumentFault, match="needs read and write"):
        host.emulator.set_dma(DmaHook())
    host.emulator.set_dma(None)


def test_commands_that_are_there_together_are_flushed_once(
    hooked: Any, host: Any, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    hooked.run(shifted(hooked, STORE, 5))
    host.hook.calls.clear()
    hooked.submit(*(shifted(hooked, RETRIEVE, 5) for _ in range(7)))

    hooked.emulator.start()
    wait_until(lambda: hooked.peek() is not None)
    hooked.emulator.stop()

    assert [name for name, *_ in host.hook.calls] == ["write"] * 7 + ["flush"]
    assert [cqe.status for cqe in hooked.take()] == [0] * 7
