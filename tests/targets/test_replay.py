"""Replays on every target: blocks land in the device's memory, and every byte is compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.targets.device import Target
from xiokv.runtime.kvcache import Keyspace, KvStorage
from xiokv.runtime.kvcache.replay import disturbances
from xiokv.runtime.kvcache.replay.disturbances import Clock
from xiokv.runtime.kvcache.replay.place import Place
from xiokv.runtime.kvcache.replay.run import Options, Outcome, Replay
from xiokv.runtime.kvcache.replay.shapes import Recipe, generate
from xiokv.runtime.testing.rig import make_rig

CONTROLLER = {"value_max": 1024, "queues": 8}
OPTIONS = Options(sizes=(64, 1500), seed=3)  # the second is split into two values


def replayed(target: Target, options: Options, count: int = 3) -> Outcome:
    clock = Clock()
    with make_rig(target.module, controller=CONTROLLER, queues=2, timeout=20.0) as rig:
        storage = KvStorage(rig.kv, Keyspace("replay"), clock=clock)
        place = Place(storage, clock, target.module, rig)
        return Replay(place, options).run(generate(Recipe(count, 3, "mixed", 512)))


def test_every_byte_that_lands_is_compared(target: Target) -> None:
    outcome = replayed(target, replace(OPTIONS, decline=0.3))
    metrics = outcome.metrics.as_values()
    assert (outcome.wrong, outcome.declined_retrieves) == (None, 0)
    assert outcome.declined_spans > 0
    assert outcome.checked_bytes == metrics["materialised_bytes"] == metrics["asked_bytes"] > 0
    assert metrics["commands"] == outcome.checked_blocks // 2 * 3


def test_what_is_not_right_there_is_found(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    flipped = {"flipped": disturbances._KINDS["flipped"]}
    monkeypatch.setattr(disturbances, "_KINDS", flipped)
    monkeypatch.setattr(disturbances, "SHARE", 1.0)
    options = replace(OPTIONS, faults=True)
    outcome = replayed(target, options)
    assert outcome.wrong is None
    assert outcome.metrics.states["CORRUPT"] >= 3
    outcome = replayed(target, replace(options, verify="never"))
    assert "which is no stamp" in str(outcome.wrong)
