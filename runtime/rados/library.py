"""The library libxiokv_rados: how it is made, and its functions as ctypes declares them.

They mirror ``xiokv_rados.h``, where every member is documented. It is compiled when a store is
first opened, since it needs librados, which nothing else does.
"""

from __future__ import annotations

import ctypes
import math
from functools import cache
from importlib.metadata import version
from typing import Any

from xiokv.runtime import toolchain
from xiokv.runtime.compiled import open_compiled
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.rados.url import RadosUrl

_READ_ONLY = 1 << 0
_ERROR_BYTES = 512
# Between two looks at whether a store is open; signals are taken at each.
_LOOK_MS = 50


class Config(ctypes.Structure):
    """struct xiokv_rados_config."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("timeout_ms", ctypes.c_uint32),
        ("connect_timeout_ms", ctypes.c_uint32),
        ("pool", ctypes.c_char_p),
        ("name_space", ctypes.c_char_p),
        ("user", ctypes.c_char_p),
        ("cluster", ctypes.c_char_p),
        ("conf", ctypes.c_char_p),
        ("keyring", ctypes.c_char_p),
    )


_SAID = (ctypes.c_char_p, ctypes.c_size_t)
_FUNCTIONS = {
    "open": (ctypes.c_void_p, (ctypes.POINTER(Config), *_SAID)),
    "begin": (ctypes.c_void_p, (ctypes.POINTER(Config), *_SAID)),
    "wait": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint32)),
    "end": (ctypes.c_void_p, (ctypes.c_void_p, *_SAID)),
    "give_up": (None, (ctypes.c_void_p,)),
}


@cache
def load() -> ctypes.CDLL:
    """Return the library with its functions declared, compiling it where needed.

    Raises:
        MissingFault: there is no C++ compiler, no librados, or no header of it.
        RuntimeFault: the library could not be compiled or loaded.
    """
    recipe = toolchain.rados_recipe(version("xiokv"))
    try:
        return open_compiled(recipe, "library of the Ceph store", "xiokv_rados_", _FUNCTIONS)
    except RuntimeFault as fault:
        if missing := toolchain.lack_of_librados(fault):
            raise missing from fault
        raise


def open_store(place: RadosUrl) -> int:
    """Connect to a cluster; return a store for a controller to be made on.

    Raises:
        MissingFault: as `load` does.
        RuntimeFault: the cluster cannot be reached, does not know the user, or has no such pool.
    """
    config = Config(
        struct_size=ctypes.sizeof(Config),
        flags=_READ_ONLY if place.read_only else 0,
        timeout_ms=_milliseconds(place.timeout),
        connect_timeout_ms=_milliseconds(place.connect_timeout),
        pool=place.pool.encode(),
        name_space=place.name_space.encode(),
        user=place.entity.encode(),
        cluster=place.cluster.encode(),
        conf=place.conf.encode(),
        keyring=place.keyring.encode(),
    )
    error = ctypes.create_string_buffer(_ERROR_BYTES)
    handle = _opened(load(), config, error)
    if not handle:
        reason = error.value.decode(errors="replace")
        raise RuntimeFault(f"store in {place.title}: {reason}")
    return int(handle)


def _opened(functions: ctypes.CDLL, config: Config, error: Any) -> int | None:
    """Return a store, or nothing and what `error` says; what is raised meanwhile gives it up."""
    opening = functions.xiokv_rados_begin(config, error, len(error))
    if not opening:
        return None
    try:
        while not functions.xiokv_rados_wait(opening, _LOOK_MS):
            pass
    except BaseException:
        functions.xiokv_rados_give_up(opening)
        raise
    store: int | None = functions.xiokv_rados_end(opening, error, len(error))
    return store


def _milliseconds(time: float) -> int:
    return math.ceil(time * 1000)
