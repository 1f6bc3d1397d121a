"""The GPU driver asks the vendor's library for what it needs, in the right order."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice, poll
from xiokv.runtime.drivers.gpu_registry import Registry
from xiokv.runtime.drivers.side_kernel import GpuSideKernel
from xiokv.runtime.emulator.library import DmaHook
from xiokv.runtime.errors import ArgumentFault, ExitCode, LostFault, MissingFault, RuntimeFault

from .forking import in_child
from .gpu_fakes import SPEC, Api, attempt

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


# Modules.


def test_identity_is_read_from_inside_the_module(driver: GpuDriver) -> None:
    assert driver.module_abi() == (abi.VERSION, abi.layout_hash())
    assert driver.module_spec() == SPEC


def test_symbols_that_are_neither_kernel_nor_variable_are_missing(driver: GpuDriver) -> None:
    assert driver.missing([KERNEL, "xiokv_module_abi", "other"]) == ["other"]


def test_a_number_past_the_devices_is_missing(api: Api) -> None:
    with pytest.raises(MissingFault, match="no device 1: hip has 1") as caught:
        GpuDevice(api, 1)
    assert caught.value.exit_code is ExitCode.MISSING


def test_a_module_that_nobody_holds_is_unloaded_and_its_device_closed(api: Api) -> None:
    GpuDriver(GpuDevice(api), b"image")
    assert "unload" in api.names()
    assert api.is_empty


def test_a_launch_that_runs_holds_its_module(api: Api) -> None:
    api.ended = False
    launch = GpuDriver(GpuDevice(api), b"image").launch(KERNEL, batch(), 5, None)
    assert "unload" not in api.names()
    api.ended = True
    assert launch.wait()
    del launch


class Driver(GpuDriver):
    def __init__(self, api: Api) -> None:
        super().__init__(GpuDevice(api), b"image")


def side_kernel(api: Api, file: Path, entry: str = KERNEL) -> GpuSideKernel:
    return GpuSideKernel(GpuDevice(api), file, entry)


def side_launch(api: Api, file: Path) -> None:
    with closing(side_kernel(api, file)) as kernel:
        kernel.launch(abi.Batch(), 1)()


@pytest.mark.parametrize(
    "make",
    [
        lambda api, file: GpuDevice(api),
        lambda api, file: Driver(api),
        lambda api, file: Driver(api).allocate(64, Place.DEVICE),
        lambda api, file: Driver(api).stream(),
        side_kernel,
        side_launch,
    ],
    ids=["device", "driver", "memory", "stream", "side kernel", "side launch"],
)
def test_what_could_not_be_made_leaves_nothing_behind(
    api: Api, tmp_path: Path, make: Callable[[Api, Path], object]
) -> None:
    """Each call of the library is refused in turn, until all succeed."""
    image = tmp_path / "image"
    image.write_bytes(b"image")
    for granted in range(100):
        api.granted = granted
        if attempt(lambda: make(api, image)):
            return
        assert (granted, api.is_empty) == (granted, True)
    pytest.fail("it is never made")


def test_a_side_kernel_gives_everything_back(api: Api, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"image")
    with pytest.raises(RuntimeFault, match="no kernel other"):
        side_kernel(api, image, "other")
    kernel = side_kernel(api, image)
    kernel.launch(abi.Batch(), 1)()
    kernel.close()
    kernel.close()
    del kernel
    assert api.is_empty


# Memory.


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


class Noting(DmaHook):
    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[int, int, bool]] = []
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1

    def note(self, address: int, size: int, is_device: bool) -> None:
        self.noted.append((address, size, is_device))


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


# Launches.


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


def test_seconds_are_ticks_of_the_device(driver: GpuDriver) -> None:
    assert driver.ticks(0.5) == 50_000_000
    assert driver.ticks(1e30) == 2**63 - 1


# Threads and processes.


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


# Streams.


def test_a_stream_waits_before_it_is_destroyed(driver: GpuDriver, api: Api) -> None:
    with driver.stream() as stream:
        handle = stream.handle
        api.calls.clear()
    assert api.names() == ["event_create", "event_record", "event_destroy", "stream_destroy"]
    assert api.calls[-1] == ("stream_destroy", handle)
    stream.close()
    with pytest.raises(RuntimeFault, match="it is closed"):
        driver.launch(KERNEL, batch(), stream, None)


class Torch:
    cuda_stream = 77


class Protocol:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 77


class OldProtocol:
    __cuda_stream__ = (0, 77)


class ihipStream_t:
    def __int__(self) -> int:
        return 77


@pytest.mark.parametrize(
    "stream",
    [77, Torch(), Protocol(), OldProtocol(), ihipStream_t()],
    ids=lambda s: type(s).__name__,
)
def test_streams_of_other_libraries_are_taken(driver: GpuDriver, api: Api, stream: Any) -> None:
    driver.launch(KERNEL, batch(), stream, None)
    assert ("launch", KERNEL, 1, 256, 77) in api.calls


def test_the_default_stream_is_a_stream(driver: GpuDriver, api: Api) -> None:
    driver.launch(KERNEL, batch(), 0, None)
    assert ("launch", KERNEL, 1, 256, 0) in api.calls


@pytest.mark.parametrize("stream", [True, -1, "0", 7.0, b"", None], ids=repr)
def test_what_is_no_stream_is_refused(driver: GpuDriver, stream: Any) -> None:
    with pytest.raises(ArgumentFault, match="hip driver takes a stream of its own"):
        driver.check_stream(stream)


def test_a_stream_of_another_device_is_refused() -> None:
    api = Api(devices=2)
    one, two = (GpuDriver(GpuDevice(api, number), b"image") for number in range(2))
    with pytest.raises(ArgumentFault, match="one of hip device 0, the module is on hip device 1"):
        two.check_stream(one.stream())


def test_another_librarys_work_goes_before_ours(driver: GpuDriver, api: Api) -> None:
    driver.follow(5, 9)
    (_, event), *calls = api.calls
    assert calls == [
        ("event_record", event, 9),
        ("stream_wait", 5, event),
        ("event_destroy", event),
    ]


def test_a_stream_does_not_wait_for_itself(driver: GpuDriver, api: Api) -> None:
    driver.follow(5, 5)
    assert api.calls == []
