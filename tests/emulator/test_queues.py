"""Rings and doorbells: wrap and phase, back-pressure, deletion and resets."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

EXIST, RETRIEVE, STORE = 0x14, 0x02, 0x01
DELETE_SQ, DELETE_CQ = 0x00, 0x04
CC, CSTS = 0x14, 0x1C


def register(host: Any, offset: int) -> Any:
    return ctypes.c_uint32.from_address(host.emulator.registers + offset)


def exists(host: Any, *cids: int) -> list[bytes]:
    return [host.sqe(EXIST, b"k", cid=cid) for cid in cids]


@pytest.mark.parametrize(("sq_depth", "cq_depth"), [(2, 2), (3, 2), (2, 3), (5, 5), (4, 7)])
def test_rings_wrap_and_the_phase_flips(make: Any, sq_depth: int, cq_depth: int) -> None:
    host = make(sq_depth=sq_depth, cq_depth=cq_depth)
    phases = []
    for cid in range(3 * cq_depth):
        cqe = host.run(exists(host, cid)[0])
        assert (cqe.cid, cqe.sqid, cqe.dw1) == (cid, 1, 0)
        assert cqe.sq_head == (cid + 1) % sq_depth
        phases.append(cqe.phase)

    assert phases == [1] * cq_depth + [0] * cq_depth + [1] * cq_depth


def test_a_full_ring_of_commands_is_answered_in_order(make: Any) -> None:
    host = make(sq_depth=8)

    assert [cqe.cid for cqe in host.run_all(*exists(host, *range(7)))] == list(range(7))


def test_a_queue_has_up_to_65536_entries(make: Any, wait_until: Any) -> None:
    host = make(sq_depth=65536, null=True)
    host.submit(*exists(host, *range(65535)))
    host.emulator.start()
    wait_until(lambda: host.cq.get(16 * 65534 + 14, 1) != b"\0")

    assert [cqe.cid for cqe in host.take()] == list(range(65535))


def test_a_completion_waits_for_room_in_its_queue(make: Any) -> None:
    host = make(sq_depth=8, cq_depth=4)
    host.submit(*exists(host, *range(7)))
    host.drive()
    assert host.emulator.counters().held_completions == 1

    first = host.take()
    assert [cqe.cid for cqe in first] == [0, 1, 2]
    assert host.peek() is None
    host.drive()
    second = host.take()
    host.drive()

    assert [cqe.cid for cqe in second + host.take()] == [3, 4, 5, 6]


def test_threads_hold_completions_back_too(make: Any) -> None:
    host = make(sq_depth=64, cq_depth=4)
    host.emulator.start()
    host.submit(*exists(host, *range(60)))
    seen: list[int] = []
    while len(seen) < 60:
        taken = host.take()
        assert len(taken) <= 3
        seen += [cqe.cid for cqe in taken]

    assert seen == list(range(60))


@pytest.mark.parametrize("value", [16, 17, 0xFFFFFFFF])
def test_a_tail_past_the_queue_is_counted_and_ignored(host: Any, value: int) -> None:
    host.sq_doorbell.value = value
    assert host.drive() == 0
    assert host.emulator.counters().invalid_doorbells == 1

    assert host.run(exists(host, 5)[0]).cid == 5


@pytest.mark.parametrize("value", [3, 4, 0xFFFFFFFF])
def test_a_head_that_passes_the_tail_is_counted_and_ignored(make: Any, value: int) -> None:
    host = make(sq_depth=8, cq_depth=4)
    host.run(exists(host, 0)[0])
    host.cq_doorbell.value = value
    host.submit(*exists(host, 1, 2, 3))
    host.drive()

    assert host.emulator.counters().invalid_doorbells == 1
    assert [cqe.cid for cqe in host.take()] == [1, 2]


@pytest.mark.parametrize("dstrd", [0, 1, 4])
def test_doorbells_are_a_stride_apart(make: Any, dstrd: int) -> None:
    host = make(dstrd=dstrd)
    cap = ctypes.c_uint64.from_address(host.emulator.registers).value

    assert cap >> 32 & 0xF == dstrd
    assert host.run(exists(host, 3)[0]).cid == 3


def test_cap_tells_the_largest_queue(make: Any) -> None:
    host = make(mqes=99)

    assert register(host, 0).value & 0xFFFF == 99
    assert register(host, 8).value == 0x00020000


def test_submission_queues_may_share_a_completion_queue(make: Any) -> None:
    first = make(sq_depth=8, cq_depth=16)
    second = type(first)(first.emulator, qid=2, cqid=1, sq_depth=4, cq_depth=16)
    second.cq = first.cq
    assert second.create_sq() == 0
    first.submit(*exists(first, 1, 2))
    second.submit(*exists(second, 3))
    first.drive()
    second.drive()

    taken = first.take()

    assert [(cqe.sqid, cqe.cid, cqe.sq_head) for cqe in taken] == [(1, 1, 2), (1, 2, 2), (2, 3, 1)]


def test_a_phase_is_never_seen_before_the_rest(make: Any) -> None:
    host = make(split_cqe=True)
    host.submit(host.sqe(STORE, b"k", 5, host.data.address, cid=9))
    seen = set()
    while host.emulator.step(1):
        seen.add(host.cq.get(0, 16))

    assert bytes(8) + b"\x01\0\x01\0" + bytes(4) in seen  # SQHD 1, SQID 1, no DW3 yet
    assert host.take()[0].cid == 9


@pytest.mark.parametrize("null", [False, True])
def test_threads_end_what_a_step_left_half_done(
    make: Any, wait_until: Callable[[Callable[[], bool]], None], null: bool
) -> None:
    host = make(split_cqe=True, null=null)
    host.submit(*exists(host, 1))
    for _ in range(3):
        assert host.emulator.step(1)
    assert host.peek() is None

    taken = []
    for cid in (2, 3):
        host.emulator.start()
        wait_until(lambda: host.peek() is not None)
        taken += host.take()
        host.submit(*exists(host, cid))
    host.emulator.stop()

    assert [cqe.cid for cqe in taken] == [1, 2]


def test_a_command_takes_three_small_steps(host: Any) -> None:
    host.submit(*exists(host, 1))

    assert host.drive() == 3


def test_steps_are_the_threads_own_while_they_run(host: Any) -> None:
    host.emulator.start()
    assert host.emulator.step(1) is False
    host.emulator.stop()
    host.submit(*exists(host, 1))

    assert host.emulator.step(1) is True


def test_there_is_nothing_to_step_on_a_queue_that_is_not_there(host: Any) -> None:
    assert [host.emulator.step(qid) for qid in (0, 2, 65, 2**32 - 1)] == [False] * 4


def test_a_deleted_queue_s_memory_is_left_alone(host: Any) -> None:
    host.submit(host.sqe(STORE, b"k", 5, host.data.address))
    host.emulator.step(1)
    host.admin(DELETE_SQ, cdw10=1)
    host.submit(*exists(host, 1))

    assert host.drive() == 0
    assert host.cq.get(0, 256) == bytes(256)


def test_a_queue_may_be_made_again(host: Any) -> None:
    host.run_all(*exists(host, 1, 2, 3))
    host.admin(DELETE_SQ, cdw10=1)
    host.admin(DELETE_CQ, cdw10=1)
    again = type(host)(host.emulator).create()

    cqe = again.run(exists(again, 4)[0])

    assert (cqe.cid, cqe.sq_head, cqe.phase) == (4, 1, 1)


def test_a_reset_takes_queues_and_leaves_values(host: Any) -> None:
    host.store(b"k", b"value")
    host.submit(*exists(host, 1))
    host.emulator.reset()
    assert host.drive() == 0
    assert host.admin(DELETE_SQ, cdw10=1).status == 0x101

    again = type(host)(host.emulator).create()

    assert again.retrieve(b"k", 5) == (0, 5, b"value")


def test_clearing_the_enable_bit_resets(host: Any) -> None:
    cc, csts = register(host, CC), register(host, CSTS)
    assert (cc.value & 1, csts.value) == (1, 1)
    cc.value &= ~1
    assert host.drive() == 0
    assert csts.value == 0
    with pytest.raises(Exception, match="disabled"):
        host.admin(DELETE_SQ, cdw10=1)

    cc.value |= 1

    assert host.admin(DELETE_SQ, cdw10=1).status == 0x101
    assert csts.value == 1


def test_threads_follow_the_enable_bit(host: Any, wait_until: Any) -> None:
    cc, csts = register(host, CC), register(host, CSTS)
    host.emulator.start()
    for ready in (0, 1):
        cc.value = cc.value & ~1 | ready
        wait_until(lambda ready=ready: csts.value == ready)


def test_another_page_size_is_fatal(host: Any) -> None:
    cc, csts = register(host, CC), register(host, CSTS)
    cc.value &= ~1
    host.drive()
    cc.value |= 1 | 1 << 7
    host.drive()

    assert csts.value == 2
    cc.value &= ~(0xF << 7 | 1)
    host.drive()
    cc.value |= 1
    host.drive()
    assert csts.value == 1


@pytest.mark.parametrize("qid", [0, 1])
def test_a_killed_queue_is_silent_until_a_reset(host: Any, qid: int) -> None:
    host.submit(*exists(host, 1))
    host.emulator.step(1)
    host.emulator.kill(qid)
    assert host.drive() == 0
    assert host.peek() is None

    host.emulator.reset()
    again = type(host)(host.emulator).create()

    assert again.run(exists(again, 2)[0]).cid == 2


def test_a_killed_controller_kills_queues_to_come(host: Any) -> None:
    host.emulator.kill()
    later = type(host)(host.emulator, qid=2).create()
    later.submit(*exists(later, 1))

    assert later.drive() == 0


def test_a_killed_queue_leaves_the_others_alone(host: Any) -> None:
    other = type(host)(host.emulator, qid=2).create()
    host.emulator.kill(1)

    assert other.run(exists(other, 6)[0]).cid == 6


@pytest.mark.parametrize(("distinct", "sizes"), [(False, [9, 9, 9]), (True, [1, 2, 0])])
def test_null_mode_answers_without_a_look_up(make: Any, distinct: bool, sizes: list[int]) -> None:
    host = make(null=True, distinct_dw0=distinct, value_max=2)
    retrieves = [host.sqe(RETRIEVE, b"k", 9, cid=cid) for cid in range(3)]

    cqes = host.run_all(*retrieves)

    assert [(cqe.status, cqe.dw0) for cqe in cqes] == [(0, size) for size in sizes]
    assert host.run(exists(host, 4)[0]).status == 0


def test_null_mode_s_threads_answer_alike(make: Any, wait_until: Any) -> None:
    host = make(null=True)
    host.emulator.start()
    host.submit(host.sqe(RETRIEVE, b"k", 9, cid=3))
    wait_until(lambda: host.peek() is not None)

    cqe = host.take()[0]
    assert (cqe.cid, cqe.dw0, cqe.status, cqe.sq_head) == (3, 9, 0, 1)
