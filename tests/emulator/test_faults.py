"""Faults: each kind, which commands it strikes, and that a seed repeats it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from xiokv.runtime.emulator import FaultKind
from xiokv.runtime.errors import ArgumentFault

STORE, RETRIEVE, DELETE, EXIST = 0x01, 0x02, 0x10, 0x14
MISSING = 0x87


def exists(host: Any, *cids: int, key: bytes = b"k") -> list[bytes]:
    return [host.sqe(EXIST, key, cid=cid) for cid in cids]


def order(host: Any, count: int = 15) -> list[int]:
    """Return the CIDs of `count` commands in the order of their completions."""
    return [cqe.cid for cqe in host.run_all(*exists(host, *range(count)))]


def test_reordered_completions_leave_in_another_order(host: Any) -> None:
    host.emulator.fault("reorder", amount=8)

    seen = order(host)

    assert sorted(seen) == list(range(15))
    assert seen != list(range(15))


def test_a_completion_leaves_from_within_the_window(host: Any) -> None:
    host.emulator.fault("reorder", amount=4)
    waiting = list(range(15))

    for cid in order(host):
        assert cid in waiting[:4]
        waiting.remove(cid)


@pytest.mark.parametrize("threads", [False, True])
def test_a_seed_repeats_an_order(make: Any, threads: bool, wait_until: Any) -> None:
    def run(seed: int) -> list[int]:
        host = make(seed=seed)
        host.emulator.fault("reorder", amount=8)
        if not threads:
            return order(host)
        host.submit(*exists(host, *range(15)))
        host.emulator.start()
        wait_until(lambda: host.cq.get(16 * 14 + 14, 1) != b"\0")
        return [cqe.cid for cqe in host.take()]

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (1, list(range(10))),
        (4, [3, 2, 1, 0, 7, 6, 5, 4, 9, 8]),
        (10, list(range(9, -1, -1))),
        (99, list(range(9, -1, -1))),
    ],
)
def test_groups_leave_last_first(host: Any, window: int, expected: list[int]) -> None:
    host.emulator.fault("reverse", amount=window)

    assert order(host, 10) == expected


def test_a_delayed_command_waits_for_its_steps(host: Any) -> None:
    host.emulator.fault("delay", amount=20, nth=1)
    host.submit(*exists(host, 1, 2))
    for _ in range(15):
        host.emulator.step(1)

    assert [cqe.cid for cqe in host.take()] == [2]
    for _ in range(15):
        host.emulator.step(1)
    assert [cqe.cid for cqe in host.take()] == [1]


def test_the_data_of_a_delayed_command_is_late_too(host: Any) -> None:
    host.store(b"k", b"value")
    host.emulator.fault("delay", amount=20, opcode=RETRIEVE)
    host.data.put(0, b"-----")
    host.submit(host.sqe(RETRIEVE, b"k", 5, host.data.address))
    for _ in range(15):
        host.emulator.step(1)

    assert host.data.get(0, 5) == b"-----"
    for _ in range(15):
        host.emulator.step(1)
    assert host.data.get(0, 5) == b"value"


def test_a_delayed_command_waits_for_its_microseconds(host: Any, wait_until: Any) -> None:
    host.emulator.fault("delay", amount=30_000)
    host.submit(*exists(host, 1))
    begin = time.monotonic()
    host.emulator.start()
    wait_until(lambda: host.peek() is not None)

    assert 0.03 <= time.monotonic() - begin < 1


def test_a_dropped_completion_never_comes_and_the_command_is_done(host: Any) -> None:
    host.emulator.fault("drop", nth=2)
    entries = [host.sqe(STORE, key, cid=cid) for cid, key in enumerate((b"a", b"b", b"c"))]

    assert [cqe.cid for cqe in host.run_all(*entries)] == [0, 2]
    assert host.run(*exists(host, 5, key=b"b")).status == 0


def test_a_duplicate_comes_at_once(host: Any) -> None:
    host.emulator.fault("duplicate", nth=1)

    assert [cqe.cid for cqe in host.run_all(*exists(host, 1, 2))] in ([1, 1, 2], [1, 2, 1])


def test_a_duplicate_comes_later(host: Any) -> None:
    host.emulator.fault("duplicate", nth=1, amount=50)
    first = host.run_all(*exists(host, 1, 2))
    for _ in range(60):
        host.emulator.step(1)

    (repeated,) = host.take()
    assert [cqe.cid for cqe in first] == [1, 2]
    assert (repeated.cid, repeated.status) == (1, first[0].status)


@pytest.mark.parametrize(
    ("sct", "sc", "dnr", "status"),
    [(0, 0x84, False, 0x84), (1, 0x87, False, 0x187), (0, 0x88, True, 0x4088)],
)
def test_a_status_replaces_the_command(
    host: Any, sct: int, sc: int, dnr: bool, status: int
) -> None:
    host.emulator.fault("status", sct=sct, sc=sc, dnr=dnr, opcode=STORE)

    assert host.store(b"k", b"value") == status
    assert host.run(*exists(host, 1)).status == MISSING


def test_an_unknown_cid_comes_besides(host: Any) -> None:
    host.emulator.fault("unknown_cid", nth=1)
    host.emulator.fault("unknown_cid", nth=2, amount=0x1234)

    seen = [cqe.cid for cqe in host.run_all(*exists(host, 1, 2))]

    assert seen == [0xFFFF, 1, 0x1234, 2]


def test_a_foreign_sqid_comes_before_the_true_one(host: Any) -> None:
    host.emulator.fault("foreign_sqid", nth=1)
    host.emulator.fault("foreign_sqid", nth=2, amount=9)

    seen = [(cqe.sqid, cqe.cid) for cqe in host.run_all(*exists(host, 1, 2))]

    assert seen == [(2, 1), (1, 1), (9, 2), (1, 2)]


@pytest.mark.parametrize(("amount", "dw0"), [(0, (32 << 20) + 1), (7, 7), (2**32 - 1, 2**32 - 1)])
def test_a_bad_size_is_a_successful_retrieve_s(host: Any, amount: int, dw0: int) -> None:
    host.store(b"k", b"value")
    host.emulator.fault("bad_size", amount=amount)

    assert host.retrieve(b"k", 5) == (0, dw0, b"value")
    assert host.retrieve(b"missing", 5)[:2] == (MISSING, 0)
    assert host.run(*exists(host, 1)).dw0 == 0


def test_a_stalled_queue_stops_for_so_many_steps(host: Any) -> None:
    host.emulator.fault("stall", nth=2, amount=50)
    host.submit(*exists(host, 1, 2, 3))
    before = 0
    while host.emulator.step(1):
        before += 1
    waited = 1
    while not host.emulator.step(1):
        waited += 1

    assert waited in (49, 50)
    host.drive()
    assert [cqe.cid for cqe in host.take()] == [1, 2, 3]


def test_a_stalled_queue_goes_on_when_faults_are_cleared(host: Any) -> None:
    host.emulator.fault("stall", nth=1)
    host.submit(*exists(host, 1))
    host.drive()
    assert host.peek() is None

    host.emulator.clear_faults()
    host.drive()

    assert [cqe.cid for cqe in host.take()] == [1]


def test_clearing_ends_every_fault(host: Any) -> None:
    for kind in ("drop", "bad_size", "unknown_cid", "duplicate"):
        host.emulator.fault(kind)
    host.emulator.fault("reverse", amount=4)
    host.emulator.clear_faults()

    assert order(host, 5) == list(range(5))


def test_a_duplicate_to_come_is_forgotten_when_faults_are_cleared(host: Any) -> None:
    host.emulator.fault("duplicate", amount=20)
    host.run_all(*exists(host, 1))
    host.emulator.clear_faults()
    for _ in range(30):
        host.emulator.step(1)

    assert host.peek() is None


def test_a_delayed_command_goes_on_when_faults_are_cleared(host: Any) -> None:
    host.emulator.fault("delay", amount=10**6)
    host.submit(*exists(host, 1))
    host.drive()
    host.emulator.clear_faults()
    host.drive()

    assert [cqe.cid for cqe in host.take()] == [1]


@pytest.mark.parametrize(
    ("selection", "struck"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"nth": 3}, [2]),
        ({"count": 2}, [0, 1]),
        ({"opcode": DELETE}, [1, 3]),
        ({"opcode": DELETE, "nth": 2}, [3]),
        ({"key": b"even"}, [0, 2, 4]),
        ({"key": b"even\0"}, []),
        ({"key": b"even", "count": 1}, [0]),
        ({"qid": 1, "nth": 1}, [0]),
        ({"qid": 2}, []),
    ],
)
def test_a_fault_strikes_what_it_selects(
    host: Any, selection: dict[str, Any], struck: list[int]
) -> None:
    opcodes = [EXIST, DELETE, EXIST, DELETE, EXIST, EXIST]
    entries = [
        host.sqe(opcode, b"odd" if cid % 2 else b"even", cid=cid)
        for cid, opcode in enumerate(opcodes)
    ]
    host.emulator.fault("status", sc=0x88, **selection)

    seen = host.run_all(*entries)

    assert [cqe.cid for cqe in seen if cqe.status == 0x88] == struck


@pytest.mark.parametrize("window", [0, 8])
def test_a_probability_strikes_some_and_the_same_ones_again(make: Any, window: int) -> None:
    def struck(seed: int) -> list[int]:
        host = make(seed=seed, sq_depth=256)
        host.emulator.fault("drop", probability=0.25)
        if window:
            host.emulator.fault("reorder", amount=window)
        return sorted(order(host, 255))

    assert 255 * 0.65 < len(struck(3)) < 255 * 0.85
    assert struck(3) == struck(3)
    assert struck(3) != struck(4)


def test_faults_reach_queues_to_come(host: Any) -> None:
    host.emulator.fault("status", sc=0x82, qid=2)
    later = type(host)(host.emulator, qid=2).create()

    assert later.run(*exists(later, 1)).status == 0x82
    assert host.run(*exists(host, 1)).status == MISSING


def test_faults_and_their_counts_survive_a_reset(host: Any) -> None:
    host.emulator.fault("status", sc=0x82)
    host.emulator.reset()

    again = type(host)(host.emulator).create()

    assert again.run(*exists(again, 1)).status == 0x82


def test_faults_strike_in_null_mode(make: Any) -> None:
    host = make(null=True)
    host.emulator.fault("drop", nth=2)

    assert order(host, 4) == [0, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "explode"}, "allowed are: reorder, reverse, delay"),
        ({"kind": "reorder"}, "need an amount"),
        ({"kind": "reverse", "amount": 3, "nth": 1}, "whole queue"),
        ({"kind": "unknown_cid", "amount": 65536}, "16 bits"),
        ({"kind": "bad_size", "amount": 2**32}, "a size 32"),
        ({"kind": "drop", "probability": 0}, "above 0"),
        ({"kind": "drop", "probability": 1.5}, "up to 1"),
        ({"kind": "drop", "probability": "1"}, "probability is '1'; allowed is a number"),
        ({"kind": "drop", "nth": -1}, "nth is -1"),
        ({"kind": "drop", "key": "k"}, "key is 'k'; allowed are bytes"),
        ({"kind": "drop", "opcode": 256}, "0 to 255"),
        ({"kind": "drop", "key": b"k" * 17}, "1 to 16"),
        ({"kind": "status", "sct": 8}, "sct is 8"),
        ({"kind": "status", "sc": True}, "sc is True"),
    ],
)
def test_a_fault_that_means_nothing_is_refused(
    host: Any, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentFault, match=message):
        host.emulator.fault(**arguments)

    assert order(host, 3) == [0, 1, 2]


def test_kinds_have_the_numbers_of_the_c_interface() -> None:
    assert [kind.value for kind in FaultKind] == list(range(1, 11))
