"""A GPU driver on a vendor's library that takes notes."""

from __future__ import annotations

import pytest

from tests.runtime.gpu_fakes import Api
from xiokv.runtime import abi
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.emulator.library import DmaHook

KERNEL = "xiokv_batch_store"


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def driver(api: Api) -> GpuDriver:
    driver = GpuDriver(GpuDevice(api), b"image")
    api.calls.clear()
    return driver


def batch(queues: int = 1) -> abi.Batch:
    return abi.Batch(queue_count=queues, count=1)


class Noting(DmaHook):
    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[int, int, bool]] = []
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1

    def note(self, address: int, size: int, is_device: bool) -> None:
        self.noted.append((address, size, is_device))
