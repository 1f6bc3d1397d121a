"""Limits of values, keys, transfers and space."""

from __future__ import annotations

from typing import Any

import pytest

PAGE = 4096
STORE, RETRIEVE, LIST, DELETE, EXIST = 0x01, 0x02, 0x06, 0x10, 0x14


@pytest.mark.parametrize(("size", "status"), [(99, 0), (100, 0), (101, 0x85), (2**32 - 1, 0x85)])
def test_a_value_has_at_most_the_format_s_bytes(make: Any, size: int, status: int) -> None:
    host = make(value_max=100)

    assert host.run(host.sqe(STORE, b"k", size, host.data.address)).status == status


def test_a_refused_value_leaves_the_old_one(make: Any) -> None:
    host = make(value_max=4)
    host.store(b"k", b"old")

    assert host.store(b"k", b"large") == 0x85
    assert host.retrieve(b"k", 3) == (0, 3, b"old")


@pytest.mark.parametrize(
    ("key_max", "length", "status"),
    [(16, 16, 0), (8, 8, 0), (8, 9, 0x86), (1, 2, 0x86), (255, 16, 0), (255, 17, 0x86)],
)
def test_a_key_has_at_most_the_format_s_bytes(
    make: Any, key_max: int, length: int, status: int
) -> None:
    host = make(key_max=key_max)

    assert host.run(host.sqe(STORE, b"k" * min(length, 16), length=length)).status == status


@pytest.mark.parametrize("opcode", [STORE, RETRIEVE, LIST])
@pytest.mark.parametrize(("size", "status"), [(2 * PAGE, 0), (2 * PAGE + 1, 0x02)])
def test_a_transfer_has_at_most_mdts_bytes(make: Any, opcode: int, size: int, status: int) -> None:
    host = make(mdts=1)
    host.store(b"k", b"value")
    address = host.data.address

    assert host.run(host.sqe(opcode, b"k", size, address, address + PAGE)).status == status


def test_space_is_counted_in_bytes_of_values(make: Any) -> None:
    host = make(capacity=10)

    assert host.store(b"a", b"123456") == 0
    assert host.store(b"b", b"12345") == 0x81
    assert host.store(b"b", b"1234") == 0
    assert host.store(b"a", b"1234567") == 0x81  # over the old value: one byte too many
    assert host.retrieve(b"a", 6) == (0, 6, b"123456")
    assert host.store(b"a", b"12") == 0
    assert host.store(b"b", b"12345678") == 0


def test_a_deleted_value_gives_its_space_back(make: Any) -> None:
    host = make(capacity=10)
    host.store(b"a", b"1234567890")
    host.run(host.sqe(DELETE, b"a", 0))

    assert host.store(b"b", b"1234567890") == 0


def test_a_namespace_may_hold_so_many_keys(make: Any) -> None:
    host = make(max_keys=2)

    assert [host.store(key, b"") for key in (b"a", b"b", b"c")] == [0, 0, 0x81]
    assert host.store(b"a", b"again") == 0
    host.run(host.sqe(DELETE, b"a", 0))
    assert host.store(b"c", b"") == 0


def test_the_counters_know_what_is_stored(make: Any) -> None:
    host = make()
    host.store(b"a", b"123")
    host.store(b"b", b"4567")
    host.store(b"a", b"1")
    host.retrieve(b"b", 3)

    counters = host.emulator.counters()

    assert (counters.keys, counters.bytes_stored) == (2, 5)
    assert (counters.bytes_in, counters.bytes_out) == (8, 3)
