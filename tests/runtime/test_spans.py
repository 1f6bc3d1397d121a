"""Memory of other libraries is found where it lies; what is not bytes in one piece is refused."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.buffer import Buffer
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.spans import Span, span_of

from .gpu_fakes import Api

AT = 0x7F0000001000
CUDA, CPU, ROCM = 2, 1, 10


class Array:
    """An array of a GPU library, as the CUDA array interface shows it."""

    def __init__(self, **changes: Any) -> None:
        plain = {"shape": (4, 8), "typestr": "<f2", "data": (AT, False), "version": 3}
        self.__cuda_array_interface__ = {**plain, **changes}


class Tensor:
    """A tensor that exports a NumPy array's memory as if it were a device's."""

    def __init__(self, array: Any, device: int = CPU, *, versions: bool = True) -> None:
        self.array = array
        self.device = device
        self.versions = versions
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        if options and not self.versions:
            raise TypeError("unexpected keyword argument")
        self.streams.append(stream)
        return self.array.__dlpack__(**options)


# Where the bytes lie.


def test_the_array_interface_says_where_the_bytes_lie() -> None:
    given = Array()
    assert span_of("out", given) == Span(AT, 64, given, writable=True, on_host=False)


@pytest.mark.parametrize(
    ("changes", "member", "expected"),
    [
        ({"data": (AT, True)}, "writable", False),
        ({"stream": 7}, "ready", 7),
        ({"stream": None}, "ready", None),
        ({"shape": ()}, "size", 2),
        ({"shape": (3, 0)}, "size", 0),
        ({"typestr": "|u1"}, "size", 32),
        ({"strides": (16, 2)}, "size", 64),
        ({"shape": (1, 8), "strides": (99, 2)}, "size", 16),
    ],
    ids=str,
)
def test_the_array_interface_is_read(changes: dict[str, Any], member: str, expected: Any) -> None:
    assert getattr(span_of("out", Array(**changes)), member) == expected


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"strides": (32, 2)}, r"out is not in one piece \(shape \(4, 8\)"),
        ({"strides": (2, 8)}, "out is not in one piece"),
        ({"strides": (16, -2)}, "out is not in one piece"),
        ({"mask": True}, "out has a mask"),
    ],
    ids=str,
)
def test_an_array_that_is_not_in_one_piece_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        span_of("out", Array(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"typestr": None},
        {"typestr": "zz"},
        {"typestr": "|V0", "strides": (0, 0)},
        {"shape": 4},
        {"shape": ("a",)},
        {"data": AT},
        {"data": ("a", False)},
        {"strides": (2,)},
        {"strides": ("a", "b")},
    ],
    ids=str,
)
def test_an_array_interface_that_is_none_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ArgumentFault, match="out has a __cuda_array_interface__ that cannot be"):
        span_of("out", Array(**changes))


def test_an_array_of_pointers_is_refused() -> None:
    with pytest.raises(ArgumentFault, match="out has dtype object: pointers are no values"):
        span_of("out", Array(typestr="|O"))


@pytest.mark.parametrize("versions", [True, False])
def test_dlpack_says_where_the_bytes_lie(versions: bool) -> None:
    array = np.arange(12, dtype="<u2").reshape(3, 4)
    span = span_of("values", Tensor(array[1:], versions=versions))
    assert (span.address, span.size) == (array.ctypes.data + 8, 16)
    assert (span.on_host, span.ready) == (True, None)
    assert bytes(span.view) == array[1:].tobytes()


@pytest.mark.parametrize("device", [CUDA, ROCM])
def test_an_exporter_orders_its_work_before_the_stream_that_we_follow(device: int) -> None:
    tensor = Tensor(np.zeros(8, np.uint8), device)
    span = span_of("out", tensor, exchange=33)
    assert (tensor.streams, span.ready, span.on_host) == ([33], 33, False)


def test_an_exporter_on_the_host_is_given_no_stream() -> None:
    tensor = Tensor(np.zeros(8, np.uint8))
    span_of("out", tensor, exchange=33)
    assert tensor.streams == [None]


def test_dlpack_goes_before_the_array_interface_which_may_know_no_streams() -> None:
    class Both(Tensor, Array):
        def __init__(self) -> None:
            Tensor.__init__(self, np.zeros(8, np.uint8), CUDA)
            Array.__init__(self)

    assert span_of("out", Both(), exchange=33).ready == 33


def test_exported_memory_lives_as_long_as_its_span() -> None:
    tensor = Tensor(np.arange(1 << 16, dtype="<u4"))
    expected = tensor.array.tobytes()
    span = span_of("values", tensor)
    del tensor
    gc.collect()
    assert bytes(span.view) == expected


def test_memory_that_an_exporter_calls_read_only_is_not_writable() -> None:
    array = np.zeros(8, np.uint8)
    array.flags.writeable = False
    spans: list[Span] = []
    with suppress(ArgumentFault):  # a NumPy without versions exports no such array
        spans.append(span_of("out", Tensor(array)))
    assert not any(span.writable for span in spans)


def test_a_tensor_that_is_not_in_one_piece_is_refused() -> None:
    with pytest.raises(ArgumentFault, match=r"not in one piece .*contiguous\(\)"):
        span_of("out", Tensor(np.zeros((4, 8), np.uint8)[:, :4]))


def refuse(**options: Any) -> Any:
    raise RuntimeError("it requires grad")


@pytest.mark.parametrize(
    ("export", "said"),
    [(refuse, "by DLPack: it requires grad"), (lambda **options: 7, "gives 7 for __dlpack__")],
)
def test_what_an_exporter_refuses_is_told(export: Callable[..., Any], said: str) -> None:
    tensor = Tensor(np.zeros(8, np.uint8))
    tensor.__class__ = type("Odd", (Tensor,), {"__dlpack__": lambda self, **o: export(**o)})
    with pytest.raises(ArgumentFault, match=said):
        span_of("values", tensor)


# The module's own buffers.


@pytest.fixture
def driver() -> GpuDriver:
    return GpuDriver(GpuDevice(Api()), b"image")


@pytest.mark.parametrize("place", Place)
def test_a_buffer_is_used_where_it_lies(driver: GpuDriver, place: Place) -> None:
    buffer = Buffer(driver.allocate(100, place))
    span = span_of("out", buffer)
    assert (span.address, span.size, span.on_host) == (buffer.iova, 100, place is Place.HOST)


def test_a_buffer_in_a_gpu_is_an_array_to_other_libraries(driver: GpuDriver) -> None:
    buffer = Buffer(driver.allocate(100, Place.DEVICE))
    shown = buffer.__cuda_array_interface__
    assert (shown["data"], shown["shape"], shown["typestr"]) == (
        (buffer.iova, False),
        (100,),
        "|u1",
    )


def test_a_buffer_on_the_host_is_no_array_in_a_gpu(driver: GpuDriver) -> None:
    assert not hasattr(Buffer(driver.allocate(100)), "__cuda_array_interface__")


def test_bytes_of_a_gpu_are_copied_only_when_asked(driver: GpuDriver) -> None:
    buffer = Buffer(driver.allocate(4, Place.DEVICE))
    buffer.view[:] = [1, 2, 3, 4]
    buffer.upload(1, 2)
    buffer.view[:] = 9
    assert buffer.view.tolist() == [9] * 4
    buffer.download()
    assert buffer.view.tolist() == [0, 2, 3, 0]


def test_a_buffer_that_nobody_holds_is_freed() -> None:
    api = Api()
    driver = GpuDriver(GpuDevice(api), b"image")
    span = span_of("out", Buffer(driver.allocate(100, Place.DEVICE)))
    assert len(api.in_use) == 1
    del span
    assert api.in_use == []


# What a GPU's controller reaches.


def test_page_locked_memory_is_reached_and_pageable_is_not(driver: GpuDriver) -> None:
    pinned = driver.allocate(64)
    assert driver.reaches("out", span_of("out", pinned.view))
    assert not driver.reaches("out", span_of("out", np.zeros(64, np.uint8)))


def test_memory_that_is_page_locked_in_part_is_not_reached(driver: GpuDriver) -> None:
    pages = np.zeros(8192, np.uint8)
    driver.register(pages.ctypes.data, 4096)
    assert driver.reaches("out", span_of("out", pages[:4096]))
    assert not driver.reaches("out", span_of("out", pages))


def test_memory_of_another_device_is_refused() -> None:
    api = Api(devices=2)
    one, two = (GpuDriver(GpuDevice(api, number), b"image") for number in range(2))
    buffer = Buffer(one.allocate(64, Place.DEVICE))
    with pytest.raises(ArgumentFault, match="out is on device 0, the module on device 1"):
        two.reaches("out", span_of("out", buffer))


def test_managed_memory_is_refused() -> None:
    api = Api()
    driver = GpuDriver(GpuDevice(api), b"image")
    with pytest.raises(ArgumentFault, match="managed memory, whose pages move"):
        driver.reaches("out", span_of("out", Array(data=(api.manage(64), False))))


def test_memory_of_another_vendor_is_refused(driver: GpuDriver) -> None:
    with pytest.raises(ArgumentFault, match="memory that hip disowns"):
        driver.reaches("out", span_of("out", Array()))


def test_the_host_takes_no_memory_of_a_gpu(module: Any) -> None:
    with pytest.raises(ArgumentFault, match="out is memory of a GPU, and the module runs on"):
        module.driver.reaches("out", span_of("out", Array()))
