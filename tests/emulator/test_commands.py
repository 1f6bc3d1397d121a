"""Every command: what it does, and which status says that it did not."""

from __future__ import annotations

from typing import Any

import pytest

STORE, RETRIEVE, LIST, DELETE, EXIST = 0x01, 0x02, 0x06, 0x10, 0x14
MUST_EXIST, MUST_NOT_EXIST, NO_COMPRESS, RAW = 1, 2, 4, 1


def run(host: Any, opcode: int, patch: dict[int, int] | None = None, **fields: int) -> Any:
    """Run a command on the key "k" and return its completion."""
    return host.run(host.sqe(opcode, b"k", patch=patch, **fields))


def test_a_stored_value_comes_back(host: Any) -> None:
    assert host.store(b"key", b"value") == 0

    assert host.retrieve(b"key", 5) == (0, 5, b"value")


def test_a_second_store_replaces_the_value(host: Any) -> None:
    host.store(b"key", b"first")
    host.store(b"key", b"2nd")

    assert host.retrieve(b"key", 3) == (0, 3, b"2nd")


@pytest.mark.parametrize("key", [b"k", b"12345678", b"123456789", b"\0" * 16, bytes(range(16))])
def test_a_key_has_any_bytes(host: Any, key: bytes) -> None:
    host.store(key, b"value")

    assert host.retrieve(key, 5) == (0, 5, b"value")


def test_a_key_is_told_from_one_with_a_nul_more(host: Any) -> None:
    host.store(b"abcd", b"short")
    host.store(b"abcd\0", b"longer")

    assert host.retrieve(b"abcd", 6)[1] == 5
    assert host.retrieve(b"abcd\0", 6)[1] == 6


def test_bytes_past_the_key_do_not_belong_to_it(host: Any) -> None:
    host.store(b"k", b"value")

    assert run(host, EXIST, {9: 0xFF, 56: 0xFF}).status == 0


def test_a_small_buffer_gets_the_first_bytes_and_the_true_size(host: Any) -> None:
    host.store(b"key", b"0123456789")

    assert host.retrieve(b"key", 4) == (0, 10, b"0123")
    assert host.data.get(4, 6) == b"456789"  # as the Store left them: nothing past the buffer


def test_a_large_buffer_keeps_its_tail(host: Any) -> None:
    host.store(b"key", b"0123")

    assert host.retrieve(b"key", 8) == (0, 4, b"0123\xee\xee\xee\xee")


def test_a_retrieve_without_a_buffer_tells_the_size(host: Any) -> None:
    host.store(b"key", b"0123")

    assert host.retrieve(b"key", 0) == (0, 4, b"")


def test_a_value_may_be_empty(host: Any) -> None:
    assert host.store(b"key", b"") == 0

    assert host.retrieve(b"key", 4) == (0, 0, b"\xee" * 4)


def test_a_raw_retrieve_gives_the_stored_bytes(host: Any) -> None:
    host.store(b"k", b"value", NO_COMPRESS)

    assert run(host, RETRIEVE, size=5, prp1=host.data.address, options=RAW).dw0 == 5
    assert host.data.get(0, 5) == b"value"


@pytest.mark.parametrize(
    ("present", "options", "status"),
    [
        (False, 0, 0x00),
        (False, MUST_EXIST, 0x87),
        (False, MUST_NOT_EXIST, 0x00),
        (False, MUST_EXIST | MUST_NOT_EXIST, 0x87),
        (True, 0, 0x00),
        (True, MUST_EXIST, 0x00),
        (True, MUST_NOT_EXIST, 0x89),
        (True, MUST_EXIST | MUST_NOT_EXIST, 0x89),
        (True, NO_COMPRESS, 0x00),
    ],
)
def test_a_store_may_depend_on_presence(
    host: Any, present: bool, options: int, status: int
) -> None:
    if present:
        host.store(b"key", b"old")

    assert host.store(b"key", b"new", options) == status
    if status:
        assert host.retrieve(b"key", 3)[2] == (b"old" if present else b"\xee" * 3)


def test_exist_tells_whether_there_is_a_key(host: Any) -> None:
    assert run(host, EXIST).status == 0x87
    host.store(b"k", b"")
    assert run(host, EXIST).status == 0


def test_a_deleted_key_is_gone(host: Any) -> None:
    host.store(b"k", b"value")

    assert run(host, DELETE).status == 0
    assert host.retrieve(b"k", 5) == (0x87, 0, b"\xee" * 5)


@pytest.mark.parametrize(("fails", "status"), [(False, 0), (True, 0x87)])
def test_delete_of_a_missing_key_is_as_configured(make: Any, fails: bool, status: int) -> None:
    assert run(make(delete_missing_fails=fails), DELETE).status == status


@pytest.mark.parametrize("opcode", [STORE, DELETE, EXIST])
def test_dw0_is_zero_where_it_says_nothing(host: Any, opcode: int) -> None:
    host.store(b"k", b"value")

    assert run(host, opcode).dw0 == 0


def test_store_may_return_the_size(make: Any) -> None:
    host = make(store_returns_size=True)

    assert run(host, STORE, size=200, prp1=host.data.address).dw0 == 200


@pytest.mark.parametrize("opcode", [0x00, 0x03, 0x05, 0x09, 0x83, 0xFF])
def test_an_unknown_opcode_is_refused(host: Any, opcode: int) -> None:
    assert run(host, opcode).status == 0x01


@pytest.mark.parametrize("nsid", [0, 2, 0xFFFFFFFF])
@pytest.mark.parametrize("opcode", [STORE, RETRIEVE, LIST, DELETE, EXIST])
def test_another_namespace_is_refused(host: Any, opcode: int, nsid: int) -> None:
    assert run(host, opcode, nsid=nsid).status == 0x0B


@pytest.mark.parametrize("flags", [0x01, 0x02, 0x40, 0x80])
def test_fused_commands_and_sgls_are_refused(host: Any, flags: int) -> None:
    assert run(host, EXIST, {1: flags}).status == 0x02


@pytest.mark.parametrize("opcode", [STORE, RETRIEVE, DELETE, EXIST])
@pytest.mark.parametrize("length", [0, 17, 255])
def test_a_key_has_1_to_16_bytes(host: Any, opcode: int, length: int) -> None:
    assert run(host, opcode, length=length).status == 0x86


def test_a_list_start_has_at_most_16_bytes(host: Any) -> None:
    assert run(host, LIST, length=17).status == 0x86
    assert run(host, LIST, length=0).status == 0


@pytest.mark.parametrize(
    ("place", "opcodes"),
    [
        (1, {STORE, RETRIEVE, LIST, DELETE, EXIST}),  # CDW0 13:10, here bit 10
        (16, {STORE, RETRIEVE, LIST, DELETE, EXIST}),  # MPTR
        (23, {STORE, RETRIEVE, LIST, DELETE, EXIST}),
        (24, {DELETE, EXIST}),  # DPTR
        (39, {DELETE, EXIST}),
        (40, {DELETE, EXIST}),  # CDW10
        (43, {DELETE, EXIST}),
        (45, {STORE, RETRIEVE, LIST, DELETE, EXIST}),  # options, here bit 15
        (46, {STORE, RETRIEVE, LIST, DELETE, EXIST}),  # CDW11 31:16
        (47, {STORE, RETRIEVE, LIST, DELETE, EXIST}),
        (48, {STORE, RETRIEVE, LIST, DELETE, EXIST}),  # CDW12
        (55, {STORE, RETRIEVE, LIST, DELETE, EXIST}),  # CDW13
        (9, {STORE, RETRIEVE, LIST, DELETE, EXIST}),  # past the key
        (63, {STORE, RETRIEVE, LIST, DELETE, EXIST}),
    ],
)
def test_strict_mode_refuses_reserved_bits(make: Any, place: int, opcodes: set[int]) -> None:
    value = {1: 0x04, 45: 0x80}.get(place, 0x80)
    strict, lenient = make(strict=True), make()
    for opcode in opcodes:
        lenient.store(b"k", b"")
        strict.store(b"k", b"")
        assert run(strict, opcode, {place: value}).status == 0x02, hex(opcode)
        assert run(lenient, opcode, {place: value}).status == 0, hex(opcode)


@pytest.mark.parametrize(
    ("opcode", "known"),
    [(STORE, 0x07), (RETRIEVE, 0x01), (LIST, 0), (DELETE, 0), (EXIST, 0)],
)
def test_strict_mode_knows_each_command_s_options(make: Any, opcode: int, known: int) -> None:
    host = make(strict=True)
    host.store(b"k", b"")
    for bit in range(8):
        status = run(host, opcode, options=1 << bit).status
        assert (status != 0x02) == bool(known >> bit & 1), bit


@pytest.mark.parametrize(
    ("opcode", "fields", "status"),
    [
        (EXIST, {}, 0x187),
        (EXIST, {"length": 0}, 0x186),
        (STORE, {"options": MUST_EXIST}, 0x187),
        (0x03, {}, 0x01),
        (EXIST, {"nsid": 9}, 0x0B),
    ],
)
def test_key_value_statuses_may_come_with_sct_1(
    make: Any, opcode: int, fields: dict[str, int], status: int
) -> None:
    assert run(make(sct1=True), opcode, **fields).status == status
