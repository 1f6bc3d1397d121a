"""A replay that is cut off at any command leaves nothing behind, once it is cleared."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from xiokv.runtime.ending import Ended
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.plan import DonorSpan, Plan
from xiokv.runtime.kvcache.replay.payloads import Payloads
from xiokv.runtime.kvcache.replay.shelf import Shelf
from xiokv.runtime.operation import Operation
from xiokv.runtime.testing import Rig

from .donors import TENANT

SIZES = (4096, 10000)  # the second in two values


def plan_of(*spans: tuple[str, int, int]) -> Plan:
    """Return a plan of donor spans: donor, first block, number of blocks."""
    found, end = [], 0
    for donor, first, rows in spans:
        source = Range(first * 16, (first + rows) * 16)
        found.append(DonorSpan(target=Range(end, end + rows * 16), donor=donor, source=source))
        end += rows * 16
    return Plan(request="r", tokens=end, block_tokens=16, spans=tuple(found))


PLANS = (
    plan_of(("a", 0, 3), ("b", 0, 2)),
    plan_of(("a", 2, 3)),  # again, in another generation
    plan_of(("b", 50, 2)),  # with blocks that are far from those before
)


@pytest.fixture
def shelf(rig: Rig) -> Callable[[], Shelf]:
    """Return what makes the donors of a new replay, on one controller."""
    room = 8 * sum(SIZES)
    return lambda: Shelf(KvStorage(rig.kv, TENANT), Payloads(7, SIZES), room)


def stored(rig: Rig) -> int:
    return rig.controller.counters().keys


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_signal_at_any_command(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, shelf: Callable[[], Shelf], after: bool
) -> None:
    """It comes before a batch is submitted, or when it was carried out, of clearing as well."""
    count, last, submit = 0, -1, KV._submit

    def struck(kv: KV, request: Any) -> Any:
        nonlocal count
        count += 1
        result = submit(kv, request) if count != last or after else None
        if count == last:
            raise Ended(2)
        return result

    monkeypatch.setattr(KV, "_submit", struck)
    for number in itertools.count(1):
        count, last, made = 0, number, shelf()
        try:
            for plan in PLANS:
                made.prepare(plan)
            made.clear()
        except Ended:
            assert stored(rig) <= made.left, number
        last = -1
        made.clear()
        assert (stored(rig), made.left) == (0, 0), number
        if count < number:
            break
    assert number > 50


def test_a_store_that_refuses_is_left_alone_and_told(rig: Rig, shelf: Callable[[], Shelf]) -> None:
    made = shelf()
    made.prepare(PLANS[0])
    there = stored(rig)
    rig.controller.fault("status", opcode=Operation.DELETE.opcode, sc=0x82)
    with pytest.raises(RuntimeFault, match="82h"):
        made.clear()
    assert stored(rig) == there <= made.left
    rig.faults.clear()
    made.clear()
    assert (stored(rig), made.left) == (0, 0)


def test_what_has_no_time_is_not_begun(rig: Rig, shelf: Callable[[], Shelf]) -> None:
    made = shelf()
    made.prepare(PLANS[0])
    made.clear(until=0.0)
    assert 0 < stored(rig) <= made.left
