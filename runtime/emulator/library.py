"""The controller's C interface: its structures and its functions.

They mirror ``xiokv_emulator.h``, where every member is documented.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.metadata import version

from xiokv.runtime import toolchain
from xiokv.runtime.compiled import open_compiled
from xiokv.runtime.errors import ArgumentFault

SQE_BYTES = 64
CQE_BYTES = 16
THREADS_MAX = 64

#: Of `DmaHook.flags`: the hook reaches rings, too.
DMA_RINGS = 1

_ERROR_BYTES = 256


class _Sized(ctypes.Structure):
    """A structure that states its own size in its first member."""

    def __init__(self, **members: object) -> None:
        super().__init__(struct_size=ctypes.sizeof(self), **members)


class Config(_Sized):
    """struct xiokv_emu_config."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("queues", ctypes.c_uint32),
        ("mqes", ctypes.c_uint32),
        ("mdts", ctypes.c_uint32),
        ("dstrd", ctypes.c_uint32),
        ("key_max", ctypes.c_uint32),
        ("value_max", ctypes.c_uint32),
        ("max_keys", ctypes.c_uint32),
        ("capacity", ctypes.c_uint64),
        ("active_format", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("cpus", ctypes.c_uint16 * THREADS_MAX),
    )


class Fault(_Sized):
    """struct xiokv_emu_fault."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("qid", ctypes.c_uint32),
        ("probability", ctypes.c_uint32),
        ("nth", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("amount", ctypes.c_uint64),
        ("status", ctypes.c_uint16),
        ("opcode", ctypes.c_uint8),
        ("key_length", ctypes.c_uint8),
        ("key", ctypes.c_uint8 * 16),
        ("reserved", ctypes.c_uint32),
    )


class TraceEntry(ctypes.Structure):
    """struct xiokv_emu_trace."""

    _fields_ = (
        ("nanoseconds", ctypes.c_uint64),
        ("kind", ctypes.c_uint32),
        ("qid", ctypes.c_uint32),
        ("bytes", ctypes.c_uint8 * SQE_BYTES),
    )


class Totals(ctypes.Structure):
    """struct xiokv_emu_counters."""

    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            "commands",
            "completions",
            "bytes_in",
            "bytes_out",
            "doorbells",
            "invalid_doorbells",
            "held_completions",
            "keys",
            "bytes_stored",
            "trace_lost",
        )
    )


DmaRead = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64
)
DmaWrite = DmaRead
DmaFlush = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class DmaHook(ctypes.Structure):
    """struct xiokv_emu_dma; one that asks what memory is may be told, too."""

    _fields_ = (
        ("context", ctypes.c_void_p),
        ("read", DmaRead),
        ("write", DmaWrite),
        ("flush", DmaFlush),
        ("flags", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )

    def wake(self) -> None:
        """Take note that commands are under way; the device is the calling thread's."""

    def note(self, address: int, size: int, is_device: bool) -> None:
        """Take note of whether memory is the device's."""

    def forget(self) -> None:
        """Forget what memory is: some may have been freed."""


_EMU = ctypes.c_void_p
_FUNCTIONS = {
    "create": (_EMU, (ctypes.POINTER(Config), ctypes.c_char_p, ctypes.c_size_t)),
    "create_on": (
        _EMU,
        (ctypes.POINTER(Config), ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t),
    ),
    "store_lend": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)),
    "store_take_back": (None, (ctypes.c_void_p, ctypes.c_void_p)),
    "store_close": (None, (ctypes.c_void_p,)),
    "destroy": (None, (_EMU,)),
    "registers": (ctypes.c_void_p, (_EMU,)),
    "registers_size": (ctypes.c_uint64, (_EMU,)),
    "admin": (ctypes.c_int, (_EMU, ctypes.c_char_p, ctypes.c_char_p)),
    "start": (ctypes.c_int, (_EMU,)),
    "stop": (None, (_EMU,)),
    "step": (ctypes.c_uint32, (_EMU, ctypes.c_uint32)),
    "reset": (None, (_EMU,)),
    "kill": (None, (_EMU, ctypes.c_uint32)),
    "fault": (ctypes.c_int, (_EMU, ctypes.POINTER(Fault))),
    "clear_faults": (None, (_EMU,)),
    "trace_start": (None, (_EMU, ctypes.c_uint64)),
    "trace_read": (ctypes.c_uint64, (_EMU, ctypes.POINTER(TraceEntry), ctypes.c_uint64)),
    "counters": (None, (_EMU, ctypes.POINTER(Totals))),
    "set_dma": (ctypes.c_int, (_EMU, ctypes.POINTER(DmaHook))),
}


def recipe() -> toolchain.Recipe:
    """Return how the library is made that has the controller."""
    return toolchain.capi_recipe(version("xiokv"))


@cache
def load() -> ctypes.CDLL:
    """Return the library with its functions declared, compiling it where needed.

    Raises:
        MissingFault: there is no C++ compiler.
        RuntimeFault: the library could not be compiled or loaded.
    """
    return open_compiled(recipe(), "host library", "xiokv_emu_", _FUNCTIONS)


def create(functions: ctypes.CDLL, config: Config, store: int | None) -> int:
    """Return a new controller; refuse a configuration as the C side puts it.

    Args:
        functions: the library.
        config: what it is made with.
        store: where values are; None for the controller's own memory.
    """
    error = ctypes.create_string_buffer(_ERROR_BYTES)
    handle = functions.xiokv_emu_create_on(config, store, error, len(error))
    if not handle:
        raise ArgumentFault(error.value.decode(errors="replace"))
    return int(handle)
