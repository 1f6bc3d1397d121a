"""The copier: bytes to and from memory that the CPU is not to touch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

PAGE = 4096
SIZES = (0, 1, 3, 4, 15, 16, 17, 63, 4096, 4097, 16_384, 70_000)
OFFSETS = (0, 1, 4, 12, 12_272, 12_284)


def some_bytes(size: int, seed: int = 1) -> bytes:
    return Random(seed).randbytes(size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("offset", OFFSETS)
def test_bytes_arrive_and_their_neighbours_stay(gpu: Any, size: int, offset: int) -> None:
    before = some_bytes(5 * PAGE + size + 2 * PAGE, seed=2)
    gpu.far.view[: len(before)] = before
    data = some_bytes(size)
    at = PAGE + offset

    gpu.write(gpu.far.address + at, data)

    assert gpu.far.view[: len(before)] == before[:at] + data + before[at + size :]
    assert gpu.read(gpu.far.address + at, size) == data


def test_memory_within_reach_needs_no_kernel(gpu: Any) -> None:
    near = type(gpu.far)(PAGE)

    gpu.write(near.address + 5, b"near")

    assert gpu.read(near.address + 5, 4) == b"near"
    assert gpu.launches == 0


def test_more_copies_than_slots_go_round(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(slots=4)
    data = some_bytes(64 * PAGE)

    gpu.write(gpu.far.address, data)

    assert gpu.read(gpu.far.address, len(data)) == data


def test_a_read_waits_for_no_flush_and_spoils_no_write(gpu: Any) -> None:
    """Writes that are still to be flushed hold their slots while reads come and go."""
    data = some_bytes(100 * PAGE)
    gpu.far.view[: len(data)] = data
    behind = gpu.far.address + 200 * PAGE

    gpu.library.xiokv_copier_write(gpu.copier, behind, data, 10 * PAGE)
    assert gpu.read(gpu.far.address, len(data)) == data
    gpu.write(behind + 10 * PAGE, b"last")

    assert gpu.far.view[200 * PAGE : 210 * PAGE] == data[: 10 * PAGE]


def test_a_buffer_may_be_far_at_its_begin_alone(gpu: Any) -> None:
    data = some_bytes(3 * PAGE)
    edge = gpu.far.address + gpu.far.size
    gpu.far.size -= 2 * PAGE

    gpu.write(edge - 3 * PAGE, data)

    assert gpu.read(edge - 3 * PAGE, len(data)) == data
    assert gpu.launches == 1


@pytest.mark.parametrize("address", [0, 4, PAGE - 1])
def test_a_null_pointer_is_refused(gpu: Any, address: int) -> None:
    with pytest.raises(OSError, match="read"):
        gpu.read(address, 1)
    with pytest.raises(OSError, match="write"):
        gpu.write(address, b"x")


def test_the_kernel_ends_and_is_launched_where_it_is_missed(
    make_gpu: Callable[..., Any], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    gpu = make_gpu(lease=1e-3)

    for _ in range(3):
        before = gpu.launches
        gpu.write(gpu.far.address, b"data")
        assert gpu.launches > before
        wait_until(lambda: gpu.idle)


def test_copies_go_on_over_many_leases(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(lease=1e-4)
    for seed in range(100):
        data = some_bytes(5 * PAGE, seed)
        gpu.write(gpu.far.address, data)
        assert gpu.read(gpu.far.address, len(data)) == data

    assert gpu.launches > 1


def test_while_there_are_copies_a_launch_follows_on_the_one_before(
    make_gpu: Callable[..., Any],
) -> None:
    def gaps() -> int:
        gpu = make_gpu(lease=0.4)
        while gpu.launches < 4:
            gpu.write(gpu.far.address, b"data")
        return int(gpu.gaps)

    # A busy machine may stop this process for longer than a lease.
    assert any(gaps() == 1 for _ in range(5))


def test_a_launch_serves_threads_that_come_later(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(channels=4, lease=3600.0, patience=5.0)
    for _ in range(4):
        with ThreadPoolExecutor(1) as thread:
            thread.submit(gpu.write, gpu.far.address, b"data").result()

    assert gpu.launches == 1


def test_a_kernel_that_was_woken_is_there_for_the_first_copy(
    make_gpu: Callable[..., Any], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    gpu = make_gpu(lease=1.0)
    gpu.library.xiokv_copier_wake(gpu.copier)
    assert gpu.launches == 0
    gpu.write(gpu.far.address, b"data")
    wait_until(lambda: gpu.idle)

    gpu.library.xiokv_copier_wake(gpu.copier)
    assert gpu.launches == 2
    gpu.write(gpu.far.address, b"data")

    assert gpu.launches == 2


def test_wakes_for_copies_that_do_not_come_launch_nothing_in_the_end(
    make_gpu: Callable[..., Any], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    gpu = make_gpu(lease=1e-3)
    gpu.write(gpu.far.address, b"data")

    def is_asleep() -> bool:
        before = gpu.launches
        wait_until(lambda: gpu.idle)
        gpu.library.xiokv_copier_wake(gpu.copier)
        return bool(gpu.launches == before)

    wait_until(is_asleep)
    for _ in range(5):
        assert is_asleep()
    gpu.write(gpu.far.address, b"data")
    wait_until(lambda: gpu.idle)
    assert not is_asleep()


@pytest.mark.parametrize("works", [False, None], ids=["refused", "hung"])
def test_a_kernel_that_does_not_come_fails_this_copy_and_all_others(
    make_gpu: Callable[..., Any], works: bool | None
) -> None:
    gpu = make_gpu(patience=0.05)
    gpu.works = works

    with pytest.raises(OSError, match="write"):
        gpu.write(gpu.far.address, b"data")
    gpu.works = True
    with pytest.raises(OSError, match="read"):
        gpu.read(gpu.far.address, 4)


def test_a_copy_that_was_given_up_is_not_carried_out_later(
    make_gpu: Callable[..., Any], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    """By then the memory may be somebody else's."""
    gpu = make_gpu(patience=0.05)
    device_is_free = threading.Event()
    gpu.hold(until=device_is_free)
    with pytest.raises(OSError, match="write"):
        gpu.write(gpu.far.address, b"late")
    launches = gpu.launches

    device_is_free.set()
    wait_until(lambda: gpu.idle)

    assert launches >= 1
    assert gpu.far.view[:4] == bytes(4)


def test_a_stopped_kernel_ends_before_its_lease(
    make_gpu: Callable[..., Any], wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    gpu = make_gpu(lease=3600.0)
    gpu.write(gpu.far.address, b"data")
    assert not gpu.idle

    gpu.library.xiokv_copier_stop(gpu.copier)

    wait_until(lambda: gpu.idle)
    with pytest.raises(OSError, match="write"):
        gpu.write(gpu.far.address, b"data")


def test_what_memory_is_where_is_asked_once_and_again_when_forgotten(gpu: Any) -> None:
    for _ in range(3):
        gpu.write(gpu.far.address, b"x")
    assert len(gpu.located) == 1

    gpu.library.xiokv_copier_forget(gpu.copier)
    for _ in range(3):
        gpu.write(gpu.far.address + PAGE, b"x")

    assert len(gpu.located) == 2


def test_memory_that_the_vendor_does_not_know_is_asked_about_again(gpu: Any) -> None:
    near = type(gpu.far)(8 * PAGE)
    for _ in range(2):
        for page in range(8):
            gpu.write(near.address + page * PAGE, b"x")

    assert len(gpu.located) == 16


def test_what_is_told_of_memory_goes_before_what_was_known(gpu: Any) -> None:
    """Whatever overlaps what is told is forgotten, at either end of it."""
    near = type(gpu.far)(8 * PAGE)
    tell = gpu.library.xiokv_copier_note
    for first, pages, is_device in [(0, 3, 0), (5, 3, 0), (2, 4, 1), (3, 1, 1)]:
        tell(gpu.copier, near.address + first * PAGE, pages * PAGE, is_device)

    gpu.write(near.address + 2 * PAGE, bytes(3 * PAGE))
    assert (gpu.launches, gpu.located) == (1, [])
    gpu.write(near.address + 6 * PAGE, bytes(PAGE))
    assert gpu.located == [near.address + 6 * PAGE]


def test_what_was_told_otherwise_is_no_longer_believed(gpu: Any) -> None:
    gpu.library.xiokv_copier_note(gpu.copier, gpu.far.address, gpu.far.size, 0)
    gpu.write(gpu.far.address, b"near")
    assert gpu.launches == 0

    gpu.library.xiokv_copier_note(gpu.copier, gpu.far.address, PAGE, 1)
    gpu.write(gpu.far.address, b"far")

    assert gpu.launches == 1


def test_threads_copy_at_the_same_time(gpu: Any) -> None:
    def work(thread: int) -> bool:
        place = gpu.far.address + thread * 32 * PAGE
        for seed in range(40):
            data = some_bytes(3 * PAGE + 100, 100 * thread + seed)
            gpu.write(place + 4 * seed, data)
            if gpu.read(place + 4 * seed, len(data)) != data:
                return False
        return True

    begin = time.monotonic()
    with ThreadPoolExecutor(5) as threads:
        assert all(threads.map(work, range(5)))
    assert time.monotonic() - begin < 20
