"""Stamps: every word of a block says where it belongs, and nothing else passes for one."""

from __future__ import annotations

import numpy as np
import pytest

from xiokv.runtime.verify import stamps
from xiokv.runtime.verify.stamps import Stamp


def block(key: int, words: int, version: int = 3, seed: int = 9) -> bytes:
    blocks = np.zeros((key + 1) * words * 16, np.uint8)
    stamps.fill(blocks, key + 1, version, seed)
    return blocks[key * words * 16 :].tobytes()


def test_every_word_says_where_it_belongs() -> None:
    data = block(key=5, words=300)
    said = [stamps.read(data[at : at + 16]) for at in range(0, len(data), 16)]
    assert said == [Stamp(5, at, 3, 9) for at in range(0, len(data), 16)]


@pytest.mark.parametrize("bit", range(128))
def test_a_word_with_a_bit_flipped_is_no_stamp(bit: int) -> None:
    word = bytearray(block(key=1, words=2)[16:])
    word[bit // 8] ^= 1 << bit % 8
    assert stamps.read(bytes(word)) is None


@pytest.mark.parametrize("word", [b"", bytes(15), bytes(16), b"\xa5" * 16, b"\xff" * 16])
def test_what_is_no_whole_word_is_no_stamp(word: bytes) -> None:
    assert stamps.read(word) is None


@pytest.mark.parametrize("size", [1, 2, 3])
def test_even_the_first_bytes_tell_versions_keys_and_runs_apart(size: int) -> None:
    """A byte has 256 values: chance makes few of them equal."""
    first = [block(0, 1, version, seed)[:size] for version in range(16) for seed in range(16)]
    assert len(set(first)) > 128
