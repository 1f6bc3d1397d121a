"""What stands around the encoders: the check alone, limits, CID and data pointer."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

U64, SIZE = ctypes.c_uint64, ctypes.c_size_t
STORE, LIST, DELETE, EXIST = 0x01, 0x06, 0x10, 0x14
OK, E_OPCODE, E_VALUE_SIZE, E_OPTIONS, E_FORMAT = 0, -1, -4, -5, -8


@pytest.mark.parametrize(
    ("opcode", "size", "options", "expected"),
    [
        (STORE, 1, 1, OK),
        (EXIST, 0, 0, OK),
        (DELETE, 1, 0, E_VALUE_SIZE),
        (EXIST, 1, 0, E_VALUE_SIZE),
        (LIST, 0, 1, E_OPTIONS),
        (DELETE, 0, 1, E_OPTIONS),
        (0x03, 0, 0, E_OPCODE),
        (0x101, 0, 0, E_OPCODE),
    ],
)
def test_a_check_knows_what_each_command_carries(
    shim: Any, opcode: int, size: int, options: int, expected: int
) -> None:
    assert shim.library.shim_check(opcode, None, 1, SIZE(4), U64(size), options) == expected


def test_cid_and_data_pointer_fill_their_places_and_no_others(shim: Any) -> None:
    memory = (ctypes.c_uint8 * 128)()
    start = -ctypes.addressof(memory) % 64
    memory[start : start + 64] = b"\xa5" * 64
    entry = ctypes.c_void_p(ctypes.addressof(memory) + start)
    shim.library.shim_submit(entry, 0xFEDC, U64(0x0102030405060708), U64(0x1112131415161718))
    expected = bytearray(b"\xa5" * 64)
    expected[2:4] = b"\xdc\xfe"
    expected[24:40] = bytes.fromhex("08070605040302011817161514131211")
    assert bytes(memory[start : start + 64]) == expected


def identify(active: int, formats: int, key_max: int) -> bytes:
    """Return Identify data whose active format alone has that limit, and values of 2 GiB."""
    data = bytearray(4096)
    data[25], data[29] = formats - 1, active
    for index in range(16):
        key, value = (key_max, 2**31) if index == active else (3, 7)
        place = 72 + 16 * index
        data[place : place + 2] = key.to_bytes(2, "little")
        data[place + 4 : place + 8] = value.to_bytes(4, "little")
    return bytes(data)


def limits_of(shim: Any, data: bytes) -> tuple[int, list[int]]:
    """Return (error, [key, value, transfer]) for a controller that transfers 8192 bytes."""
    aligned = (U64 * 512).from_buffer_copy(data)
    limits = (U64 * 3)(1, 2, 3)
    error = shim.library.shim_limits(limits, aligned, U64(8192))
    return error, list(limits)


@pytest.mark.parametrize(
    ("active", "formats", "key_max", "expected"),
    [(0, 1, 12, 12), (2, 3, 10, 10), (15, 16, 16, 16), (1, 2, 255, 16)],
)
def test_limits_are_those_of_the_active_format(
    shim: Any, active: int, formats: int, key_max: int, expected: int
) -> None:
    assert limits_of(shim, identify(active, formats, key_max)) == (OK, [expected, 2**31, 8192])


@pytest.mark.parametrize(("active", "formats", "key_max"), [(2, 2, 16), (0, 1, 0)])
def test_identify_data_without_its_active_format_is_refused(
    shim: Any, active: int, formats: int, key_max: int
) -> None:
    assert limits_of(shim, identify(active, formats, key_max)) == (E_FORMAT, [1, 2, 3])
