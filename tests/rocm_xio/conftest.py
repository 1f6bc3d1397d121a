"""The headers of the rocm-xio output, and a library that stands in for the one that uses them."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from xiokv.codegen.render.rocm_xio import rocm_xio_headers
from xiokv.codegen.spec.model import Spec

CONSUMER = Path(__file__).parent / "consumer"
COMPILERS = ("g++", "clang++-19")
FLAGS = (
    *("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow"),
    *("-Wold-style-cast", "-Werror"),
)

Compile = Callable[..., None]
Write = Callable[[Spec], Path]


class Calls:
    """calls.cpp on entries that begin as the bytes given."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def setup(self, before: bytes, words: bytes | None, length: int, value: int) -> bytes:
        """Return an entry after kvSqeSetup; `words` are the 16 bytes of the key's words."""
        entry = ctypes.create_string_buffer(before, 64)
        self._library.setup(entry, words, ctypes.c_uint32(length), ctypes.c_uint32(value))
        return entry.raw

    def packed(self, before: bytes, words: bytes, length: int, value: int) -> bytes:
        """Return an entry after kvSqeSetupPacked."""
        entry = ctypes.create_string_buffer(before, 64)
        packed = words + struct.pack("<I", length)
        self._library.setup_packed(entry, packed, ctypes.c_uint32(value))
        return entry.raw

    def exec(self, before: bytes, payload: int, osize: int, operation: int) -> bytes:
        """Return an entry after kvExecSqeSetup."""
        entry = ctypes.create_string_buffer(before, 64)
        self._library.setup_exec(entry, *map(ctypes.c_uint32, (payload, osize, operation)))
        return entry.raw


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Return a function that writes a spec's headers and returns their folder."""

    def write_headers(spec: Spec) -> Path:
        folder = tmp_path_factory.mktemp("output")
        for path, text in rocm_xio_headers(spec).items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder / "rocm-xio"

    return write_headers


@pytest.fixture(scope="session")
def headers(spec: Spec, write: Write) -> Path:
    """Return the folder of the headers with no semantic field."""
    return write(spec)


@pytest.fixture(scope="session")
def compile_with() -> Compile:
    """Return a function that compiles against headers; what they include is found `beside`."""

    def run(compiler: str, headers: Path, *arguments: str | Path, beside: Path = CONSUMER) -> None:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        words = (compiler, *FLAGS, f"-I{headers}", f"-I{beside}", *map(str, arguments))
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(scope="session", params=COMPILERS)
def calls(
    request: pytest.FixtureRequest,
    headers: Path,
    compile_with: Compile,
    tmp_path_factory: pytest.TempPathFactory,
) -> Calls:
    """Return the headers' functions, compiled by each compiler in turn."""
    library = tmp_path_factory.mktemp("library") / "calls.so"
    source = CONSUMER / "calls.cpp"
    compile_with(request.param, headers, "-O2", "-shared", "-fPIC", source, "-o", library)
    return Calls(ctypes.CDLL(str(library)))
