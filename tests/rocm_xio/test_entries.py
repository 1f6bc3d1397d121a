"""What the functions of nvme-kv.h write, byte by byte, and what they leave alone."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from xiokv.generated import nvme_kv

_DATA = Path(__file__).parents[1] / "data" / "kv_sqe.json"
VECTORS = json.loads(_DATA.read_text(encoding="utf-8"))["vectors"]
OPCODES = {"store": 0x01, "retrieve": 0x02, "list": 0x06, "delete": 0x10, "exist": 0x14}
SIZED = ("store", "retrieve", "list")
POISON = b"\xa5" * 64
FORMS = ("setup", "packed")


def begun(command: str, nsid: int) -> bytes:
    """Return an entry of which the caller has filled its part: opcode and NSID."""
    return struct.pack("<B3xI56x", OPCODES[command], nsid)


def with_options(entry: bytes, options: int) -> bytes:
    """Return the entry with request options, as a caller adds them after the call."""
    return entry[:45] + bytes([entry[45] | options]) + entry[46:]


def stale(key: bytes) -> bytes:
    """Return 16 bytes that begin with the key, and hold what was there before past it."""
    return key.ljust(16, b"\xa5")[:16]


@pytest.mark.parametrize("form", FORMS)
def test_the_entries_are_the_golden_ones(calls: Any, form: str) -> None:
    for vector in VECTORS:
        key = bytes.fromhex(vector["key"])
        before = begun(vector["command"], vector["nsid"])
        entry = getattr(calls, form)(before, stale(key), len(key), vector["value_size"])
        assert with_options(entry, vector["options"]).hex() == vector["sqe"], vector


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", range(1, 17))
@pytest.mark.parametrize("command", OPCODES)
def test_the_entries_are_those_of_the_encoders(
    calls: Any, form: str, length: int, command: str
) -> None:
    chance = random.Random(f"{form} {length} {command}")
    for _ in range(20):
        key, nsid = chance.randbytes(length), chance.randrange(1, 0xFFFFFFFF)
        size = chance.randrange(1 << 32) if command in SIZED else 0
        given = {"value_size": size} if command in SIZED else {}
        expected = nvme_kv.encode(command, nsid=nsid, key=key, **given)
        entry = getattr(calls, form)(begun(command, nsid), stale(key), length, size)
        assert entry.hex() == expected.hex(), (nsid, key, size)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", [0, *range(17, 21), 255, 256, 257, 300, 2**31, 2**32 - 1])
def test_a_length_that_no_key_has_leaves_an_entry_without_a_key(
    calls: Any, form: str, length: int
) -> None:
    entry = getattr(calls, form)(begun("store", 1), bytes(range(1, 17)), length, 4096)
    assert entry.hex() == struct.pack("<B3xI32xI20x", 1, 1, 4096).hex()


def test_a_list_from_the_first_key_reads_no_key(calls: Any) -> None:
    expected = nvme_kv.encode("list", nsid=1, key=b"", value_size=512)
    assert calls.setup(begun("list", 1), None, 0, 512) == expected


@pytest.mark.parametrize("form", FORMS)
def test_all_is_written_but_what_the_caller_fills_in(calls: Any, form: str) -> None:
    key = b"0123456789abcdef"
    entry = getattr(calls, form)(POISON, key, 16, 0x11223344)
    written = bytearray(bytes(64))
    written[8:16], written[56:64] = key[:8], key[8:]
    written[40:44], written[44] = b"\x44\x33\x22\x11", 16
    for place in (slice(0, 1), slice(2, 8), slice(24, 40)):  # opcode; CID, NSID; DPTR
        written[place] = POISON[place]
    assert entry.hex() == written.hex()


def test_an_exec_entry_has_its_sizes_and_its_operation(calls: Any) -> None:
    before = struct.pack("<BBHI16xQQ24x", 0x83, 0, 7, 1, 0x1000, 0x2000)
    entry = calls.exec(before, 2 + 5 + 100, 4096, 3)
    tail = struct.pack("<6I", 107, 0, 4096, 3, 0, 0)
    assert entry.hex() == (before[:40] + tail).hex()


def test_exec_writes_all_but_what_the_caller_fills_in(calls: Any) -> None:
    entry = calls.exec(POISON, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD)
    head = b"\xa5\x00" + POISON[:6] + bytes(16) + POISON[:16]
    assert entry == head + struct.pack("<6I", 2**32 - 1, 0, 2**32 - 2, 2**32 - 3, 0, 0)
