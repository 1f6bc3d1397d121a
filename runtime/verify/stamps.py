"""Stamps: what a block is filled with, so that each of its words says where it belongs.

In: which block, which version, which run. Out: its bytes; and the other way, what a word
that was found somewhere says of itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

WORD_BYTES = 16
#: What a buffer is filled with before a Retrieve.
POISON = 0xA5

# The check comes first, so that even a block of one byte depends on the whole stamp.
_WORD = np.dtype(
    [
        ("check", "<u2"),
        ("version", "<u2"),
        ("key", "<u4"),
        ("offset", "<u4"),
        ("seed", "<u4"),
    ]
)
_VERSIONS = 1 << 16


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a word says: the block it belongs to, and which writing of it.

    Attributes:
        key: index of the block's key.
        offset: place in the block, in bytes.
        version: number of the Store, modulo 65536.
        seed: of the run.
    """

    key: int
    offset: int
    version: int
    seed: int

    def __str__(self) -> str:
        return f"key {self.key} offset {self.offset} version {self.version}"


def padded(size: int) -> int:
    """Return the bytes of a block that is filled up to whole words."""
    return -(-size // WORD_BYTES) * WORD_BYTES


def fill(
    blocks: npt.NDArray[np.uint8], count: int, version: int, seed: int, keys: Any = None
) -> None:
    """Stamp `count` blocks of equal size, whole words each, side by side in `blocks`.

    Args:
        blocks: their bytes.
        count: how many they are.
        version: number of the Store.
        seed: of the run.
        keys: the number that each has for its key; by default 0, 1 and so on.
    """
    words = blocks.view(_WORD).reshape(count, -1)
    words["version"] = version % _VERSIONS
    words["key"] = np.asarray(np.arange(count) if keys is None else keys)[:, np.newaxis]
    words["offset"] = np.arange(words.shape[1]) * WORD_BYTES
    words["seed"] = seed
    words["check"] = _check(words)


def read(word: bytes) -> Stamp | None:
    """Return what a word says, or None where it is no whole stamp."""
    if len(word) != WORD_BYTES:
        return None
    found = np.frombuffer(word, _WORD)
    if found["check"][0] != _check(found)[0]:
        return None
    fields = found[0]
    return Stamp(*(int(fields[name]) for name in ("key", "offset", "version", "seed")))


def _check(words: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """Return a hash of all fields but the check itself."""
    # The constant keeps words of zeros from being a stamp.
    mixed = words["key"] * np.uint32(0x9E3779B1) ^ np.uint32(0x165667B1)
    mixed ^= words["offset"] * np.uint32(0x85EBCA77)
    mixed ^= words["seed"] * np.uint32(0xC2B2AE3D)
    mixed ^= words["version"] * np.uint32(0x27D4EB2F)
    mixed ^= mixed >> np.uint32(15)
    mixed *= np.uint32(0x2C1B3C6D)
    return np.asarray(mixed >> np.uint32(16), np.uint16)
