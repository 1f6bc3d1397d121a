"""The profile in nvme-kv.h: its fields placed and read, and what the length of Exec counts."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.spec.model import Profile, SemanticField

from .conftest import COMPILERS, CONSUMER

COMMANDS = ("store", "exist")
OPCODES = {0x01: True, 0x02: False, 0x06: False, 0x10: False, 0x14: True, 0x83: False}
# Name -> byte of the dword in the entry, lowest bit and width.
PLACES = {
    "high": (44, 16, 16),
    "whole_dword": (48, 0, 32),
    "one_bit": (52, 5, 1),
    "rest": (52, 7, 25),
}
FIELDS = tuple(
    SemanticField(name, at // 4, Bits(low + width - 1, low), "batch", COMMANDS, "unit", "Meaning.")
    for name, (at, low, width) in PLACES.items()
)


@pytest.fixture(scope="module", params=COMPILERS)
def library(
    request: pytest.FixtureRequest,
    make_spec: Any,
    write: Any,
    compile_with: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> ctypes.CDLL:
    """Return fields.cpp with the headers of a profile."""
    headers = write(make_spec(profile=Profile("test", FIELDS, "input")))
    path = tmp_path_factory.mktemp("library") / "fields.so"
    source = CONSUMER / "fields.cpp"
    compile_with(request.param, headers, "-O2", "-shared", "-fPIC", source, "-o", path)
    return ctypes.CDLL(str(path))


def placed(library: ctypes.CDLL, name: str, before: bytes, value: int) -> tuple[bool, bytes]:
    entry = ctypes.create_string_buffer(before, 64)
    call = getattr(library, f"set_{name}")
    call.restype = ctypes.c_bool
    return call(entry, ctypes.c_uint64(value)), entry.raw


def read(library: ctypes.CDLL, name: str, entry: bytes) -> int:
    call = getattr(library, f"get_{name}")
    call.restype = ctypes.c_uint32
    return int(call(ctypes.create_string_buffer(entry, 64)))


@pytest.mark.parametrize("fill", [b"\0", b"\xff", b"\xa5"])
@pytest.mark.parametrize("name", PLACES)
def test_a_value_takes_its_bits_and_no_others(library: ctypes.CDLL, name: str, fill: bytes) -> None:
    at, low, width = PLACES[name]
    before = b"\x01" + fill * 63
    whole = int.from_bytes(before, "little")
    shift, top = at * 8 + low, (1 << width) - 1
    for value in {0, 1, top, top // 3}:
        expected = whole & ~(top << shift) | value << shift
        done, entry = placed(library, name, before, value)
        assert (done, entry.hex()) == (True, expected.to_bytes(64, "little").hex()), value
        assert read(library, name, entry) == value


@pytest.mark.parametrize("name", PLACES)
def test_a_value_too_wide_changes_nothing(library: ctypes.CDLL, name: str) -> None:
    width = PLACES[name][2]
    before = b"\x01" + b"\xa5" * 63
    for value in (1 << width, 1 << 32, (1 << 64) - 1):
        assert placed(library, name, before, value) == (False, before), value


@pytest.mark.parametrize("name", PLACES)
def test_an_entry_of_another_command_has_no_value(library: ctypes.CDLL, name: str) -> None:
    width = PLACES[name][2]
    for opcode, carries in OPCODES.items():
        found = read(library, name, bytes([opcode]) + b"\xff" * 63)
        assert found == ((1 << width) - 1 if carries else 0), opcode


def test_exec_of_such_a_profile_counts_the_input(library: ctypes.CDLL) -> None:
    entry = ctypes.create_string_buffer(b"\xa5" * 64, 64)
    library.setup_exec(entry, *map(ctypes.c_uint32, (100, 4096, 3)))
    assert entry.raw[40:].hex() == struct.pack("<6I", 100, 0, 4096, 3, 0, 0).hex()


def test_the_header_says_what_the_length_of_exec_counts(make_spec: Any, write: Any) -> None:
    for length, words in {
        "payload": "payload_len Bytes of the request: 2, the key and the input.",
        "input": "input_len Bytes of the input alone, as the profile chose.",
    }.items():
        headers: Path = write(make_spec(profile=Profile("test", (), length)))
        assert f"@param {words}" in (headers / "nvme-kv.h").read_text(encoding="utf-8")
