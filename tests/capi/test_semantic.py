"""Bits of a profile's fields, given in C, on the wire."""

from __future__ import annotations

import ctypes
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import Emulator, toolchain
from xiokv.runtime.drivers import host_library
from xiokv.runtime.nvme import library


class Key(ctypes.Structure):
    """struct xiokv_key."""

    _fields_ = (("bytes", ctypes.c_char * 16), ("length", ctypes.c_uint32))


class Request(ctypes.Structure):
    """struct xiokv_request."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("options", ctypes.c_uint32),
        ("keys", ctypes.POINTER(Key)),
        ("count", ctypes.c_size_t),
        ("buffer", ctypes.c_void_p),
        ("buffer_size", ctypes.c_size_t),
        ("stride", ctypes.c_size_t),
        ("offsets", ctypes.c_void_p),
        ("sizes", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("timeout_ns", ctypes.c_uint64),
        ("semantic", ctypes.c_uint32 * 3),
    )


FIELDS = [
    {"name": "tag", "dword": 11, "bits": {"msb": 31, "lsb": 24}, "commands": ["store", "exist"]},
    {"name": "hint", "dword": 12, "bits": {"msb": 3, "lsb": 0}, "commands": ["exist"]},
    {"name": "all", "dword": 13, "bits": {"msb": 31, "lsb": 0}, "commands": ["exist"]},
]


@pytest.fixture
def module(recipe: toolchain.Recipe, tmp_path: Path) -> Path:
    """Return a module whose profile declares fields."""
    folder = shutil.copytree(toolchain.build_cached(recipe).parent, tmp_path / "module")
    path = folder / "module.json"
    document: dict[str, Any] = json.loads(path.read_text())
    document["profile"] = {"name": "test", "fields": FIELDS}
    path.write_text(json.dumps(document))
    return Path(folder)


def test_bits_of_fields_arrive_and_no_others(module: Path) -> None:
    functions = host_library.load()
    loaded, ctx = ctypes.c_void_p(), ctypes.c_void_p()
    controller = library.ControllerFunctions()
    key = Key(b"a", 1)
    request = Request(ctypes.sizeof(Request), keys=ctypes.pointer(key), count=1)
    with Emulator() as emulator:
        handle = ctypes.c_void_p(emulator._handle)
        assert functions.xiokv_emu_controller(handle, ctypes.byref(controller)) == 0
        assert functions.xiokv_load(bytes(module), ctypes.byref(loaded)) == 0
        assert (
            functions.xiokv_attach(loaded, ctypes.byref(controller), None, ctypes.byref(ctx)) == 0
        )
        emulator.trace_start()
        request.semantic = (0xA5000000, 0x7, 0xDEADBEEF)
        assert functions.xiokv_exist(ctx, ctypes.byref(request), None) == 1
        for wrong in [(0x00010000, 0, 0), (0, 0x10, 0)]:
            request.semantic = wrong
            assert functions.xiokv_exist(ctx, ctypes.byref(request), None) == -6
        request.semantic = (0, 0, 1)  # a field of another command
        assert functions.xiokv_delete(ctx, ctypes.byref(request), None) == -6
        sent = [record for record in emulator.trace() if record.kind == "sqe"]
        assert functions.xiokv_detach(ctx) == 0
    assert len(sent) == 1
    assert struct.unpack_from("<3I", sent[0].data, 44) == (0xA5000001, 0x7, 0xDEADBEEF)
