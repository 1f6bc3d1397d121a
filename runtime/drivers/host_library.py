"""The library that runs kernels of the host, as ctypes declares it.

It mirrors ``xiokv.h``, where every function is documented. The library is compiled on first
use into the user's cache.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from xiokv.runtime import toolchain
from xiokv.runtime.compiled import open_compiled
from xiokv.runtime.errors import RuntimeFault

HOST_VERSION = 1

# enum xiokv_call_error
E_HANDLE = -33
E_STREAM = -39
E_TIMEOUT = -40
E_INTERRUPTED = -41

#: xiokv_work
WORK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)

_HANDLE = ctypes.c_void_p
_OUT = ctypes.POINTER(ctypes.c_void_p)
_STATUS = ctypes.c_int
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "version": (ctypes.c_uint32, ()),
    "last_error": (ctypes.c_char_p, ()),
    "library_open": (_STATUS, (ctypes.c_char_p, _OUT)),
    "library_symbol": (ctypes.c_void_p, (_HANDLE, ctypes.c_char_p)),
    "stream_create": (_STATUS, (_OUT,)),
    "stream_submit": (_STATUS, (_HANDLE, WORK, ctypes.c_void_p)),
    "stream_clear_failure": (_STATUS, (_HANDLE,)),
    "stream_abandon": (_STATUS, (_HANDLE,)),
    "streams_settle": (_STATUS, (ctypes.c_int64,)),
    "launch_start": (
        _STATUS,
        (
            *(_HANDLE, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32),
            *(_HANDLE, _OUT),
        ),
    ),
    "launch_wait": (_STATUS, (_HANDLE, ctypes.c_int64)),
    "launch_done": (_STATUS, (_HANDLE,)),
    "launch_times": (
        _STATUS,
        (_HANDLE, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_uint32)),
    ),
    "launch_free": (_STATUS, (_HANDLE,)),
}


@cache
def load() -> ctypes.CDLL:
    """Return the library with its functions declared, compiling it where needed.

    Raises:
        MissingFault: there is no C++ compiler.
        RuntimeFault: the library could not be compiled or loaded.
    """
    recipe = toolchain.capi_recipe(version("xiokv"))
    return open_compiled(recipe, "host library", "xiokv_", _FUNCTIONS)


def said() -> str:
    """Return what the last call of this thread that failed says."""
    return bytes(load().xiokv_last_error()).decode(errors="replace")


def check(code: int) -> None:
    """Raise what a call says that failed."""
    if code < 0:
        raise RuntimeFault(said())


class HostLibrary:
    """A shared library with kernels of the host.

    Args:
        path: of the library, which is loaded at once with all its symbols.
    """

    def __init__(self, path: Path) -> None:
        self._functions = load()
        self._handle = ctypes.c_void_p()
        self._addresses: dict[str, int] = {}
        check(self._functions.xiokv_library_open(os.fsencode(path), ctypes.byref(self._handle)))

    def address(self, name: str) -> int:
        """Return where a symbol is, or 0."""
        if name not in self._addresses:
            found = self._functions.xiokv_library_symbol(self._handle, name.encode())
            self._addresses[name] = found or 0
        return self._addresses[name]
