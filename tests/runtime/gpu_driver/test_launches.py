"""The GPU driver launches kernels in order, sees their end, and keeps what they use."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

from tests.runtime.gpu_fakes import Api
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.errors import LostFault, RuntimeFault

from .conftest import KERNEL, Noting, batch


def test_a_workgroup_runs_a_queue(driver: GpuDriver, api: Api) -> None:
    driver.launch(KERNEL, batch(queues=3), 5, None)
    assert ("launch", KERNEL, 3, 256, 5) in api.calls


def test_a_launch_wakes_what_reaches_memory(driver: GpuDriver, api: Api) -> None:
    api.hook = hook = Noting()
    driver.dma_hook()
    driver.launch(KERNEL, batch(), 5, None)
    assert hook.woken == 1


def test_a_launch_waits_on_the_device_for_the_one_before(driver: GpuDriver, api: Api) -> None:
    api.ended = False
    first = driver.launch(KERNEL, batch(), 5, None)
    event = next(rest[0] for name, *rest in api.calls if name == "event_record")
    api.calls.clear()
    driver.launch(KERNEL, batch(), 6, first)
    assert api.calls[1:3] == [("stream_wait", 6, event), ("launch", KERNEL, 1, 256, 6)]


def test_a_launch_after_one_that_has_ended_waits_for_nothing(driver: GpuDriver, api: Api) -> None:
    first = driver.launch(KERNEL, batch(), 5, None)
    assert first.done
    driver.launch(KERNEL, batch(), 6, first)
    assert "stream_wait" not in api.names()


def test_the_end_is_seen_by_an_event_and_not_by_the_stream(driver: GpuDriver, api: Api) -> None:
    api.ended = False
    launch = driver.launch(KERNEL, batch(), 5, None)
    assert (launch.done, launch.wait(0.01)) == (False, False)
    api.ended = True
    assert (launch.wait(), launch.done) == (True, True)
    assert "stream_synchronize" not in api.names()


def test_what_hangs_on_a_batch_lives_until_its_end(driver: GpuDriver, api: Api) -> None:
    class Kept: ...

    api.ended = False
    given = batch()
    given.kept = Kept()
    kept = weakref.ref(given.kept)
    driver.launch(KERNEL, given, 5, None)
    del given
    assert kept() is not None
    api.ended = True
    driver.launch(KERNEL, batch(), 5, None)
    assert kept() is None


def test_a_launch_that_was_refused_keeps_nothing(driver: GpuDriver, api: Api) -> None:
    def refuse(kernel: str, argument: Any) -> None:
        raise RuntimeFault("launch refused")

    api.on_launch = refuse
    given = batch()
    held = weakref.ref(given)
    with pytest.raises(RuntimeFault, match="launch refused"):
        driver.launch(KERNEL, given, 5, None)
    del given
    assert held() is None


def test_an_unknown_kernel_is_refused(driver: GpuDriver) -> None:
    with pytest.raises(RuntimeFault, match="no kernel other"):
        driver.launch("other", batch(), 5, None)


def test_settle_waits_for_a_launch_that_was_interrupted(driver: GpuDriver, api: Api) -> None:
    def interrupt(kernel: str, argument: Any) -> None:
        raise KeyboardInterrupt

    api.on_launch = interrupt
    given = batch()
    held = weakref.ref(given)
    with pytest.raises(KeyboardInterrupt):
        driver.launch(KERNEL, given, 5, None)
    del given
    assert held() is not None
    driver.settle(5)
    assert held() is None


def test_settle_takes_a_closed_stream_for_one_that_has_ended(driver: GpuDriver, api: Api) -> None:
    def interrupt(kernel: str, argument: Any) -> None:
        raise KeyboardInterrupt

    api.on_launch = interrupt
    given = batch()
    held = weakref.ref(given)
    with driver.stream() as stream, pytest.raises(KeyboardInterrupt):
        driver.launch(KERNEL, given, stream, None)
    del given
    driver.settle(stream)
    assert held() is None


def test_settle_waits_without_an_event_where_there_is_none(driver: GpuDriver, api: Api) -> None:
    api.granted = 0
    driver.settle(5)
    assert api.calls[-1] == ("stream_synchronize", 5)


def test_a_kernel_that_failed_is_lost_and_has_ended(driver: GpuDriver, api: Api) -> None:
    launch = driver.launch(KERNEL, batch(), 5, None)
    api.fails = "hipEventQuery: hipErrorLaunchFailure (719)"
    assert launch.done
    with pytest.raises(LostFault, match="a kernel failed on its device: hipEventQuery"):
        launch.wait()


def test_seconds_are_ticks_of_the_device(driver: GpuDriver) -> None:
    assert driver.ticks(0.5) == 50_000_000
    assert driver.ticks(1e30) == 2**63 - 1
