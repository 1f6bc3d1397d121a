"""How a replay that is cut off ends: nothing is broken that was not before."""

from __future__ import annotations

import math

import pytest

from xiokv.runtime import Outcome, Stream
from xiokv.runtime.kvcache.replay.disturbances import TIMEOUT
from xiokv.runtime.kvcache.replay.place import Where, open_place
from xiokv.runtime.kvcache.replay.run import Options, Replay

KEYS = [b"key %d" % number for number in range(16)]


@pytest.fixture(autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


def test_a_batch_under_way_ends_by_itself_where_nothing_is_broken() -> None:
    with open_place(Where(target="host", queues=1)) as place, Stream() as stream:
        assert place.rig is not None
        replay = Replay(place, Options(sizes=(4096,)))
        place.rig.controller.fault("delay", amount=300_000)
        result = place.rig.kv.exist(KEYS, stream=stream)
        replay.clear(math.inf)
        assert result.done
        assert result.counts == {Outcome.MISSING: len(KEYS)}


def test_a_controller_that_a_fault_stopped_is_reset() -> None:
    with open_place(Where(target="host", queues=1, faults=True)) as place:
        assert place.rig is not None
        assert place.rig.kv.timeout == TIMEOUT
        replay = Replay(place, Options(sizes=(4096,), faults=True))
        place.rig.controller.kill()
        replay.clear(math.inf)
        assert place.rig.kv.exist(KEYS).counts == {Outcome.MISSING: len(KEYS)}
