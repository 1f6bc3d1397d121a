"""The GPU driver takes streams, its own and other libraries'."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.gpu_fakes import Api
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.errors import ArgumentFault, RuntimeFault

from .conftest import KERNEL, batch


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
