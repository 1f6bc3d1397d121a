"""Whatever order completions, batches and streams come in, each result is at its own key."""

from __future__ import annotations

import numpy as np
import pytest

from tests.targets.device import (
    Target,
    content,
    key_array,
    keys_of,
    outcomes,
    random_values,
    reported,
)
from xiokv.runtime import Outcome, Place

COUNT, SIZE = 600, 64


@pytest.mark.parametrize("queues", [1, 3])
def test_every_command_works(target: Target, place: Place, queues: int) -> None:
    """What was stored exists, is listed, comes back, and is gone once it was deleted."""
    _, kv = target.attach(queues=queues, block_size=SIZE)
    keys, values = keys_of(COUNT), random_values(COUNT, SIZE)
    given, out = target.memory(values, place), target.memory(np.zeros_like(values), place)

    assert kv.exist(keys).counts == {Outcome.MISSING: COUNT}
    kv.store(keys, given).raise_for_status()
    assert kv.store(keys, given, if_absent=True).counts == {Outcome.EXISTS: COUNT}
    assert kv.exist([*keys, b"absent"]).counts == {Outcome.OK: COUNT, Outcome.MISSING: 1}
    assert sorted(kv.list()) == sorted(keys)
    result = kv.retrieve(keys, out)
    assert result.counts == {Outcome.OK: COUNT}
    assert set(result.value_size.tolist()) == {SIZE}
    assert (content(out, values) == values).all()
    kv.delete(keys[::2]).raise_for_status()
    assert kv.exist(keys).counts == {Outcome.OK: COUNT // 2, Outcome.MISSING: COUNT // 2}


@pytest.mark.parametrize(("kind", "amount"), [("reorder", 64), ("reverse", 32)])
@pytest.mark.parametrize("depth", [3, 255])
def test_completions_in_any_order_reach_their_own_keys(
    target: Target, place: Place, kind: str, amount: int, depth: int
) -> None:
    """Completions leave reversed or at random, on rings that wrap at odd places."""
    controller, kv = target.attach({"seed": 7}, depth=depth, block_size=SIZE)
    keys, values = keys_of(COUNT), random_values(COUNT, SIZE)
    kv.store(keys, target.memory(values, place)).raise_for_status()
    controller.fault(kind, amount=amount)
    out = target.memory(np.zeros_like(values), place)
    kv.retrieve(keys[::-1], out).raise_for_status()
    assert (content(out, values)[::-1] == values).all()


def run_past_the_last_cid(target: Target, depth: int, window: int) -> None:
    _, kv = target.attach({"null": True}, depth=depth, window=window, block_size=SIZE)
    for _ in range(2):
        assert kv.exist(key_array(35_000)).counts == {Outcome.OK: 35_000}
    assert reported(kv, "completed") == 70_000
    assert [reported(kv, name) for name in ("stale", "unknown", "foreign")] == [0, 0, 0]


@pytest.mark.parametrize(("depth", "window"), [(255, 1023), (1024, 100), (65536, 65535)])
def test_more_commands_than_there_are_cids(target: Target, depth: int, window: int) -> None:
    """Over 65,536 commands on one queue, by batches larger than most depths.

    The ring wraps, its phase flips, entries of the lap before and zeroed ones are there all
    the time, and without the completion doorbell there would soon be no room.
    """
    run_past_the_last_cid(target, depth, window)


@pytest.mark.slow
@pytest.mark.targets("host", "cuda")
@pytest.mark.parametrize("depth", [2, 3])
def test_more_commands_than_there_are_cids_one_or_two_at_a_time(target: Target, depth: int) -> None:
    """The same on the smallest rings, which a round trip a command makes slow."""
    run_past_the_last_cid(target, depth, 1023)


@pytest.mark.parametrize("depth", [2, 3, 255, 1024, 65536])
def test_bytes_are_right_at_any_depth(target: Target, depth: int) -> None:
    """A batch larger than most of the depths, retrieved in another order than stored."""
    _, kv = target.attach(depth=depth, block_size=16)
    keys, values = key_array(1500), random_values(1500, 16)
    kv.store(keys, target.memory(values)).raise_for_status()
    order = np.random.default_rng(depth).permutation(len(keys))
    out = target.memory(np.zeros_like(values))
    kv.retrieve(keys[order], out).raise_for_status()
    assert (content(out, values) == values[order]).all()


@pytest.mark.parametrize("streams", [1, 2])
def test_batches_run_one_after_the_other(target: Target, place: Place, streams: int) -> None:
    """Store, overwrite and retrieve without a wait between, in one stream or in two."""
    _, kv = target.attach(queues=2, depth=16, block_size=SIZE)
    one = target.stream()
    other = target.stream() if streams == 2 else one
    keys, values = keys_of(300), random_values(300, SIZE)
    first, second = target.memory(values, place), target.memory(~values, place)
    out = target.memory(np.zeros_like(values), place)
    for _ in range(5):
        results = [
            kv.store(keys, first, stream=one),
            kv.store(keys, second, stream=other),
            kv.retrieve(keys, out, stream=one),
        ]
        for result in results:
            result.raise_for_status()
        assert (content(out, values) == ~values).all()


def test_work_in_the_callers_stream_stays_before_and_after(target: Target) -> None:
    """Nothing of ours passes what waits in the stream, nor what the caller put there."""
    frozen, gate = target.attach({"threads": 0}, depth=4, block_size=SIZE, timeout=60.0)
    _, kv = target.attach(block_size=SIZE)
    stream = target.stream()
    keys, values = keys_of(300), random_values(300, SIZE)
    given = target.module.empty(values.nbytes, place=Place.DEVICE)
    out = target.module.empty(values.nbytes, place=Place.DEVICE)

    waiting = gate.exist([b"x"], stream=stream)
    given.view[:] = values.reshape(-1)
    given.upload(stream=stream)
    stored = kv.store(keys, given, stream=stream)
    taken = kv.retrieve(keys, out, stream=stream)
    out.download(stream=stream)
    assert not stored.wait(0.1)
    assert not taken.done
    assert not out.view.any()

    frozen.start()
    stream.synchronize()
    assert waiting.done
    assert stored.done
    taken.raise_for_status()
    assert (out.view.reshape(values.shape) == values).all()


def test_queues_are_shared_by_nobody_else(target: Target) -> None:
    """Two attaches to one controller run side by side, each on queues of its own."""
    controller, kv = target.attach(queues=2, block_size=SIZE)
    with target.module.attach(controller, queues=2, block_size=SIZE) as other:
        numbers = [pair.qid for each in (kv, other) for pair in each.queues]
        assert len(set(numbers)) == 4
        keys, values = keys_of(500), random_values(500, SIZE)
        kv.store(keys, target.memory(values), stream=target.stream()).raise_for_status()
        results = [each.exist(keys, stream=target.stream()) for each in (kv, other)]
        assert [result.counts for result in results] == [{Outcome.OK: 500}] * 2


def test_no_key_sends_no_command(target: Target) -> None:
    """A batch of no keys has an empty result, and ended before it began."""
    controller, kv = target.attach(block_size=SIZE)
    empty = target.module.empty(0)
    for result in (kv.store([], empty), kv.retrieve([], empty), kv.exist([]), kv.delete([])):
        result.raise_for_status()
        assert (len(result), result.done, outcomes(result)) == (0, True, [])
    assert controller.counters().commands == 0


@pytest.mark.slow
@pytest.mark.targets("host", "cuda")
def test_a_million_keys(target: Target, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch of 1,000,000 keys on two queues; its memory beside the values is printed."""
    count = 1_000_000
    _, kv = target.attach(queues=2, block_size=4)
    values = np.arange(count, dtype="<u4").view(np.uint8)
    given, out = target.memory(values, place), target.memory(np.zeros_like(values), place)
    taken = {Place.HOST: 0, Place.DEVICE: 0}
    allocate = type(target.module.driver).allocate

    def counted(driver, size, place=Place.HOST, **options):
        taken[place] += size
        return allocate(driver, size, place, **options)

    monkeypatch.setattr(type(target.module.driver), "allocate", counted)
    kv.store(key_array(count), given).raise_for_status()
    kv.retrieve(key_array(count), out).raise_for_status()

    assert (content(out, values) == values).all()
    print(f"{count} keys:", *(f"{size} bytes in {name}" for name, size in taken.items()))
    assert 24 * count < sum(taken.values()) < 80 * count
