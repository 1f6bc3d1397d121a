"""Every command on a GPU: values page-locked and in the device, queues in every place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import Outcome
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import ArgumentFault

COUNT, BLOCK = 600, 4096
KEYS = [b"key %06d" % number for number in range(COUNT)]
PLACES = ("pinned", "device")


@pytest.mark.parametrize("queues", [1, 4])
@pytest.mark.parametrize("place", PLACES)
def test_every_command(
    attach: Any, array: Any, some_bytes: Callable[..., bytes], place: str, queues: int
) -> None:
    _, kv = attach({"threads": 2}, queues=queues, block_size=BLOCK)
    values, out = array(COUNT * BLOCK, place), array(COUNT * BLOCK, place)
    data = some_bytes(COUNT * BLOCK, 1)
    values.fill(data)

    kv.store(KEYS, values).raise_for_status()
    assert kv.store(KEYS, values, if_absent=True).counts == {Outcome.EXISTS: COUNT}
    assert kv.exist([*KEYS, b"absent"]).counts == {Outcome.OK: COUNT, Outcome.MISSING: 1}
    result = kv.retrieve(KEYS, out)
    assert result.counts == {Outcome.OK: COUNT}
    assert set(result.value_size.tolist()) == {BLOCK}
    assert out.bytes() == data
    assert sorted(kv.list()) == KEYS
    kv.delete(KEYS[::2]).raise_for_status()
    assert kv.exist(KEYS).counts == {Outcome.OK: COUNT // 2, Outcome.MISSING: COUNT // 2}


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


@pytest.mark.parametrize("place", PLACES)
def test_a_value_larger_than_its_slot_fills_the_slot_alone(
    attach: Any, array: Any, some_bytes: Callable[..., bytes], place: str
) -> None:
    _, kv = attach()
    values, out = array(10_000, place), array(8192, place)
    data = some_bytes(10_000, 1)
    values.fill(data)
    kv.store([b"large"], values).raise_for_status()

    result = kv.retrieve([b"large"], out, sizes=100, offsets=[4])

    assert result.counts == {Outcome.TRUNCATED: 1}
    assert result.value_size.tolist() == [10_000]
    assert out.bytes() == bytes(4) + data[:100] + bytes(8192 - 104)


def test_memory_of_the_module_s_own(attach: Any, module: Any) -> None:
    _, kv = attach(block_size=64)
    values = module.empty(64 * COUNT)
    values.view[:] = np.arange(values.nbytes, dtype=np.uint8)
    values.upload()
    out = module.empty(64 * COUNT, place=Place.HOST)

    kv.store(KEYS, values).raise_for_status()
    kv.retrieve(KEYS, out).raise_for_status()

    assert (out.view == values.view).all()


def test_pageable_memory_is_copied_only_when_asked(attach: Any) -> None:
    _, kv = attach(block_size=64)
    values = np.arange(64, dtype=np.uint8)
    out = np.zeros(64, np.uint8)

    with pytest.raises(ArgumentFault, match="copy=True"):
        kv.store([b"key"], values)
    kv.store([b"key"], values, copy=True).raise_for_status()
    kv.retrieve([b"key"], out, copy=True).raise_for_status()

    assert (out == values).all()


def test_completions_in_any_order_over_many_rounds(
    attach: Any, array: Any, some_bytes: Callable[..., bytes]
) -> None:
    emulator, kv = attach({"threads": 2, "seed": 7}, queues=3, depth=128, window=127)
    emulator.fault("reorder", amount=64)
    emulator.fault("status", sct=0, sc=0x88, probability=0.01)
    values, out = array(COUNT * 64, "device"), array(COUNT * 64, "device")
    data = some_bytes(COUNT * 64, 1)
    values.fill(data)
    for _ in range(20):
        stored = kv.store(KEYS, values)
        retrieved = kv.retrieve(KEYS, out)
        got = np.frombuffer(out.bytes(), np.uint8).reshape(COUNT, 64)
        wanted = np.frombuffer(data, np.uint8).reshape(COUNT, 64)
        fine = retrieved.status == Outcome.OK
        assert (got[fine] == wanted[fine]).all()
        assert set(stored.counts) | set(retrieved.counts) <= {
            Outcome.OK,
            Outcome.ERROR,
            Outcome.MISSING,
        }
