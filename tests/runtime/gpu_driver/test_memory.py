"""The GPU driver allocates, copies, registers and frees memory."""

from __future__ import annotations

import threading

import pytest

from tests.runtime.gpu_fakes import Api
from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.drivers.gpu_registry import Registry
from xiokv.runtime.errors import RuntimeFault

from .conftest import Noting


@pytest.mark.parametrize("place", Place)
def test_memory_is_zeroed_and_begins_on_a_page(driver: GpuDriver, place: Place) -> None:
    memory = driver.allocate(5000, place)
    memory.download()
    assert (memory.address % abi.PAGE_BYTES, memory.size, memory.place) == (0, 5000, place)
    assert not memory.view.any()


def test_memory_on_the_host_is_its_own_view(driver: GpuDriver) -> None:
    memory = driver.allocate(16)
    assert memory.view_address == memory.address == memory.iova == memory.view.ctypes.data


def test_memory_of_the_device_has_a_shadow_that_copies_keep_up_to_date(
    driver: GpuDriver, api: Api
) -> None:
    memory = driver.allocate(64, Place.DEVICE)
    memory.view[:] = 7
    memory.upload(16, 8, stream=5)
    memory.view[:] = 0
    assert api.calls[-1] == ("copy", memory.address + 16, memory.view_address + 16, 8, 5)
    memory.download()
    assert memory.view.tolist() == [0] * 16 + [7] * 8 + [0] * 40


def test_a_copy_without_a_stream_has_ended_at_its_return(driver: GpuDriver, api: Api) -> None:
    memory = driver.allocate(64, Place.DEVICE)
    memory.upload()
    (*_, stream), synchronized = api.calls[-2:]
    assert synchronized == ("stream_synchronize", stream)


def test_memory_of_the_device_takes_no_shadow_before_it_is_asked_for(
    driver: GpuDriver, api: Api
) -> None:
    memory = driver.allocate(64, Place.DEVICE)
    assert "host_alloc" not in api.names()
    memory.free()


@pytest.mark.parametrize("place", Place)
def test_memory_is_freed_once(driver: GpuDriver, api: Api, place: Place) -> None:
    memory = driver.allocate(64, place)
    assert memory.view.size == 64
    memory.free()
    memory.free()
    assert api.in_use == []


def test_memory_on_the_host_stays_while_a_view_of_it_is_left(driver: GpuDriver, api: Api) -> None:
    memory = driver.allocate(64)
    view = memory.view[8:]
    memory.free()
    assert len(api.in_use) == 1
    view[:] = 1
    del view
    assert api.in_use == []


def test_memory_that_nobody_holds_is_not_freed(driver: GpuDriver, api: Api) -> None:
    driver.allocate(64)
    driver.allocate(64, Place.DEVICE)
    assert len(api.in_use) == 2


@pytest.mark.parametrize("shared", [False, True])
def test_the_library_is_told_what_others_write_meanwhile(
    driver: GpuDriver, api: Api, shared: bool
) -> None:
    driver.allocate(64, Place.DEVICE, shared=shared)
    ((_, _, told),) = [call for call in api.calls if call[0] == "device_alloc"]
    assert told is shared


@pytest.mark.parametrize("place", Place)
def test_what_reaches_memory_is_told_of_all_new_memory(
    driver: GpuDriver, api: Api, place: Place
) -> None:
    """Freed memory of the other kind may have been at the same addresses."""
    api.hook = hook = Noting()
    assert driver.dma_hook() is hook
    memory = driver.allocate(64, place)
    assert hook.noted == [(memory.iova, 64, place is Place.DEVICE)]


def test_two_modules_register_the_same_memory_once(api: Api) -> None:
    one, two = (GpuDriver(GpuDevice(api), b"image") for _ in range(2))
    assert one.register(8192, 4096) == two.register(8192, 4096) == 8192
    one.unregister(8192)
    assert api.names().count("host_register") == 1
    assert "host_unregister" not in api.names()
    two.unregister(8192)
    assert api.names().count("host_unregister") == 1


def test_a_finaliser_may_unregister_while_its_thread_registers(api: Api) -> None:
    device, registry = GpuDevice(api), Registry()
    registry.add(device, 8192, 4096)
    register = api.host_register

    def collect(address: int, size: int) -> int:
        registry.remove(device, 8192)
        return register(address, size)

    api.host_register = collect  # type: ignore[method-assign]
    adding = threading.Thread(target=registry.add, args=(device, 16384, 4096), daemon=True)
    adding.start()
    adding.join(10)
    assert api.in_use == [16384]


def test_memory_that_a_failed_device_does_not_take_back_is_let_go(
    driver: GpuDriver, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(address: int) -> None:
        raise RuntimeFault("hipFree: hipErrorLaunchFailure (719)")

    memory = driver.allocate(64, Place.DEVICE)
    api.device_free = refuse  # type: ignore[method-assign]
    memory.free()
    assert caplog.messages == [
        "a device does not take back what it gave: hipFree: hipErrorLaunchFailure (719)"
    ]
