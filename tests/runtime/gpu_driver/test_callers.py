"""The GPU driver among its caller's threads, signals and processes."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.runtime.forking import in_child
from tests.runtime.gpu_fakes import Api
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice, poll

from .conftest import KERNEL, batch


def test_the_callers_device_is_its_own_again_after_each_call() -> None:
    api = Api(devices=3)
    api.device = 2
    driver = GpuDriver(GpuDevice(api, 1), b"image")
    used: list[int] = []
    api.on_launch = lambda kernel, argument: used.append(api.device)
    driver.launch(KERNEL, batch(), 5, None)
    assert (used, api.device) == ([1], 2)


def test_an_interrupt_comes_through_a_wait(driver: GpuDriver, api: Api) -> None:
    api.ended = False
    launch = driver.launch(KERNEL, batch(), 5, None)

    def asked(event: int) -> bool:
        raise KeyboardInterrupt

    api.event_query = asked  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        launch.wait()


def test_a_wait_asks_ever_less_often() -> None:
    asked: list[float] = []
    poll(lambda: bool(asked.append(time.monotonic())), timeout=0.05)
    first, last = asked[1] - asked[0], asked[-2] - asked[-3]
    assert first < 0.001 <= last


def test_a_child_of_fork_may_not_use_the_device(driver: GpuDriver) -> None:
    works: list[Callable[[], object]] = [
        lambda: driver.allocate(64),
        lambda: driver.launch(KERNEL, batch(), 5, None),
        driver.stream,
    ]
    assert all("RuntimeFault: this GPU is of process" in in_child(work) for work in works)


def test_a_child_of_fork_neither_waits_nor_frees(driver: GpuDriver, api: Api) -> None:
    api.ended = False
    memory, stream = driver.allocate(64, Place.DEVICE), driver.stream()
    launch = driver.launch(KERNEL, batch(), stream, None)
    api.calls.clear()

    def end() -> object:
        memory.free()
        stream.close()
        return launch.done, api.calls

    assert in_child(end) == "(False, [])"
    assert "this batch is of process" in in_child(launch.wait)
