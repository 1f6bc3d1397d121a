"""What becomes of a key is its own: outcomes, sizes, and the bytes beside a value."""

from __future__ import annotations

import numpy as np
import pytest

from tests.targets.device import Target, content, keys_of, outcomes, random_values
from xiokv.runtime import Outcome, Place

SIZE = 64


@pytest.mark.parametrize("queues", [1, 2])
def test_missing_and_failing_keys_are_alone(target: Target, place: Place, queues: int) -> None:
    """A key that is missing and one that fails in mid-batch; everything else comes back."""
    controller, kv = target.attach(queues=queues, depth=64, block_size=SIZE)
    keys, values = keys_of(500), random_values(500, SIZE)
    kv.store(keys, target.memory(values, place)).raise_for_status()
    controller.fault("status", key=keys[321], sct=0, sc=0x88, dnr=True)
    kv.delete([keys[123]]).raise_for_status()
    out = target.memory(np.zeros_like(values), place)

    result = kv.retrieve(keys, out)

    assert result.counts == {Outcome.OK: 498, Outcome.MISSING: 1, Outcome.ERROR: 1}
    assert (result.status[123], result.status[321]) == (Outcome.MISSING, Outcome.ERROR)
    assert result.nvme_status[321].item() == (0, 0x88, 1)
    fine = result.status == Outcome.OK
    found = content(out, values)
    assert (found[fine] == values[fine]).all()
    assert not found[~fine].any()


def test_a_value_larger_than_its_slot_is_truncated_with_its_whole_size(
    target: Target, place: Place
) -> None:
    """The slot is filled, nothing beside it; value_size says what room there should be."""
    _, kv = target.attach()
    values = random_values(1, 10_000)
    kv.store([b"large"], target.memory(values, place)).raise_for_status()
    before = np.full(8192, 0xEE, np.uint8)
    out = target.memory(before, place)

    result = kv.retrieve([b"large", b"large"], out, sizes=[100, 0], offsets=[4, 0])

    assert outcomes(result) == ["TRUNCATED", "TRUNCATED"]
    assert result.value_size.tolist() == [10_000] * 2
    before[4:104] = values[0, :100]
    assert (content(out, before) == before).all()


def test_values_of_all_sizes_share_a_batch(target: Target, place: Place) -> None:
    """Sizes from 0 to 8,191 in one batch, back to front; bytes past a value stay."""
    _, kv = target.attach(queues=2, depth=32)
    count, slot = 200, 8192
    sizes = np.random.default_rng(3).integers(0, slot, count)
    sizes[:8] = [0, 1, 3, 4, 5, 4095, 4096, 4097]
    values = random_values(count, slot)
    keys = keys_of(count)
    kv.store(keys, target.memory(values, place), sizes=sizes).raise_for_status()
    out = target.memory(np.full_like(values, 0xEE), place)

    result = kv.retrieve(keys[::-1], out)

    assert result.counts == {Outcome.OK: count}
    assert (result.value_size[::-1] == sizes).all()
    stored = np.arange(slot) < sizes[:, None]
    assert (content(out, values)[::-1] == np.where(stored, values, 0xEE)).all()


def test_a_key_given_twice_is_retrieved_twice(target: Target, place: Place) -> None:
    """Equal keys in one batch: a Store leaves one of their values, a Retrieve fills each slot."""
    _, kv = target.attach(queues=2, block_size=SIZE)
    values = random_values(400, SIZE)
    kv.store([b"same"] * 400, target.memory(values, place)).raise_for_status()
    out = target.memory(np.zeros_like(values), place)
    kv.retrieve([b"same"] * 400, out).raise_for_status()
    found = content(out, values)
    assert found[0].tolist() in values.tolist()
    assert (found == found[0]).all()


PAGES = [1, 4092, 4096, 4100, 8192, 8196, 12288, 513 << 12, (514 << 12) + 4, 1025 << 12]


@pytest.mark.parametrize("size", PAGES)
@pytest.mark.parametrize("start", [0, 4, 4092])
def test_values_of_many_pages_begin_anywhere(
    target: Target, place: Place, size: int, start: int
) -> None:
    """PRP entries, lists of one page and chained ones; neighbours' lists lie side by side."""
    _, kv = target.attach({"value_max": 8 << 20}, depth=4, window=3)
    count = 3
    slot = -(-size // 4096) * 4096 + 4096
    offsets = np.arange(count) * slot + start
    values = random_values(count + 1, slot).reshape(-1)
    keys = keys_of(count)
    kv.store(keys, target.memory(values, place), sizes=size, offsets=offsets).raise_for_status()
    wanted = np.full_like(values, 0xEE)
    out = target.memory(wanted, place)

    kv.retrieve(keys, out, sizes=size, offsets=offsets).raise_for_status()

    for offset in offsets:
        wanted[offset : offset + size] = values[offset : offset + size]
    assert (content(out, wanted) == wanted).all()
