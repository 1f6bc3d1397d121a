"""Queues in every place, and values of any size in memory that another library allocated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xiokv.runtime import Outcome

COUNT, BLOCK = 600, 4096
KEYS = [b"key %06d" % number for number in range(COUNT)]
PLACES = ("pinned", "device")


@pytest.mark.parametrize("mode", range(16))
def test_every_memory_mode(
    attach: Any, array: Any, some_bytes: Callable[..., bytes], mode: int
) -> None:
    place = PLACES[mode >> 3]
    _, kv = attach(queues=2, depth=64, window=63, block_size=BLOCK, memory_mode=mode)
    values, out = array(COUNT * BLOCK, place), array(COUNT * BLOCK, place)
    data = some_bytes(COUNT * BLOCK, mode)
    values.fill(data)

    kv.store(KEYS, values).raise_for_status()
    kv.retrieve(KEYS, out).raise_for_status()

    assert out.bytes() == data
    assert sorted(kv.list()) == KEYS
    kv.delete(KEYS).raise_for_status()
    assert kv.exist(KEYS).counts == {Outcome.MISSING: COUNT}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 4095, 4096, 4097, 8193, 2 << 20, 5_000_004])
def test_values_of_any_size_begin_anywhere(
    attach: Any, array: Any, some_bytes: Callable[..., bytes], place: str, size: int
) -> None:
    _, kv = attach()
    length = 3 * size + 256
    values, out = array(length, place), array(length, place)
    values.fill(some_bytes(length, size))
    before = some_bytes(length, size + 1)
    out.fill(before)
    at = [4, size + 128 & ~3, 2 * size + 252 & ~3]

    kv.store([b"a", b"b", b"c"], values, sizes=size, offsets=at).raise_for_status()
    kv.retrieve([b"a", b"b", b"c"], out, sizes=size, offsets=at).raise_for_status()

    wanted, stored = bytearray(before), values.bytes()
    for begin in at:
        wanted[begin : begin + size] = stored[begin : begin + size]
    assert out.bytes() == bytes(wanted)
