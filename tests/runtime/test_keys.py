"""Keys are bytes with a length of their own; packing keeps every byte and refuses the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.keys import pack_keys, pack_start_key

KEY_MAX = 16


def rows_of(keys: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(key.ljust(16, b"\0") for key in keys), np.uint8).reshape(-1, 16)


SEQUENCES = {
    "one length": [b"abcd", b"efgh"],
    "all lengths": [bytes(range(1, n + 1)) for n in range(1, 17)],
    "full": [b"0123456789abcdef", b"fedcba9876543210"],
    "NULs": [b"\0", b"\0\0", b"a\0", b"\0a"],
    "trailing NUL is another key": [b"abcd", b"abcd\0"],
    "short after long": [b"x" * 16, b"y"],
    "none": [],
}


@pytest.mark.parametrize("keys", SEQUENCES.values(), ids=SEQUENCES)
def test_sequence_keeps_bytes_and_lengths(keys: list[bytes]) -> None:
    packed = pack_keys(keys, None, KEY_MAX)
    assert packed.rows.tolist() == rows_of(keys).tolist()
    assert [packed[i] for i in range(len(packed))] == keys


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_like_keys_are_taken(kind: type) -> None:
    assert pack_keys((kind(b"ab"), kind(b"abc")), None, KEY_MAX)[1] == b"abc"


def test_lengths_are_left_out_where_all_are_equal() -> None:
    packed = pack_keys([b"abc", b"def"], None, KEY_MAX)
    assert (packed.lengths, packed.length) == (None, 3)


def test_array_rows_are_sixteen_bytes() -> None:
    rows = np.arange(48, dtype=np.uint8).reshape(3, 16)
    packed = pack_keys(rows, None, KEY_MAX)
    assert packed[2] == bytes(range(32, 48))


def test_array_with_lengths_drops_what_is_past_them() -> None:
    rows = np.full((3, 16), 7, np.uint8)
    packed = pack_keys(rows, [1, 16, 3], KEY_MAX)
    assert packed.rows.sum(axis=1).tolist() == [7, 112, 21]
    assert [len(packed[i]) for i in range(3)] == [1, 16, 3]


def test_strided_array_is_taken_as_it_reads() -> None:
    rows = np.arange(64, dtype=np.uint8).reshape(4, 16)[::2]
    assert pack_keys(rows, None, KEY_MAX)[1] == bytes(range(32, 48))


def test_array_may_change_once_packed() -> None:
    rows = np.zeros((1, 16), np.uint8)
    packed = pack_keys(rows, None, KEY_MAX)
    rows[:] = 1
    assert packed[0] == bytes(16)


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "empty key": ([b"a", b""], None, "key 1 has 0 bytes; 1 to 16"),
    "17 bytes": ([b"a" * 17], None, "key 0 has 17 bytes"),
    "300 bytes": ([b"a", b"a" * 300], None, "key 1 has 300 bytes"),
    "int": ([b"a", 5], None, "key 1 is int.*no byte order"),
    "str": (["a"], None, "key 0 is str.*encode"),
    "None": ([None], None, "key 0 is NoneType"),
    "array as a key": ([np.zeros(4, np.uint8)], None, "key 0 is ndarray"),
    "one bytes object": (b"abcd", None, r"one bytes.*\[key\]"),
    "one str": ("abcd", None, "one str"),
    "generator": ((key for key in [b"a"]), None, "keys is a generator"),
    "set": ({b"a"}, None, "keys is a set"),
    "NumPy S": (np.array([b"a\0"]), None, "drops NUL"),
    "NumPy bytes": ([np.bytes_(b"a")], None, "drop NULs"),
    "wide items": ([memoryview(b"abcd").cast("H")], None, "items of several bytes"),
    "other width": (np.zeros((2, 8), np.uint8), None, r"shape \(2, 8\)"),
    "other type": (np.zeros((2, 16), np.int8), None, "int8 array"),
    "flat": (np.zeros(16, np.uint8), None, r"shape \(16,\)"),
    "scalar": (np.zeros((), np.uint8), None, r"shape \(\)"),
    "lengths of bytes": ([b"a"], [1], "lengths of their own"),
    "length 0": (np.zeros((2, 16), np.uint8), [1, 0], "key 1 has 0 bytes"),
    "length 17": (np.zeros((2, 16), np.uint8), [17, 1], "key 0 has 17 bytes"),
    "length 257": (np.zeros((1, 16), np.uint8), [257], "key 0 has 257 bytes"),
    "length -1": (np.zeros((1, 16), np.uint8), [-1], "key 0 has -1 bytes"),
    "too few lengths": (np.zeros((2, 16), np.uint8), [1], r"2 keys need \(2,\)"),
    "fractions": (np.zeros((1, 16), np.uint8), [1.5], "are integers of up to 64 bits, not float64"),
}


@pytest.mark.parametrize(("keys", "lengths", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_key_is_refused(keys: Any, lengths: Any, said: str) -> None:
    with pytest.raises(ArgumentFault, match=f"(?s){said}"):
        pack_keys(keys, lengths, KEY_MAX)


@pytest.mark.parametrize("keys", [[b"12345678", b"123456789"], np.zeros((1, 16), np.uint8)])
def test_limit_of_the_format_in_force_counts(keys: Any) -> None:
    with pytest.raises(ArgumentFault, match="1 to 8 are allowed"):
        pack_keys(keys, None, 8)


@pytest.mark.parametrize("start", [b"", b"a", b"0123456789abcdef", bytearray(b"ab")])
def test_start_key_may_be_empty(start: bytes) -> None:
    packed = pack_start_key(start, KEY_MAX)
    assert (len(packed), packed[0]) == (1, start)


@pytest.mark.parametrize("start", [b"a" * 17, "a", 3, None])
def test_start_key_that_is_none_is_refused(start: Any) -> None:
    with pytest.raises(ArgumentFault, match="start key"):
        pack_start_key(start, KEY_MAX)
