"""A memory mode says which parts of a queue lie in a GPU's memory."""

from __future__ import annotations

from ctypes import sizeof
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.memory_mode import MemoryMode, memory_modes
from xiokv.runtime.queues import QueuePair, QueueSet

from .gpu_fakes import Api
from .queue_fakes import Controller


@pytest.fixture
def driver() -> GpuDriver:
    return GpuDriver(GpuDevice(Api()), b"image")


def test_the_bits_are_those_of_rocm_xio() -> None:
    assert {mode.name: int(mode) for mode in MemoryMode} == {
        "SQ": 1,
        "CQ": 2,
        "DOORBELL": 4,
        "DATA": 8,
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, [0, 0]),
        (MemoryMode.SQ, [1, 1]),
        ([1, 2], [1, 2]),
        ((15, 0), [15, 0]),
        (np.int8(8), [8, 8]),
    ],
)
def test_a_mode_is_for_all_queues_or_for_each(given: Any, expected: list[int]) -> None:
    assert memory_modes(given, 2) == tuple(expected)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (16, "memory_mode 16: 0 to 15"),
        (-1, "memory_mode -1"),
        ([1], "names 1 modes; 2 queues"),
        ("3", "allowed is an integer"),
        (1.0, "allowed is an integer"),
    ],
)
def test_what_is_no_mode_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        memory_modes(given, len(given) if isinstance(given, str) else 2)


@pytest.mark.parametrize("mode", range(16))
def test_rings_lie_where_the_mode_says(driver: GpuDriver, mode: int) -> None:
    controller = Controller()
    pair = QueuePair.create(
        controller, driver, depth=8, max_transfer=4096, memory_mode=MemoryMode(mode)
    )
    rings = controller.rings[1]
    kinds = [driver._device.api.pointer(at).kind.name for at in (rings.sq_iova, rings.cq_iova)]
    assert kinds == ["DEVICE" if mode & bit else "PINNED" for bit in (1, 2)]
    assert rings.memory_mode == mode
    pair.confirm_deleted()


def test_the_host_has_all_of_it(controller: Controller, module: Any) -> None:
    pair = QueuePair.create(controller, module.driver, depth=8, memory_mode=MemoryMode(15))
    assert controller.rings[1].memory_mode == 0
    pair.confirm_deleted()


def test_records_and_tables_lie_in_the_device_and_python_reads_a_mirror(driver: GpuDriver) -> None:
    controller = Controller()
    queues = QueueSet.create(controller, driver, 2, depth=8, max_transfer=4096)
    array = queues._array
    assert array.place is Place.DEVICE
    for number, pair in enumerate(queues):
        assert pair.record.mirror == array.view_address + number * sizeof(abi.Queue)
        assert driver._device.api.pointer(pair.record.tables).kind.name == "DEVICE"
    stale = array.view.copy()
    array.download()
    assert array.view.tobytes() == stale.tobytes()
    queues.close()
    assert driver._device.api.in_use == []


def test_the_controller_is_connected_before_each_queue(driver: GpuDriver) -> None:
    controller = Controller()
    with QueueSet.create(controller, driver, 2, depth=8, max_transfer=4096):
        assert controller.connected == [driver, driver]


def test_a_controller_registers_its_doorbells_once_a_driver(driver: GpuDriver) -> None:
    with Emulator() as controller:
        QueueSet.create(controller, driver, 2, depth=8, max_transfer=4096).close()
        names = driver._device.api.names()
        registers, size = controller.registers, controller.registers_size
    assert names.count("host_register") == 1
    assert ("host_register", registers, size) in driver._device.api.calls
    del controller
    assert driver._device.api.names()[-1] == "host_unregister"


def test_doorbells_outside_its_registers_are_refused_by_the_controller(driver: GpuDriver) -> None:
    with Emulator() as controller, pytest.raises(ArgumentFault, match=r"DOORBELL in .*Relay"):
        QueuePair.create(controller, driver, depth=8, memory_mode=MemoryMode.DOORBELL)
