"""Keys of a batch: the caller's in, zero-padded 16-byte rows and lengths out.

A key is bytes and nothing else, so that its length and byte order are the caller's. All
work is done by whole arrays: no Python code runs once a key, save to name a wrong one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.generated.nvme_kv import KEY_MAX_LEN, KEY_MIN_LEN
from xiokv.runtime.arguments import integers
from xiokv.runtime.errors import ArgumentFault

_BYTES_LIKE = (bytes, bytearray, memoryview)
_TAKEN = "keys are a sequence of bytes, or an (n, 16) uint8 array"


@dataclass(frozen=True, slots=True)
class Keys:
    """Packed keys.

    Attributes:
        rows: (n, 16) bytes; those past a key's length are zero.
        lengths: length of each key, or None where all have `length`.
        length: length of every key; 0 where `lengths` says it.
    """

    rows: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.uint8] | None
    length: int

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.rows)

    def __getitem__(self, index: int) -> bytes:
        """Return one key as the caller gave it."""
        length = self.length if self.lengths is None else int(self.lengths[index])
        return self.rows[index, :length].tobytes()


@dataclass(frozen=True, slots=True)
class LongKeys(Keys):
    """Keys of Exec, which lie in its data: `rows` are empty.

    Attributes:
        contents: the keys.
    """

    contents: tuple[bytes, ...]

    def __getitem__(self, index: int) -> bytes:
        """Return one key."""
        return self.contents[index]


def pack_keys(keys: Any, key_lengths: Any, key_max: int) -> Keys:
    """Pack the keys of a call.

    Args:
        keys: a sequence of bytes, or an (n, 16) uint8 array.
        key_lengths: for an array, the length of each row, else 16; bytes of a row past its
            length do not count.
        key_max: longest key that the namespace takes.

    Raises:
        ArgumentFault: what was given is no keys, or a key is too short or too long.
    """
    if isinstance(keys, np.ndarray):
        return _pack_rows(keys, key_lengths, key_max)
    _check_sequence(keys)
    if key_lengths is not None:
        raise ArgumentFault(
            "key_lengths goes with an (n, 16) uint8 array; bytes have lengths of their own"
        )
    return _pack_sequence(keys, key_max)


def pack_start_key(start: Any, key_max: int) -> Keys:
    """Pack the one key at which a List begins; it may be empty."""
    if not isinstance(start, _BYTES_LIKE):
        raise ArgumentFault(f"a start key is bytes, not {type(start).__name__}")
    content = bytes(start)
    if len(content) > key_max:
        raise ArgumentFault(f"start key has {len(content)} bytes; 0 to {key_max} are allowed")
    row = np.frombuffer(content.ljust(KEY_MAX_LEN, b"\0"), np.uint8)
    return Keys(row.reshape(1, KEY_MAX_LEN), None, len(content))


def pack_long_keys(keys: Any, key_lengths: Any, key_max: int) -> LongKeys:
    """Take the keys of an Exec, of up to `key_max` bytes; an array has those of a row."""
    if isinstance(keys, np.ndarray) or key_lengths is not None:
        packed = pack_keys(keys, key_lengths, min(key_max, KEY_MAX_LEN))
        contents = tuple(map(packed.__getitem__, range(len(packed))))
    else:
        _check_sequence(keys)
        contents = tuple(map(bytes, _checked_items(keys)))
        _check_bytes(sum(map(len, contents)), sum(map(len, keys)))
    lengths = np.fromiter(map(len, contents), np.int64, len(contents))
    _check_lengths(lengths, key_max)
    rows = np.zeros((len(contents), KEY_MAX_LEN), np.uint8)
    return LongKeys(rows, lengths.astype(np.uint8), 0, contents)


def _check_sequence(keys: Any) -> None:
    if isinstance(keys, (str, *_BYTES_LIKE)):
        raise ArgumentFault(f"keys is one {type(keys).__name__}; {_TAKEN}: for one key, [key]")
    if not isinstance(keys, Sequence):
        raise ArgumentFault(f"keys is a {type(keys).__name__}; {_TAKEN}")


def _pack_sequence(keys: Sequence[Any], key_max: int) -> Keys:
    lengths = np.fromiter(map(len, _checked_items(keys)), np.int64, len(keys))
    _check_lengths(lengths, key_max)
    flat = np.frombuffer(b"".join(keys), np.uint8)
    _check_bytes(flat.size, int(lengths.sum()))
    rows = np.zeros((len(keys), KEY_MAX_LEN), np.uint8)
    if len(keys) and lengths.min() == lengths.max():
        length = int(lengths[0])
        rows[:, :length] = flat.reshape(-1, length)
        return Keys(rows, None, length)
    rows[_within(lengths)] = flat
    return Keys(rows, lengths.astype(np.uint8), 0)


def _pack_rows(keys: npt.NDArray[Any], key_lengths: Any, key_max: int) -> Keys:
    if keys.dtype.kind == "S":
        raise ArgumentFault(
            f"keys have dtype {keys.dtype}, which drops NUL bytes at a key's end; {_TAKEN}"
        )
    if keys.dtype != np.uint8 or keys.ndim != 2 or keys.shape[1] != KEY_MAX_LEN:
        raise ArgumentFault(f"keys are a {keys.dtype} array of shape {keys.shape}; {_TAKEN}")
    if key_lengths is None:
        _check_lengths(np.full(min(len(keys), 1), KEY_MAX_LEN), key_max)
        return Keys(keys.copy(), None, KEY_MAX_LEN)
    lengths = integers("key_lengths", key_lengths, len(keys))
    _check_lengths(lengths, key_max)
    return Keys(np.where(_within(lengths), keys, np.uint8(0)), lengths.astype(np.uint8), 0)


def _within(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which bytes of each row belong to its key."""
    return np.arange(KEY_MAX_LEN) < lengths[:, np.newaxis]


def _check_lengths(lengths: npt.NDArray[np.int64], key_max: int) -> None:
    wrong = (lengths < KEY_MIN_LEN) | (lengths > key_max)
    if wrong.any():
        index = int(wrong.argmax())
        raise ArgumentFault(
            f"key {index} has {lengths[index]} bytes; {KEY_MIN_LEN} to {key_max} are allowed here"
        )


def _check_bytes(have: int, counted: int) -> None:
    """Refuse keys whose items are more than bytes, so that their number is no length."""
    if have != counted:
        raise ArgumentFault(f"a memoryview among the keys has items of several bytes; {_TAKEN}")


def _checked_items(keys: Sequence[Any]) -> Sequence[Any]:
    """Return the keys, all of which are like bytes."""
    if set(map(type, keys)) <= set(_BYTES_LIKE):
        return keys
    index, key = next((i, k) for i, k in enumerate(keys) if type(k) not in _BYTES_LIKE)
    reason = {
        int: ": an int has no width and no byte order; int.to_bytes() gives it both",
        str: ": a str has no bytes of its own; str.encode() gives it some",
        np.bytes_: ": NumPy's bytes drop NULs at a key's end",
    }.get(type(key), "")
    raise ArgumentFault(f"key {index} is {type(key).__name__}; {_TAKEN}{reason}")
