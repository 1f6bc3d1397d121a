"""DLPack: an object that exports its memory in, that memory's address and size out.

The capsule is never marked as used: it is kept, and when it goes it frees what it exports.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

from xiokv.runtime.errors import ArgumentFault

_MAJOR_MAX = 1
_CPU = 1
_ON_HOST = (_CPU, 3, 11)
_READ_ONLY, _COPIED = 1, 2


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


@dataclass(frozen=True, slots=True)
class Exported:
    """Memory that an object exports.

    Attributes:
        address: where it begins.
        shape: elements of each dimension.
        strides: elements from one to the next, or None where they lie in one piece.
        item: bits of an element.
        writable: whether the exporter allows writing, and would see it.
        on_host: whether the CPU reaches it.
        capsule: holding it keeps the memory.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    item: int
    writable: bool
    on_host: bool
    capsule: Any

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * self.item // 8


def export(name: str, given: Any, stream: int | None) -> Exported:
    """Ask an object for its memory.

    Args:
        name: of the argument, for messages.
        given: has ``__dlpack__`` and ``__dlpack_device__``.
        stream: handle of a stream in which the memory will be touched first, where it is a
            device's; the exporter lets that stream wait for its own work.
    """
    on_host = given.__dlpack_device__()[0] in _ON_HOST
    try:
        capsule = _capsule(given, None if on_host else stream)
        return _read(name, capsule, on_host)
    except (BufferError, RuntimeError) as error:
        raise ArgumentFault(f"{name} does not export its memory by DLPack: {error}") from error


def _capsule(given: Any, stream: int | None) -> Any:
    try:
        return given.__dlpack__(stream=stream, max_version=(_MAJOR_MAX, 0))
    except TypeError:  # an exporter of the time before versions
        return given.__dlpack__(stream=stream)


def _read(name: str, capsule: Any, on_host: bool) -> Exported:
    versioned = _pointer(capsule, b"dltensor_versioned")
    if versioned is None:
        plain = _pointer(capsule, b"dltensor")
        if plain is None:
            raise ArgumentFault(f"{name} gives {capsule!r} for __dlpack__(), which is no tensor")
        return _exported(_Tensor.from_address(plain), capsule, on_host, writable=True)
    managed = _Versioned.from_address(versioned)
    if managed.major > _MAJOR_MAX:
        raise ArgumentFault(f"{name} exports DLPack {managed.major}; {_MAJOR_MAX} is understood")
    writable = not managed.flags & (_READ_ONLY | _COPIED)
    return _exported(managed.tensor, capsule, on_host, writable=writable)


def _exported(tensor: _Tensor, capsule: Any, on_host: bool, *, writable: bool) -> Exported:
    dimensions = range(tensor.ndim)
    return Exported(
        address=(tensor.data or 0) + tensor.byte_offset,
        shape=tuple(tensor.shape[i] for i in dimensions),
        strides=tuple(tensor.strides[i] for i in dimensions) if tensor.strides else None,
        item=tensor.bits * tensor.lanes,
        writable=writable,
        on_host=on_host,
        capsule=capsule,
    )


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _pointer(capsule: Any, name: bytes) -> int | None:
    """Return what a capsule of this name holds."""
    return _get_pointer(capsule, name) if _is_valid(capsule, name) else None
