"""vLLM's connector in an engine: blocks that are loaded are those that would be computed."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.connectors import tensors
from tests.connectors.engine import (
    BLOCK_TOKENS,
    ROLES,
    Engine,
    cache_config,
    caches,
    config,
    pages,
)
from xiokv.runtime import ArgumentFault, Operation
from xiokv.runtime.connectors.vllm import Connector
from xiokv.runtime.connectors.vllm_caches import Region, regions_of
from xiokv.runtime.connectors.vllm_facts import Facts, Place

PROMPT = list(range(100, 146))
BLOCKS = len(PROMPT) // BLOCK_TOKENS


class Base:
    """As much of vLLM's `KVConnectorBase_V1` as the connector needs."""

    def __init__(self, vllm_config: Any, role: Any, kv_cache_config: Any) -> None:
        self._connector_metadata: Any = None

    def bind_connector_metadata(self, metadata: Any) -> None:
        self._connector_metadata = metadata

    def clear_connector_metadata(self) -> None:
        self._connector_metadata = None


class Alone(Connector, Base):
    """The connector without vLLM."""


Make = Callable[..., Engine]


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tensors be those of the tests."""
    module = ModuleType("torch")
    vars(module).update(
        uint8=tensors.uint8, from_numpy=tensors.from_numpy, version=SimpleNamespace()
    )
    monkeypatch.setitem(sys.modules, "torch", module)


@pytest.fixture
def make(stand: Any) -> Iterator[Make]:
    """Return a function that makes an engine."""
    made: list[Engine] = []

    def make(options: Any = None, **facts: Any) -> Engine:
        engine = Engine(Alone, stand.options(**(options or {})), **facts)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()


def computed(**facts: Any) -> list[bytes]:
    """Return the bytes of the prompt's blocks, computed by an engine that loads nothing."""

    class Nothing(Alone):
        def __init__(self, *_: Any) -> None:
            self._scheduler = self._worker = self._attachment = None
            self._errors: set[int] = set()
            self._connector_metadata = None

    engine = Engine(Nothing, {}, **facts)
    return pages(engine, engine.run(PROMPT))


ENGINES = {
    "one worker": {},
    "two workers": {"tp": 2},
    "ahead": {"ahead": True},
    "two ahead": {"tp": 2, "ahead": True},
    "a latent": {"tp": 2, "use_mla": True},
    "heads first": {"order": "LBHNC"},
    "blocks first": {"order": "BLNHC"},
    "blocks and heads first": {"order": "BLHNC"},
    "a GPU that the engine does not reach": {"device": "cuda:0"},
}


@pytest.mark.parametrize("what", ENGINES)
def test_another_engine_loads_all_whole_blocks_but_what_it_has_to_compute(
    make: Make, what: str
) -> None:
    facts = ENGINES[what]
    writer, reader = make(**facts), make(seed=1, **facts)
    writer.run(PROMPT)
    request = reader.run(PROMPT)
    assert (writer.loaded, reader.loaded) == (0, BLOCKS * BLOCK_TOKENS)
    assert pages(reader, request) == computed(**facts)
    assert reader.failed == 0
    assert [worker.failures for worker in reader.workers] == [{}] * reader.tp


def test_a_prompt_of_whole_blocks_leaves_the_last_to_compute(make: Make) -> None:
    make().run(PROMPT[:8])
    engine = make()
    engine.run(PROMPT[:8])
    assert engine.loaded == BLOCK_TOKENS


def test_a_longer_prompt_loads_what_it_has_in_common_and_stores_the_rest(make: Make) -> None:
    make().run(PROMPT[:20])
    engine = make()
    request = engine.run(PROMPT)
    assert engine.loaded == 20
    assert pages(engine, request) == computed()
    last = make()
    last.run(PROMPT)
    assert last.loaded == BLOCKS * BLOCK_TOKENS


def test_another_prompt_loads_nothing(make: Make) -> None:
    make().run(PROMPT)
    engine = make()
    engine.run([1, *PROMPT])
    assert engine.loaded == 0


def test_a_consumer_stores_nothing_and_a_producer_loads_nothing(make: Make) -> None:
    make(role="kv_consumer").run(PROMPT)
    first, producer, consumer = make(), make(role="kv_producer"), make(role="kv_consumer")
    first.run(PROMPT[:8])
    assert first.loaded == 0
    producer.run(PROMPT)
    consumer.run(PROMPT)
    assert (producer.loaded, consumer.loaded) == (0, BLOCKS * BLOCK_TOKENS)


def test_overrides_by_a_function_are_the_same_in_every_process() -> None:
    settings = [config({}) for _ in range(2)]
    for one in settings:
        # As in two processes: the same function, at two places.
        exec("def change(hf): ...", found := {"__name__": "own"})
        one.model_config.hf_overrides = found["change"]
    layouts = [Facts(one, cache_config(8)).layout(Place(0, 0), 0) for one in settings]
    assert layouts[0] == layouts[1]


def test_blocks_lie_wherever_they_were_allocated(make: Make) -> None:
    engine = make(seed=5)
    ids = engine.run(PROMPT).block_ids
    assert all(abs(a - b) > 1 for a, b in pairwise(ids[:5])), ids
    request = make(seed=6).run(PROMPT)
    assert request.block_ids != ids


def test_blocks_that_are_not_loaded_stay_as_they_were(make: Make) -> None:
    make().run(PROMPT)
    engine = make(seed=3)
    for cache in engine.caches[0].values():
        cache.array[:] = 7
    request = engine.run(PROMPT)
    for block in set(range(engine.blocks)) - set(request.block_ids):
        assert (engine.page(0, 1, block) == 7).all()


OTHERS = {
    "tenant": {"options": {"tenant": "u"}},
    "policy": {"options": {"policy": "p"}},
    "model": {"model": "other"},
    "workers": {"tp": 2},
    "dtype": {"cache_dtype": "fp8"},
    "order": {"order": "LBHNC"},
    "latent": {"use_mla": True},
}


@pytest.mark.parametrize("what", OTHERS)
def test_others_do_not_find_the_blocks(make: Make, what: str) -> None:
    if what != "latent":
        make().run(PROMPT)
        engine = make(**OTHERS[what])
    else:  # one rank's share of heads is no latent of two ranks
        make(tp=2).run(PROMPT)
        engine = make(tp=2, **OTHERS[what])
    engine.run(PROMPT)
    assert engine.loaded == 0


# What goes wrong


def values(stand: Any) -> list[bytes]:
    """Return the keys of the values that are stored."""
    stand.seen = set()
    return stand.stored()


FAULTS = {
    "gone": lambda faults, keys: faults.miss(keys),
    "truncated": lambda faults, keys: faults.truncate(keys, 8),
    "flipped": lambda faults, keys: faults.flip(keys),
    "failed": lambda faults, keys: faults.fail(keys),
    "late": lambda faults, keys: faults.drop(keys),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "facts",
    [{}, {"ahead": True}, {"tp": 2}, {"tp": 2, "ahead": True}, {"device": "cuda:0"}],
    ids=str,
)
def test_blocks_that_are_spoilt_are_computed_and_nothing_wrong_is_stored(
    make: Make, stand: Any, fault: str, facts: dict[str, Any]
) -> None:
    make(**facts).run(PROMPT[:24])
    FAULTS[fault](stand.rig.faults, random.Random(2).sample(values(stand), 3))
    # A time in which a command that is not held back comes through.
    engine = make({"timeout": 1} if fault == "late" else None, seed=1, **facts)
    request = engine.run(PROMPT)
    assert engine.failed > 0
    assert pages(engine, request) == computed(**facts)
    stand.rig.faults.clear()
    reader = make(seed=2, **facts)
    request = reader.run(PROMPT)
    assert pages(reader, request) == computed(**facts)


def test_a_spoilt_block_is_stored_again_by_who_computed_it(make: Make, stand: Any) -> None:
    make().run(PROMPT)
    stand.rig.faults.flip(values(stand))
    engine = make(seed=1)
    engine.run(PROMPT)
    assert engine.failed > 0
    reader = make(seed=2)
    reader.run(PROMPT)
    assert (reader.loaded, reader.failed) == (BLOCKS * BLOCK_TOKENS, 0)


def test_a_block_of_which_a_part_was_not_stored_is_not_said_to_be_there(
    make: Make, stand: Any
) -> None:
    make().run(PROMPT)
    keys = values(stand)
    for key in random.Random(1).sample(keys, 8):
        stand.rig.faults.clear()
        stand.rig.kv.delete(list(stand.rig.kv.list())).raise_for_status()
        stand.rig.faults.fail([key], operation=Operation.STORE)
        writer, reader = make(), make(seed=1)
        writer.run(PROMPT)
        reader.run(PROMPT)
        assert reader.loaded < BLOCKS * BLOCK_TOKENS
        assert reader.failed == 0
        writer.close()
        reader.close()


def test_random_faults_never_leave_a_wrong_byte(make_stand: Any) -> None:
    for seed in range(12):
        stand, chance = make_stand(), random.Random(seed)
        facts = {"tp": chance.choice([1, 2]), "ahead": chance.choice([False, True])}
        engines = [Engine(Alone, stand.options(), seed=n, **facts) for n in range(3)]
        engines[0].run(PROMPT[: chance.randrange(8, 46)])
        for engine in engines[1:]:
            stand.rig.faults.clear()
            keys = values(stand)
            for fault in chance.sample([name for name in FAULTS if name != "late"], 2):
                stand.rig.faults.clear()
                FAULTS[fault](stand.rig.faults, chance.sample(keys, min(3, len(keys))))
            request = engine.run(PROMPT)
            assert pages(engine, request) == computed(**facts), (seed, facts)
        for engine in engines:
            engine.close()


def test_a_dead_controller_leaves_an_engine_that_computes(make: Make, stand: Any) -> None:
    engine = make({"retry": 30, "timeout": 0.5})
    make().run(PROMPT[:24])
    stand.rig.faults.hang()
    request = engine.run(PROMPT)
    assert engine.loaded == 0
    assert pages(engine, request) == computed()


def test_a_controller_that_dies_before_the_load_fails_those_blocks(
    make: Make, stand: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make().run(PROMPT)
    engine = make({"timeout": 1})
    load = engine.workers[0].start_load_kv

    def dying(context: Any) -> None:
        stand.rig.faults.hang()
        load(context)

    monkeypatch.setattr(engine.workers[0], "start_load_kv", dying)
    request = engine.run(PROMPT)
    assert engine.failed == BLOCKS
    assert pages(engine, request) == computed()


def test_wrong_bytes_do_not_come_into_a_gpu_by_way_of_the_host(make: Make, stand: Any) -> None:
    make().run(PROMPT)
    stand.rig.faults.flip(values(stand))
    engine = make(device="cuda:0", chunk=1)
    landed = []
    write = Region.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Region, "write", lambda *given: (landed.append(given), write(*given)))
        engine.run(PROMPT)
    assert engine.failed == BLOCKS
    assert landed == []


def test_nothing_raises_after_the_end_or_without_metadata(make: Make) -> None:
    engine = make()
    engine.run(PROMPT)
    engine.close()
    engine.close()
    request = engine.run(PROMPT, "again")
    assert pages(engine, request) == computed()
    worker = engine.workers[0]
    worker.start_load_kv(None)
    worker.wait_for_save()
    assert worker.get_finished({"again"}) == (None, None)
    assert worker.get_block_ids_with_load_errors() == set()
    assert engine.scheduler.get_num_new_matched_tokens(None, 0) == (0, False)
    assert engine.scheduler.update_state_after_alloc(None, None, 4) is None
    assert engine.scheduler.build_connector_meta(None) is not None
    assert engine.scheduler.request_finished(None, []) == (False, None)


# Engines that are not taken


class MambaSpec:
    """A kind of cache that is not taken."""


REFUSED = {
    "a state": (cache_config(8, spec=MambaSpec()), {}, "MambaSpec"),
    "several groups": (
        SimpleNamespace(num_blocks=8, kv_cache_groups=cache_config(8).kv_cache_groups * 2),
        {},
        "2 groups",
    ),
    "context parallel": (cache_config(8), {"dcp": 2}, "decode_context_parallel_size is 2"),
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("what", REFUSED)
def test_models_of_other_kinds_are_refused_at_once(stand: Any, what: str, role: str) -> None:
    layout, facts, message = REFUSED[what]
    with pytest.raises(ArgumentFault, match=message):
        Alone(config(stand.options(), **facts), ROLES[role], layout)


@pytest.mark.parametrize("role", ROLES)
def test_an_unknown_option_is_refused_by_the_nearest(stand: Any, role: str) -> None:
    with pytest.raises(ArgumentFault, match="the nearest is 'tenant'"):
        Alone(config(stand.options(tennant="x")), ROLES[role], cache_config(8))


# Where blocks lie


@pytest.mark.parametrize(
    ("order", "runs"), [("LBNHC", 3), ("LBHNC", 3), ("BLNHC", 1), ("BLHNC", 1)]
)
def test_layers_side_by_side_in_a_block_are_one_run(order: str, runs: int) -> None:
    (region,) = regions_of(caches(3, 5, order), 5)
    assert len(region.runs) == runs
    assert sum(run.size for run in region.runs) == 3 * 2 * 4 * 8 * 2


@pytest.mark.parametrize("order", ["LHBNC", "BHLNC"])
def test_blocks_in_several_pieces_are_refused(order: str) -> None:
    with pytest.raises(ArgumentFault, match="does not have 5 blocks of one piece"):
        regions_of(caches(3, 5, order), 5)


def test_padded_blocks_are_told_apart_from_their_padding() -> None:
    (region,) = regions_of(caches(2, 5, "LBNHC", pad=8), 5)
    assert [(run.size, run.stride) for run in region.runs] == [(128, 144)] * 2


def test_a_block_may_be_several_of_the_kernels() -> None:
    one = caches(2, 10)
    (region,) = regions_of(one, 5)
    assert [(run.size, run.stride) for run in region.runs] == [(256, 256)] * 2


def test_layers_that_share_a_cache_are_moved_once() -> None:
    own = caches(2, 5)
    (region,) = regions_of({**own, "layers.2": own["layers.0"]}, 5)
    assert len(region.runs) == 2


def test_storages_of_their_own_are_regions() -> None:
    own = {f"l{number}": next(iter(caches(1, 5).values())) for number in range(3)}
    assert [region.first for region in regions_of(own, 5)] == [0, 1, 2]


def test_a_number_of_blocks_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ArgumentFault, match="does not have 4 blocks"):
        regions_of(caches(2, 5), 4)


def test_slots_are_read_in_their_order() -> None:
    cache = caches(3, 6)
    for number, layer in enumerate(cache.values()):
        layer.array[:] = np.arange(6).reshape(-1, 1, 1, 1) + 100 * number
    (region,) = regions_of(cache, 6)
    slots = region.slots(np.array([4, 1]), range(3))
    seen = [row.view(np.uint16)[0] for row in slots.read(np.array([0, 1, 3, 4]))]
    assert seen == [4, 1, 101, 204]
