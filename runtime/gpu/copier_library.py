"""The copier's C interface: its structures, its functions, and its compilation.

They mirror ``copier.h`` and ``copier_cuda.h``, where every member is documented.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.metadata import version
from pathlib import Path

from xiokv.runtime import toolchain
from xiokv.runtime.compiled import open_compiled

_FLAGS = ("-std=c++17", "-O2", "-g", "-fPIC", "-shared", "-pthread")
_UNITS = ("copier.cpp", "copier_channel.cpp", "copier_cuda.cpp", "copier_places.cpp")
_HEADERS = tuple(f"copier{part}.h" for part in ("", "_channel", "_cuda", "_places", "_ring"))


class Config(ctypes.Structure):
    """struct xiokv_copier_config."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("channels", ctypes.c_uint32),
        ("slots", ctypes.c_uint32),
        ("groups", ctypes.c_uint32),
        ("memory", ctypes.c_void_p),
        ("device_memory", ctypes.c_uint64),
        ("lease", ctypes.c_uint64),
        ("term", ctypes.c_uint64),
        ("patience", ctypes.c_uint64),
    )

    def __init__(self, **members: object) -> None:
        super().__init__(struct_size=ctypes.sizeof(self), **members)


class Range(ctypes.Structure):
    """struct xiokv_copier_range."""

    _fields_ = (
        ("first", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("is_device", ctypes.c_uint32),
        ("is_known", ctypes.c_uint32),
    )


class Launch(ctypes.Structure):
    """struct xiokv_copier_launch."""

    _fields_ = (
        *(
            (name, ctypes.c_uint64)
            for name in ("stop", "channels", "channel_bytes", "done", "progress", "pieces", "lease")
        ),
        *((name, ctypes.c_uint32) for name in ("slots", "groups", "number", "reserved")),
    )


Start = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Launch), ctypes.c_uint32)
Locate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(Range))


class Vendor(ctypes.Structure):
    """struct xiokv_copier_vendor."""

    _fields_ = (
        ("context", ctypes.c_void_p),
        ("launch", Start),
        ("locate", Locate),
    )


class Cuda(ctypes.Structure):
    """struct xiokv_copier_cuda."""

    _fields_ = (
        ("cuCtxGetCurrent", ctypes.c_void_p),
        ("cuCtxSetCurrent", ctypes.c_void_p),
        ("cuLaunchKernel", ctypes.c_void_p),
        ("cuPointerGetAttributes", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("lanes", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


_COPIER = ctypes.c_void_p
_COPY = (_COPIER, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)
_FUNCTIONS = {
    "bytes": (ctypes.c_uint64, (ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32)),
    "create": (_COPIER, (ctypes.POINTER(Config), ctypes.POINTER(Vendor))),
    "stop": (None, (_COPIER,)),
    "destroy": (None, (_COPIER,)),
    "launches": (ctypes.c_uint64, (_COPIER,)),
    "wake": (None, (_COPIER,)),
    "note": (None, (_COPIER, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)),
    "forget": (None, (_COPIER,)),
    "read": (ctypes.c_int, _COPY),
    "write": (ctypes.c_int, _COPY),
    "flush": (ctypes.c_int, (_COPIER,)),
    "cuda_vendor": (None, (ctypes.POINTER(Cuda), ctypes.POINTER(Vendor))),
}


@cache
def load() -> ctypes.CDLL:
    """Return the library with its functions declared, compiling it where needed.

    Raises:
        MissingFault: there is no C++ compiler.
        RuntimeFault: the library could not be compiled or loaded.
    """
    sources = toolchain.Sources(Path(__file__).parent, _UNITS, ".", (*_UNITS, *_HEADERS))
    description = {"kind": "copier", "generator": version("xiokv")}
    recipe = toolchain.library_recipe("xiokv_copier.so", sources, _FLAGS, description)
    return open_compiled(recipe, "copier", "xiokv_copier_", _FUNCTIONS)
