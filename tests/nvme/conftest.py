"""A namespace that is passed through: the stand-in for ioctl(2), in front of a controller."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import native
from xiokv.runtime import KV, Emulator, Passthrough, load, passthrough, toolchain
from xiokv.runtime.emulator import library as emulator_library

HERE = Path(__file__).resolve().parent
# A character device that anyone may open; the stand-in answers in its place.
DEVICE = "/dev/null"


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


@dataclass(frozen=True)
class Standin:
    """The stand-in."""

    functions: ctypes.CDLL

    @property
    def ioctl(self) -> Any:
        """What stands in for the system's call."""
        return self.functions.standin_ioctl

    def calls(self) -> list[bytes]:
        """Return the arguments of all I/O calls."""
        found = []
        buffer = ctypes.create_string_buffer(80)
        while len(found) < self.functions.standin_call(len(found), buffer):
            found.append(buffer.raw)
        return found

    def fail(self, code: int) -> None:
        """Let calls fail with an errno; 0: no more."""
        self.functions.standin_fail(code)

    def hold(self, hold: bool) -> None:
        """Keep calls waiting, or let them go."""
        self.functions.standin_hold(hold)

    @property
    def most(self) -> int:
        """Most calls that were under way at once."""
        return int(self.functions.standin_most())


@pytest.fixture(scope="session")
def _standin_library() -> ctypes.CDLL:
    if not native.is_there():
        pytest.skip("g++ is not installed: apt-get install g++")
    emulator_library.load()
    controller = toolchain.build_cached(emulator_library.recipe())
    path = native.library("nvme_standin.so", HERE / "standin", link=[controller])
    functions = ctypes.CDLL(str(path), use_errno=True)
    functions.standin_begin.argtypes = (ctypes.c_void_p,)
    functions.standin_call.argtypes = (ctypes.c_size_t, ctypes.c_void_p)
    functions.standin_call.restype = ctypes.c_size_t
    return functions


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as controller:
        yield controller


@pytest.fixture
def standin(_standin_library: ctypes.CDLL, emulator: Emulator) -> Standin:
    _standin_library.standin_begin(emulator._handle)
    return Standin(_standin_library)


@pytest.fixture
def device(standin: Standin) -> Iterator[Passthrough]:
    with passthrough(DEVICE, ioctl=standin.ioctl) as controller:
        yield controller
        standin.hold(False)


@pytest.fixture
def kv(device: Passthrough, standin: Standin) -> Iterator[KV]:
    with load("host").attach(device, queues=2) as kv:
        yield kv
        standin.hold(False)
