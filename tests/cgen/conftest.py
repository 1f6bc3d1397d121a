"""Rendered headers, compilers and the shared library that the C tests work on."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from xiokv.codegen.render.c import render_headers
from xiokv.codegen.spec.model import Spec

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow")

Write = Callable[[Spec], Path]
Load = Callable[..., ctypes.CDLL]

POISON = b"\xa5" * 64
OPCODES = {"store": 0x01, "retrieve": 0x02, "list": 0x06, "delete": 0x10, "exist": 0x14}
ERRORS = ("OK", "OPCODE", "NSID", "KEY_LENGTH", "VALUE_SIZE", "OPTIONS", "SEMANTIC", "LIST_PAGE")
U64, SIZE = ctypes.c_uint64, ctypes.c_size_t


class Key(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_uint8 * 16), ("length", ctypes.c_uint32))


class Reserved(ctypes.Structure):
    _fields_ = tuple((f"cdw{dword}", ctypes.c_uint32) for dword in (11, 12, 13))


class Limits(ctypes.Structure):
    _fields_ = (("key_max", ctypes.c_uint32), ("value_max", U64), ("transfer_max", U64))


class Entry:
    """A poisoned queue entry, aligned as a slot of a queue is."""

    def __init__(self) -> None:
        self._memory = (ctypes.c_uint8 * 128)()
        start = -ctypes.addressof(self._memory) % 64
        self._slot = (ctypes.c_uint8 * 64).from_buffer(self._memory, start)
        self._slot[:] = POISON

    def __bytes__(self) -> bytes:
        return bytes(self._slot)

    @property
    def address(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(ctypes.addressof(self._slot))


class Shim:
    """shim.c, called with plain values. Limits are (key, value, transfer) or None."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.shim_status_name.restype = ctypes.c_char_p

    def encode(
        self,
        command: str,
        *,
        nsid: int = 1,
        key: bytes = b"abcd",
        key_length: int | None = None,
        value_size: int = 0,
        options: int = 0,
        limits: tuple[int, int, int] | None = None,
    ) -> tuple[str, bytes]:
        """Return (error, entry) of the encoder that checks everything."""
        entry = Entry()
        length = len(key) if key_length is None else key_length
        error = self.library.shim_encode(
            OPCODES[command],
            entry.address,
            limits and ctypes.byref(Limits(*limits)),
            nsid,
            key,
            SIZE(length),
            U64(value_size),
            options,
        )
        return ERRORS[-error], bytes(entry)

    def packed(
        self, command: str, *, nsid: int, key: bytes, value_size: int, options: int
    ) -> tuple[str, bytes]:
        """Return (error, entry) of the encoder of a packed key, stale past its length."""
        entry, key_ref = Entry(), ctypes.byref(_packed(key, 0xA5))
        error = self.library.shim_encode_packed(
            OPCODES[command], entry.address, None, nsid, key_ref, U64(value_size), options
        )
        return ERRORS[-error], bytes(entry)

    def raw(
        self,
        command: str,
        *,
        nsid: int = 1,
        key: bytes = b"abcd",
        value_size: int = 0,
        options: int = 0,
        reserved: tuple[int, int, int] = (0, 0, 0),
    ) -> bytes:
        """Return the entry of the encoder that checks nothing."""
        entry, key_ref = Entry(), ctypes.byref(_packed(key, 0))
        places = ctypes.byref(Reserved(*reserved))
        self.library.shim_encode_raw(
            OPCODES[command], entry.address, nsid, key_ref, value_size, options, places
        )
        return bytes(entry)


def _packed(key: bytes, stale: int) -> Key:
    return Key((ctypes.c_uint8 * 16)(*key.ljust(16, bytes([stale]))), len(key))


@dataclass(frozen=True)
class Compiler:
    """A compiler and a language standard; `run` fails the test with the compiler's words."""

    command: str
    language: str
    standard: str

    def __str__(self) -> str:
        return f"{self.command}-{self.standard}"

    def run(self, include: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        if shutil.which(self.command) is None:
            pytest.skip(f"{self.command} is not installed")
        command = [
            self.command,
            f"-std={self.standard}",
            *WARNINGS,
            "-Werror",
            f"-I{include}",
            "-x",
            self.language,
            *map(str, arguments),
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def build(self, include: Path, *arguments: str | Path) -> None:
        done = self.run(include, *arguments)
        assert done.returncode == 0, done.stderr


COMPILERS = [
    Compiler("gcc", "c", "c11"),
    Compiler("g++", "c++", "c++17"),
    Compiler("g++", "c++", "c++20"),
    Compiler("clang-19", "c", "c11"),
    Compiler("clang++-19", "c++", "c++17"),
    Compiler("clang++-19", "c++", "c++20"),
]


@pytest.fixture(params=COMPILERS, ids=str)
def compiler(request: pytest.FixtureRequest) -> Compiler:
    return request.param


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Return a function that writes a spec's headers and returns their include folder."""

    def write_headers(spec: Spec) -> Path:
        folder = tmp_path_factory.mktemp("headers")
        for path, text in render_headers(spec).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder / "include"

    return write_headers


@pytest.fixture(scope="session")
def include(spec: Spec, write: Write) -> Path:
    """Return the include folder of the headers with no semantic field."""
    return write(spec)


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Return a function that compiles a C file of this folder into a loaded library."""

    def build(include: Path, source: str, command: str = "gcc") -> ctypes.CDLL:
        target = tmp_path_factory.mktemp("library") / "shim.so"
        compiler = Compiler(command, "c", "c11")
        compiler.build(include, "-O2", "-shared", "-fPIC", HERE / source, "-o", target)
        return ctypes.CDLL(str(target))

    return build


@pytest.fixture(scope="session", params=["gcc", "clang-19"])
def shim(request: pytest.FixtureRequest, include: Path, load: Load) -> Shim:
    """Return the headers' functions, compiled by each compiler in turn."""
    return Shim(load(include, "shim.c", request.param))
