"""Devices as the host library has them, as ctypes declares them.

It mirrors ``xiokv.h``, where every member and function is documented.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.metadata import version
from typing import Any

from xiokv.runtime import toolchain
from xiokv.runtime.compiled import open_compiled
from xiokv.runtime.drivers.host_library import said
from xiokv.runtime.errors import ArgumentFault, MissingFault, RuntimeFault

#: xiokv_ioctl, the type of ioctl(2), for a stand-in in tests.
IOCTL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)

SQE_BYTES = 64
CQE_BYTES = 16
THREADS_MAX = QUEUES_MAX = 1024

_WHY_BYTES = 1024
# Codes of enum xiokv_call_error and enum xiokv_error, and what they are here.
_FAULTS = {-2: ArgumentFault, -32: ArgumentFault, -36: ArgumentFault, -34: MissingFault}


class Config(ctypes.Structure):
    """struct xiokv_device_config."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("queues", ctypes.c_uint32),
        ("command_timeout_ms", ctypes.c_uint32),
        ("ioctl", ctypes.c_void_p),
        ("mounts", ctypes.c_char_p),
    )


class Rings(ctypes.Structure):
    """struct xiokv_rings."""

    _fields_ = (
        ("sq", ctypes.c_uint64),
        ("cq", ctypes.c_uint64),
        ("sq_depth", ctypes.c_uint32),
        ("cq_depth", ctypes.c_uint32),
    )


class Created(ctypes.Structure):
    """struct xiokv_created."""

    _fields_ = (
        ("sq_doorbell", ctypes.c_void_p),
        ("cq_doorbell", ctypes.c_void_p),
        ("qid", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


class ControllerLimits(ctypes.Structure):
    """struct xiokv_controller_limits."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("key_max", ctypes.c_uint32),
        ("value_max", ctypes.c_uint64),
        ("transfer_max", ctypes.c_uint64),
        ("entries_max", ctypes.c_uint32),
        ("queues_max", ctypes.c_uint32),
        ("page_bytes", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


_WHY = (ctypes.c_char_p, ctypes.c_size_t)


class ControllerFunctions(ctypes.Structure):
    """struct xiokv_controller."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        (
            "limits",
            ctypes.CFUNCTYPE(
                ctypes.c_int,
                ctypes.c_void_p,
                ctypes.c_uint32,
                ctypes.POINTER(ControllerLimits),
                *_WHY,
            ),
        ),
        (
            "create_queue",
            ctypes.CFUNCTYPE(
                ctypes.c_int,
                ctypes.c_void_p,
                ctypes.POINTER(Rings),
                ctypes.POINTER(Created),
                *_WHY,
            ),
        ),
        (
            "delete_queue",
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, *_WHY),
        ),
    )

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function; raise why it refuses."""
        why = ctypes.create_string_buffer(_WHY_BYTES)
        code = getattr(self, function)(self.context, *arguments, why, _WHY_BYTES)
        if code < 0:
            raise fault(code, why.value.decode(errors="replace"))


class Totals(ctypes.Structure):
    """struct xiokv_device_counters."""

    _fields_ = (
        ("commands", ctypes.c_uint64),
        ("completions", ctypes.c_uint64),
        ("failures", ctypes.c_uint64),
        ("last_errno", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
    )


_DEVICE = ctypes.c_void_p
_FUNCTIONS = {
    "open": (
        ctypes.c_int,
        (ctypes.c_char_p, ctypes.POINTER(Config), ctypes.POINTER(ctypes.c_void_p)),
    ),
    "controller": (ctypes.c_int, (_DEVICE, ctypes.POINTER(ControllerFunctions))),
    "nsid": (ctypes.c_int64, (_DEVICE,)),
    "admin": (ctypes.c_int, (_DEVICE, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p)),
    "count": (ctypes.c_int, (_DEVICE, ctypes.POINTER(Totals))),
    "reset": (ctypes.c_int, (_DEVICE,)),
    "stop": (ctypes.c_int, (_DEVICE,)),
    "close": (ctypes.c_int, (_DEVICE,)),
}


@cache
def load() -> ctypes.CDLL:
    """Return the library with its functions declared, compiling it where needed.

    Raises:
        MissingFault: there is no C++ compiler.
        RuntimeFault: the library could not be compiled or loaded.
    """
    recipe = toolchain.capi_recipe(version("xiokv"))
    return open_compiled(recipe, "host library", "xiokv_device_", _FUNCTIONS)


def fault(code: int, text: str) -> RuntimeFault:
    """Return what to raise for a code."""
    return _FAULTS.get(code, RuntimeFault)(text)


def check(code: int) -> int:
    """Raise what a call says that failed; return what it returned else."""
    if code < 0:
        raise fault(code, said())
    return code
