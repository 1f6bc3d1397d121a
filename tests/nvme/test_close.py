"""What is left of a device after its end: no thread, no file, and no call that was not begun."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from pathlib import Path

import pytest

from tests.runtime.forking import in_child
from xiokv.runtime import KV, Outcome, Passthrough, RuntimeFault, load, passthrough
from xiokv.runtime.nvme import library

from .conftest import DEVICE, Standin
from .test_entries import EXIST, Queue, sqe


def held() -> tuple[int, int]:
    """Return how many threads and open files this process has."""
    task, fd = (list(Path("/proc/self", of).iterdir()) for of in ("task", "fd"))
    return len(task), len(fd)


def test_closing_ends_threads_and_closes_the_file(standin: Standin) -> None:
    before = held()
    device = passthrough(DEVICE, ioctl=standin.ioctl, threads=5)
    assert held() == (before[0] + 6, before[1] + 1)
    device.close()
    assert held() == before


def test_one_that_is_dropped_ends_likewise(standin: Standin) -> None:
    before = held()
    passthrough(DEVICE, ioctl=standin.ioctl)
    gc.collect()
    assert held() == before


def test_a_device_that_answers_nothing_leaves_nothing(standin: Standin) -> None:
    @library.IOCTL
    def deaf(fd: int, request: int, argument: int) -> int:
        identify = request == 0xC0504E47
        return 2 if identify else int(standin.ioctl(fd, ctypes.c_ulong(request), None))

    before = held()
    with pytest.raises(RuntimeFault, match="Identify descriptors"):
        passthrough(DEVICE, ioctl=deaf)
    assert held() == before


def test_what_the_driver_does_not_have_yet_is_not_begun(standin: Standin) -> None:
    device = passthrough(DEVICE, ioctl=standin.ioctl, threads=3)
    with load("host").attach(device) as kv:
        standin.hold(True)
        assert kv.exist([b"k"] * 100, timeout=0.1).counts == {Outcome.TIMEOUT: 100}
        threading.Timer(0.1, standin.hold, [False]).start()
        device.close()
        assert len(standin.calls()) == 3
    # The KV is closed last, and has nothing to delete any more.


def test_a_queue_is_gone_when_the_driver_has_none_of_its_commands(
    device: Passthrough, standin: Standin
) -> None:
    queue = Queue(device)
    standin.hold(True)
    queue.send(sqe(EXIST, b"k"))
    deleting = threading.Thread(target=device.delete_queue, args=[queue.made.qid])
    end = time.monotonic() + 10
    while not standin.calls():
        assert time.monotonic() < end
    deleting.start()
    deleting.join(0.1)
    assert deleting.is_alive()
    standin.hold(False)
    deleting.join(10)
    assert not deleting.is_alive()
    assert not queue.is_there()


def test_a_child_of_fork_leaves_its_parents_device_alone(kv: KV, device: Passthrough) -> None:
    kv.store([b"a"], b"1234").raise_for_status()
    assert "a fork leaves behind" in in_child(lambda: kv.exist([b"a"]))
    assert "a fork leaves behind" in in_child(device.counters)
    assert in_child(lambda: (kv.close(), device.close())) == "(None, None)"
    kv.exist([b"a"]).raise_for_status()


@pytest.mark.parametrize(("timeout", "told"), [(None, 0), (1e-6, 1), (2.5, 2500)])
def test_the_driver_is_told_when_to_give_a_command_up(
    standin: Standin, timeout: float | None, told: int
) -> None:
    with (
        passthrough(Path(DEVICE), ioctl=standin.ioctl, command_timeout=timeout) as device,
        load("host").attach(device) as kv,
    ):
        kv.exist([b"a"])
    assert int.from_bytes(standin.calls()[-1][64:68], "little") == told
