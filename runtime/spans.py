"""Memory that a caller gives, whichever library's: an object in, where its bytes lie out.

NumPy arrays and what has Python's buffer protocol lie on the host; what has
``__cuda_array_interface__`` or DLPack, on a device or on the host.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime import dlpack
from xiokv.runtime.buffer import Buffer
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import ArgumentFault


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes in one piece.

    Attributes:
        address: where they begin; 0 where there are none.
        size: how many.
        keep: holding it keeps them alive.
        writable: whether they may be written.
        on_host: whether they are said to be on the host.
        ready: handle of a stream whose present work has to end before they are touched.
    """

    address: int
    size: int
    keep: Any = None
    writable: bool = True
    on_host: bool = True
    ready: int | None = None

    @property
    def view(self) -> npt.NDArray[np.uint8]:
        """The bytes, which have to be on the host."""
        return np.ctypeslib.as_array((ctypes.c_uint8 * self.size).from_address(self.address))


NO_SPAN = Span(0, 0)

_NAMES_IN_FORMAT = re.compile(":[^:]*:")


def span_of(name: str, given: Any, exchange: int | None = None) -> Span:
    """Return where the bytes of a buffer lie.

    Args:
        name: of the argument, for messages.
        given: the buffer.
        exchange: handle of a stream that exporters of DLPack may let wait.

    Raises:
        ArgumentFault: it is no buffer of plain bytes in one piece.
    """
    if isinstance(given, Buffer):
        return Span(given.iova, given.nbytes, given, on_host=given.place is Place.HOST)
    if isinstance(given, np.ndarray):
        return _of_array(name, given)
    try:
        view = memoryview(given)
    except TypeError:
        return _of_another_library(name, given, exchange)
    check_format(name, view.format)
    if not view.c_contiguous:
        raise ArgumentFault(f"{name} is not in one piece; bytes() makes a copy that is")
    return _of_bytes(np.frombuffer(view.cast("B"), np.uint8)) if view.nbytes else NO_SPAN


def check_format(name: str, items: str) -> None:
    """Refuse a buffer of Python objects, by the format that it gives for its items."""
    if "O" in _NAMES_IN_FORMAT.sub("", items):
        raise ArgumentFault(f"{name} has items of format {items!r}: pointers are no values")


def _of_array(name: str, array: npt.NDArray[Any]) -> Span:
    _check_plain(name, array.dtype)
    if not array.flags.c_contiguous:
        raise ArgumentFault(
            f"{name} is not in one piece (shape {array.shape}, strides {array.strides});"
            " numpy.ascontiguousarray() makes a copy that is"
        )
    return _of_bytes(array.reshape(-1).view(np.uint8))


def _of_bytes(array: npt.NDArray[np.uint8]) -> Span:
    return Span(array.ctypes.data, array.size, array, bool(array.flags.writeable))


def _of_another_library(name: str, given: Any, exchange: int | None) -> Span:
    # DLPack first: PyTorch says nothing of its streams in the other one.
    if hasattr(given, "__dlpack__") and hasattr(given, "__dlpack_device__"):
        return _of_dlpack(name, given, exchange)
    interface = getattr(given, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_interface(name, given, interface)
    raise ArgumentFault(
        f"{name} is a {type(given).__name__}, which gives no buffer; NumPy arrays, bytes,"
        " bytearray and memoryview do, and what has __cuda_array_interface__ or DLPack, as"
        " PyTorch's tensors have"
    )


def _of_interface(name: str, given: Any, interface: dict[str, Any]) -> Span:
    """Read the CUDA array interface, up to version 3; AMD's libraries have it, too."""
    try:
        kind = np.dtype(str(interface["typestr"]))
        shape = tuple(map(int, interface["shape"]))
        # Strides of bytes; None stands for one piece.
        given_strides = interface.get("strides")
        strides = [stride / kind.itemsize for stride in given_strides or ()]
        if given_strides is not None and len(strides) != len(shape):
            raise ValueError(f"{len(strides)} strides for {len(shape)} dimensions")
        address, read_only = interface["data"]
        address = int(address or 0)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ArgumentFault(
            f"{name} has a __cuda_array_interface__ that cannot be read: {error!r}"
        ) from error
    _check_plain(name, kind)
    if interface.get("mask") is not None:
        raise ArgumentFault(f"{name} has a mask: values are plain bytes")
    if given_strides is not None:
        _check_one_piece(name, shape, strides)
    size = math.prod(shape) * kind.itemsize
    ready = interface.get("stream")
    return Span(address, size, given, not read_only, on_host=False, ready=ready)


def _of_dlpack(name: str, given: Any, exchange: int | None) -> Span:
    tensor = dlpack.export(name, given, exchange)
    if tensor.strides is not None:
        _check_one_piece(name, tensor.shape, tensor.strides)
    return Span(
        tensor.address,
        tensor.size,
        tensor.capsule,
        tensor.writable,
        tensor.on_host,
        None if tensor.on_host else exchange,
    )


def _check_plain(name: str, kind: np.dtype[Any]) -> None:
    if kind.hasobject:
        raise ArgumentFault(f"{name} has dtype {kind}: pointers are no values")


def _check_one_piece(name: str, shape: Sequence[int], strides: Sequence[float]) -> None:
    """Refuse gaps; `strides` count elements, and those of one element alone count nothing."""
    step = 1
    for length, stride in reversed(list(zip(shape, strides, strict=True))):
        if length > 1 and stride != step and 0 not in shape:
            raise ArgumentFault(
                f"{name} is not in one piece (shape {tuple(shape)}, strides {tuple(strides)}"
                " elements); .contiguous() makes a copy that is"
            )
        step *= length
