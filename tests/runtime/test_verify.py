"""verify finds nothing wrong where nothing is, and names what a controller does wrong."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime.emulator import DmaHook, Emulator
from xiokv.runtime.emulator.library import DmaFlush, DmaRead, DmaWrite
from xiokv.runtime.module import Module
from xiokv.runtime.verify.run import Plan, Row, Verifier
from xiokv.runtime.verify.scenarios import FAULTY

QUICK = Plan((511, 4096, 12288), count=16, faults=False)


def run(module: Module, plan: Plan = QUICK, controller: Emulator | None = None) -> list[Row]:
    """Verify on a controller, or on one without a fault."""
    with controller or Emulator() as emulator, module.attach(emulator, depth=8, queues=2) as kv:
        return list(Verifier(module, emulator, kv, plan).rows())


def test_nothing_is_wrong_where_nothing_is(module: Module) -> None:
    plan = Plan((0, 1, 4, 511, 4096, 4097, 65541, (1 << 20) + 3), count=10)
    rows = run(module, plan)
    assert [str(row.wrong) for row in rows if row.wrong] == []
    assert len(rows) == 8 * 5
    assert {row.blocks for row in rows} == {10}


def test_every_fault_leaves_its_trace(module: Module) -> None:
    rows = {row.case: row for row in run(module, Plan((4096,), count=200))}
    assert rows["plain"].outcomes == {"OK": 200}
    assert rows["edges"].outcomes == {"TRUNCATED": 25, "MISSING": 25, "OK": 150}
    assert rows["disorder"].outcomes == {"OK": 200}
    assert rows["disorder"].not_believed > 0
    assert rows["errors"].outcomes == {"ERROR": 50, "MISSING": 50, "OK": 100}
    assert rows["timeouts"].outcomes["TIMEOUT"] >= 2
    assert rows["timeouts"].again == 200


def test_blocks_beyond_one_round_are_all_verified(module: Module) -> None:
    (row,) = [row for row in run(module, Plan((4,), 2500, False)) if row.case == "plain"]
    assert (row.blocks, row.verified_blocks, row.verified_bytes) == (2500, 2500, 10_000)


def test_sums_are_of_what_was_compared(module: Module) -> None:
    row = run(module, Plan((100,), count=8, faults=False))[1]
    # One block too large for its slot by half, one missing.
    assert (row.blocks, row.verified_blocks, row.verified_bytes) == (8, 7, 6 * 100 + 50)
    assert (row.stored.bytes, row.retrieved.bytes) == (700, 650)


def test_without_faults_none_is_injected(module: Module) -> None:
    assert {row.case for row in run(module)} == {"plain", "edges"}


@pytest.mark.parametrize("options", [{"sct1": True}, {"delete_missing_fails": True}])
def test_controllers_that_differ_are_right_too(module: Module, options: dict[str, Any]) -> None:
    rows = run(module, Plan((100,), count=8), Emulator(**options))
    assert [str(row.wrong) for row in rows if row.wrong] == []


Change = Callable[[bytearray], None]
WaitUntil = Callable[[Callable[[], bool]], None]


class Hooked(Emulator):
    """A controller that changes large pieces of data on their way to or from the host."""

    def __init__(self, at: str, change: Change, **options: Any) -> None:
        super().__init__(**options)
        self._at = at
        self._change = change
        self.set_dma(DmaHook(None, DmaRead(self._read), DmaWrite(self._write), DmaFlush()))

    def _read(self, _: int, iova: int, buffer: int, size: int) -> int:
        data = bytearray(ctypes.string_at(iova, size))
        # PRP lists are read in pieces of at most one page.
        if self._at == "store" and size > 4096:
            self._change(data)
        ctypes.memmove(buffer, bytes(data), size)
        return 0

    def _write(self, _: int, iova: int, buffer: int, size: int) -> int:
        data = bytearray(ctypes.string_at(buffer, size))
        if self._at == "retrieve":
            self._change(data)
        ctypes.memmove(iova, bytes(data), len(data))
        return 0


def flip_a_bit(data: bytearray) -> None:
    if len(data) > 5000:
        data[5000] ^= 1


def write_too_far(data: bytearray) -> None:
    data += b"\0"


def forget_the_end(data: bytearray) -> None:
    del data[-1:]


def swap_the_first_pages(data: bytearray) -> None:
    data[:4096], data[4096:8192] = data[4096:8192], data[:4096]


CORRUPTIONS: dict[str, tuple[str, Change, int, str]] = {
    "stored with a bit flipped": ("store", flip_a_bit, 4992, "damaged; 1 of its 12288"),
    "retrieved with a bit flipped": ("retrieve", flip_a_bit, 4992, "damaged; 1 of its 12288"),
    "pages swapped": ("store", swap_the_first_pages, 0, "data of another place of the block"),
    "one byte short": ("retrieve", forget_the_end, 12272, "damaged; 1 of its 12288"),
    "one byte too far": ("retrieve", write_too_far, 12288, "nobody may write there"),
}


@pytest.mark.parametrize(
    ("at", "change", "offset", "meaning"), CORRUPTIONS.values(), ids=CORRUPTIONS
)
def test_corruption_on_the_way_is_named(
    module: Module, at: str, change: Change, offset: int, meaning: str
) -> None:
    rows = run(module, Plan((12288,), 16, False), Hooked(at, change))
    assert len(rows) == 1
    wrong = rows[0].wrong
    assert wrong is not None
    assert (wrong.index, wrong.offset) == (0, offset)
    assert wrong.meaning.startswith(meaning)


MISBEHAVIOUR: dict[str, tuple[dict[str, Any], str]] = {
    "a key is gone": (
        {"kind": "status", "opcode": Opcode.RETRIEVE, "nth": 3, "sc": 0x87},
        "expected OK, got MISSING: KEY_DOES_NOT_EXIST (SCT 0h, SC 87h, DNR 0)",
    ),
    "a Store fails": (
        {"kind": "status", "opcode": Opcode.STORE, "nth": 3, "sc": 0x81},
        "Store: expected OK, got ERROR: CAPACITY_EXCEEDED (SCT 0h, SC 81h, DNR 0): there",
    ),
    "a Store is not carried out": (
        {"kind": "status", "opcode": Opcode.STORE, "nth": 3, "sc": 0},
        "stale data",
    ),
    "a Retrieve moves nothing": (
        {"kind": "status", "opcode": Opcode.RETRIEVE, "nth": 3, "sc": 0},
        "value size: expected 4096 bytes, got 0 bytes",
    ),
    "a size is false": (
        {"kind": "bad_size", "opcode": Opcode.RETRIEVE, "nth": 3, "amount": 4000},
        "value size: expected 4096 bytes, got 4000 bytes",
    ),
}


class Misbehaving(Emulator):
    """A controller with a fault that nobody but it knows of."""

    def __init__(self, fault: dict[str, Any]) -> None:
        super().__init__()
        self._fault = fault
        self._batches = 0

    def clear_faults(self) -> None:
        """Clear those of the caller, at the end of a round; have one's own in the second."""
        super().clear_faults()
        self._batches += 1
        if self._batches == 1:
            self.fault(**self._fault)


@pytest.mark.parametrize(("fault", "complaint"), MISBEHAVIOUR.values(), ids=MISBEHAVIOUR)
def test_a_controller_that_misbehaves_is_found_out(
    module: Module, fault: dict[str, Any], complaint: str
) -> None:
    rows = run(module, Plan((4096,), 16, False), Misbehaving(fault))
    assert rows[0].wrong is None
    assert complaint in str(rows[-1].wrong)


def test_a_command_that_never_completes_is_wrong_unless_it_was_meant(module: Module) -> None:
    controller = Misbehaving({"kind": "drop", "opcode": Opcode.RETRIEVE, "nth": 3})
    with controller, module.attach(controller, timeout=0.3) as kv:
        rows = list(Verifier(module, controller, kv, Plan((64,), 16, False)).rows())
    assert "got TIMEOUT: no completion was believed" in str(rows[-1].wrong)


class Late(Emulator):
    """A controller that carries out what was delayed just before its queue is deleted."""

    def __init__(self, wait_until: WaitUntil) -> None:
        super().__init__()
        self._wait_until = wait_until
        self._delays = 0

    def fault(self, kind: Any, **options: Any) -> None:
        self._delays += kind == "delay"
        super().fault(kind, **options)

    def delete_queue(self, qid: int) -> None:
        before = self.counters().bytes_out
        Emulator.clear_faults(self)
        if self._delays:
            self._wait_until(lambda: self.counters().bytes_out > before)
            self._delays = 0
        super().delete_queue(qid)


def test_late_data_is_seen(module: Module, wait_until: WaitUntil) -> None:
    (timeouts,) = [scenario for scenario in FAULTY if scenario.name == "timeouts"]
    with Late(wait_until) as controller, module.attach(controller) as kv:
        row = Verifier(module, controller, kv, Plan((4096,), 1)).case(4096, timeouts)
    assert row.wrong is not None
    assert row.wrong.meaning.startswith("data where none may be")
