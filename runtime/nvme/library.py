"""The passthrough controller's C interface, and its compilation.

It mirrors ``passthrough.h``, where every member is documented. The library is compiled on
first use into the user's cache.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.metadata import version
from pathlib import Path

from xiokv.runtime import toolchain
from xiokv.runtime.compiled import open_compiled

SQE_BYTES = 64
CQE_BYTES = 16
THREADS_MAX = QUEUES_MAX = 1024

_FLAGS = ("-std=c++17", "-O2", "-g", "-fPIC", "-shared", "-pthread")
_UNITS = ("controller.cpp", "device.cpp", "queue.cpp", "passthrough.cpp")
_SHARED_UNITS = ("../emulator/dma.cpp", "../emulator/prp.cpp")


class Config(ctypes.Structure):
    """struct xiokv_pass_config."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("fd", ctypes.c_int32),
        ("nsid", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("queues", ctypes.c_uint32),
        ("timeout_ms", ctypes.c_uint32),
        ("ioctl", ctypes.c_void_p),
    )


class Queue(ctypes.Structure):
    """struct xiokv_pass_queue."""

    _fields_ = (
        ("sq", ctypes.c_uint64),
        ("cq", ctypes.c_uint64),
        ("qid", ctypes.c_uint32),
        ("sq_depth", ctypes.c_uint32),
        ("cq_depth", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


class Totals(ctypes.Structure):
    """struct xiokv_pass_counters."""

    _fields_ = (
        ("commands", ctypes.c_uint64),
        ("completions", ctypes.c_uint64),
        ("failures", ctypes.c_uint64),
        ("last_errno", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
    )


_PASS = ctypes.c_void_p
_FUNCTIONS = {
    "create": (_PASS, (ctypes.POINTER(Config), ctypes.c_char_p, ctypes.c_size_t)),
    "stop": (None, (_PASS,)),
    "destroy": (None, (_PASS,)),
    "doorbells": (ctypes.c_uint64, (_PASS,)),
    "doorbells_size": (ctypes.c_uint64, (_PASS,)),
    "create_queue": (ctypes.c_int, (_PASS, ctypes.POINTER(Queue))),
    "delete_queue": (ctypes.c_int, (_PASS, ctypes.c_uint32)),
    "admin": (ctypes.c_int, (_PASS, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p)),
    "counters": (None, (_PASS, ctypes.POINTER(Totals))),
}


def recipe() -> toolchain.Recipe:
    """Return how the library is made."""
    root = Path(__file__).parent
    headers = [
        f"{folder}{path.name}"
        for folder in ("", "../emulator/")
        for path in sorted((root / folder).glob("*.h"))
    ]
    units = (*_UNITS, *_SHARED_UNITS)
    sources = toolchain.Sources(root, units, ".", (*units, *headers))
    description = {"kind": "passthrough controller", "generator": version("xiokv")}
    return toolchain.library_recipe("xiokv_passthrough.so", sources, _FLAGS, description)


@cache
def load() -> ctypes.CDLL:
    """Return the library with its functions declared, compiling it where needed.

    Raises:
        MissingFault: there is no C++ compiler.
        RuntimeFault: the library could not be compiled or loaded.
    """
    return open_compiled(recipe(), "passthrough controller", "xiokv_pass_", _FUNCTIONS)
