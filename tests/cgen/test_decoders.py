"""The C decoders: completions, their meaning, and List pages, from hand-written bytes."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

STORE, RETRIEVE, LIST, DELETE, EXIST = 0x01, 0x02, 0x06, 0x10, 0x14
TRUNCATED, MISSING, EXISTS, ERROR, OUTCOME_OK = 2, 3, 4, 5, 1
E_KEY_LENGTH, E_LIST_PAGE = -3, -7


class Completion(ctypes.Structure):
    _fields_ = (
        ("dw0", ctypes.c_uint32),
        *((name, ctypes.c_uint16) for name in ("sqhd", "sqid", "cid")),
        *((name, ctypes.c_uint8) for name in ("phase", "sct", "sc", "crd", "more", "dnr")),
    )


class Page(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("offset", ctypes.c_size_t),
        ("remaining", ctypes.c_uint32),
    )


class Key(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_uint8 * 16), ("length", ctypes.c_uint32))


def decode(shim: Any, entry: bytes) -> Completion:
    """Return the parts of a completion queue entry of 16 bytes."""
    memory = (ctypes.c_uint64 * 4)()
    start = -ctypes.addressof(memory) % 16
    ctypes.memmove(ctypes.addressof(memory) + start, entry, 16)
    parts = Completion()
    address = ctypes.c_void_p(ctypes.addressof(memory) + start)
    shim.library.shim_decode(address, ctypes.byref(parts))
    return parts


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("00000000000000000000000000000000", (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        (
            # SC 87h, SCT 1, CRD 2, no More, DNR; phase 1: 1.0.10.001.10000111.1
            "04030201ffffffff060508070a090fa3",
            (0x01020304, 0x0506, 0x0708, 0x090A, 1, 1, 0x87, 2, 0, 1),
        ),
        (
            "ffffffff00000000ffff000000000040",
            (0xFFFFFFFF, 0xFFFF, 0, 0, 0, 0, 0, 0, 1, 0),
        ),
    ],
)
def test_a_completion_comes_apart(shim: Any, entry: str, expected: tuple[int, ...]) -> None:
    parts = decode(shim, bytes.fromhex(entry))
    assert tuple(getattr(parts, name) for name, _ in parts._fields_) == expected


@pytest.mark.parametrize("dnr", [0, 1])
@pytest.mark.parametrize(
    ("sct", "sc", "opcode", "dw0", "expected"),
    [
        (0, 0x00, RETRIEVE, 4096, OUTCOME_OK),
        (0, 0x00, RETRIEVE, 4097, TRUNCATED),
        (0, 0x00, STORE, 4097, OUTCOME_OK),
        (0, 0x00, LIST, 4097, OUTCOME_OK),
        *((sct, 0x87, opcode, 0, MISSING) for sct in (0, 1) for opcode in (RETRIEVE, EXIST)),
        *((sct, 0x89, STORE, 0, EXISTS) for sct in (0, 1)),
        # A failed Retrieve is never truncated, whatever DW0 holds.
        (0, 0x87, RETRIEVE, 4097, MISSING),
        (0, 0x02, RETRIEVE, 4097, ERROR),
        *((sct, 0x81, STORE, 0, ERROR) for sct in (0, 1)),
        *((sct, 0x87, DELETE, 0, ERROR) for sct in (2, 3, 7)),
        (1, 0x00, EXIST, 0, ERROR),
    ],
)
def test_a_status_is_classified(
    shim: Any, sct: int, sc: int, opcode: int, dw0: int, expected: int, dnr: int
) -> None:
    parts = Completion(dw0=dw0, sct=sct, sc=sc, crd=1, more=1, dnr=dnr)
    assert shim.library.shim_classify(ctypes.byref(parts), opcode, 4096) == expected


@pytest.mark.parametrize(
    ("sct", "sc", "name"),
    [
        (0, 0x00, b"SUCCESS"),
        (0, 0x87, b"KEY_DOES_NOT_EXIST"),
        (1, 0x87, b"KEY_DOES_NOT_EXIST"),
        (1, 0x89, b"KEY_EXISTS"),
        (0, 0x02, b"INVALID_FIELD"),
        (1, 0x02, b"INVALID_QUEUE_SIZE"),
        (7, 0x87, b"unknown"),
        (0, 0xFF, b"unknown"),
    ],
)
def test_a_status_has_a_name(shim: Any, sct: int, sc: int, name: bytes) -> None:
    assert shim.library.shim_status_name(sct, sc) == name


def walk(shim: Any, page: bytes) -> tuple[list[bytes], int]:
    """Return (keys, how the walk ended) of a List page."""
    memory = ctypes.create_string_buffer(page, len(page))
    state, key, keys = Page(), Key(), []
    found = shim.library.shim_list_begin(ctypes.byref(state), memory, ctypes.c_size_t(len(page)))
    if found:
        return keys, found
    while (found := shim.library.shim_list_next(ctypes.byref(state), ctypes.byref(key))) == 1:
        assert bytes(key.bytes)[key.length :] == bytes(16 - key.length)
        keys.append(bytes(key.bytes)[: key.length])
    return keys, found


# Two keys of 1 and 2 bytes: the first entry is padded by one byte, the second not at all.
SHORT = "020000000100610002006200"
LONG = "010000001000000102030405060708090a0b0c0d0e0f"


@pytest.mark.parametrize(
    ("page", "keys", "end"),
    [
        ("00000000", [], 0),
        ("00000000ffffffff", [], 0),
        (SHORT, ["61", "6200"], 0),
        (SHORT + "a5a5a5a5", ["61", "6200"], 0),
        ("010000000300616263000000", ["616263"], 0),
        # A short key after a long one: nothing of the long one is left.
        ("02000000" + LONG[8:] + "0000" + "01006100", [LONG[12:], "61"], 0),
        (LONG + "0000", ["000102030405060708090a0b0c0d0e0f"], 0),
        # The pad after the last key may be cut off; a key may not.
        (LONG, ["000102030405060708090a0b0c0d0e0f"], 0),
        (LONG[:-2], [], E_LIST_PAGE),
        ("", [], E_LIST_PAGE),
        ("000000", [], E_LIST_PAGE),
        ("01000000", [], E_LIST_PAGE),
        ("0100000001", [], E_LIST_PAGE),
        ("03000000" + SHORT[8:], ["61", "6200"], E_LIST_PAGE),
        ("ffffffff" + SHORT[8:], ["61", "6200"], E_LIST_PAGE),
        ("010000001100" + "61" * 18, [], E_KEY_LENGTH),
        ("01000000ffff" + "61" * 18, [], E_KEY_LENGTH),
        ("0100000000000000", [], E_KEY_LENGTH),
    ],
)
def test_a_list_page_is_walked_to_its_end_or_its_fault(
    shim: Any, page: str, keys: list[str], end: int
) -> None:
    assert walk(shim, bytes.fromhex(page)) == ([bytes.fromhex(key) for key in keys], end)
