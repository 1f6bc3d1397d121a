"""Engine and controller stepped in turn, by seed, on machines of several shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import CASES, SEEN, Edit, Shape, Workshop, mutated, run

# One lane, as on the host; two waves with tables in shared memory, where fences acquire and
# where loads do; three waves whose larger windows have their tables in the queue's memory.
SHAPES = {
    "one lane": Shape(1, 1, 0),
    "two waves": Shape(8, 4, 64),
    "early acquire": Shape(8, 4, 64, early_acquire=True),
    "three waves": Shape(6, 2, 8),
}
SEEDS = 1200


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_every_key_gets_its_own_result_whatever_the_interleaving(
    name: str, workshop: Workshop, tmp_path: Path
) -> None:
    program = workshop.explorer(tmp_path, SHAPES[name])
    outcome = run(program, "seeds", 1, SEEDS)
    assert outcome.held, outcome.said
    assert outcome.tally["scenarios"] == SEEDS
    assert {key for key in SEEN if outcome.tally.get(key)} == SEEN
    assert outcome.tally.get("none") is None


@pytest.fixture(scope="module")
def explorer(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workshop.explorer(tmp_path_factory.mktemp("cases"), SHAPES["two waves"])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_case_comes_out_as_it_has_to(name: str, explorer: Path) -> None:
    outcome = run(explorer, "case", name, 1)
    assert outcome.held, outcome.said


# What is taken out of the engine.
MUTATIONS: dict[str, tuple[Edit, ...]] = {
    "a stop of the machine counts as a stall": (
        ("    times.warned = now;\n", "    times.warned = now - last;\n"),
    ),
    "no release before the SQ doorbell": (("  xiokv_release_system();\n", ""),),
    "no barrier in a round": (
        ("  xiokv_barrier();\n  const uint32_t seen =", "  const uint32_t seen ="),
    ),
    "no second read of a completion": (
        ("  uint32_t tail; ", "  xiokv_words before;\n  uint32_t tail; "),
        ("  bool watches; ", "  xiokv_words glimpse;\n  bool watches; "),
        (
            "    look.ahead = xiokv_peek32_if(loads, at, dword);\n",
            "    look.glimpse = xiokv_load16_if(loads, at),\n"
            "    look.ahead = look.glimpse.word[dword];\n",
        ),
        ("? xiokv_hold(look.again,", "? xiokv_hold(engine.before,"),
        (
            "  xiokv_tell(engine, look);\n",
            "  xiokv_tell(engine, look);\n  engine.before = look.glimpse;\n",
        ),
    ),
    "two rounds share what they tell": (("#define XIOKV_ROUNDS 3u", "#define XIOKV_ROUNDS 2u"),),
    "lanes store entries that others have not written yet": (
        ("  xiokv_wave_barrier();\n  xiokv_sqe *ring", "  xiokv_sqe *ring"),
    ),
    "keys read ahead are those of other lanes": (
        ("(after + first < room ? after : room)", "after"),
    ),
    "no generation in a CID": (("cid + (1u << slots.slot_bits)", "cid"),),
    "a CID of another generation is believed": (
        (
            "engine.slots.live[slot], cid, XIOKV_SLOT_FREE)",
            "engine.slots.live[slot], engine.slots.live[slot], XIOKV_SLOT_FREE)",
        ),
    ),
    "another queue's completion is believed": (("cqe.word[2] >> 16 != queue.qid", "false"),),
    "a size above the maximum is believed": (("done.value_size > queue.max_value", "false"),),
    "the phase does not flip": (("    engine.phase ^= 1u;\n", "    ;\n"),),
    "the wrapped entries' phase is the head's": (
        ("(engine.phase ^ (wrapped ? 1u : 0u))", "(engine.phase ^ (wrapped && 0))"),
    ),
    "one command too many in flight": (
        ("queue.window + 1u) -\n      1u;", "queue.window + 1u) -\n      0u;"),
    ),
    "the CQ doorbell is not written": (
        (
            "queue.cq_doorbell),\n                  engine.head",
            "queue.cq_doorbell),\n                  0",
        ),
    ),
    "the CQ doorbell follows the SQ doorbell that uses its room": (
        (
            "    xiokv_store32(reinterpret_cast<void *>(engine.queue.cq_doorbell),\n"
            "                  engine.head);\n",
            "",
        ),
        (
            "queue.sq_doorbell), engine.tail);\n",
            "queue.sq_doorbell), engine.tail);\n"
            "    xiokv_store32(reinterpret_cast<void *>(queue.cq_doorbell), engine.head);\n",
        ),
    ),
    "freed CIDs of two waves share a place": (("engine.give, base + rank", "engine.give, rank"),),
    "list pages are not chained": (("    if (!last)\n", "    if (false)\n"),),
    "all slots share their list pages": (
        ("static_cast<uint64_t>(slot) * queue.prp_pages", "0 * queue.prp_pages * slot"),
    ),
    "a queue whose command timed out stays alive": (
        ("engine.queue.state = XIOKV_QUEUE_DEAD;", "engine.queue.state += 0;"),
    ),
    "a batch that was stopped beforehand begins": (
        ("  if (room != 0 && engine.stopping == 0)\n", "  if (room != 0)\n"),
    ),
    "the batch's state is left as it was": (("      *state = {0, 0, 0};\n", ""),),
    "the mirror shows the state before": (
        ("xiokv_queue *>(engine.queue.mirror))", "xiokv_queue *>(engine.batch->queues))"),
    ),
    "keys that no queue claimed have no outcome": (
        ("      first = xiokv_device_add64(&state->claimed, 0);\n", ""),
    ),
}

# What makes a second read new, by the shape that it is there for.
ACQUIRES: dict[str, tuple[str, tuple[Edit, ...]]] = {
    "no fence before the second read": (
        "two waves",
        (("  if (!XIOKV_EARLY_ACQUIRE && engine.run != 0)\n    xiokv_acquire_system();\n", ""),),
    ),
    "no fence where a wave watches and encodes nothing": (
        "early acquire",
        (
            (
                "    if (XIOKV_EARLY_ACQUIRE && first < xiokv_watched(engine))\n"
                "      xiokv_acquire_system();\n",
                "",
            ),
        ),
    ),
    "no load that acquires": (
        "early acquire",
        (("  if (XIOKV_EARLY_ACQUIRE && idle)\n", "  if (false)\n"),),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ACQUIRES)
def test_a_second_read_that_may_be_old_is_found(
    name: str, workshop: Workshop, tmp_path: Path
) -> None:
    shape, edits = ACQUIRES[name]
    program = workshop.explorer(tmp_path, SHAPES[shape], mutated(tmp_path, edits))
    assert not run(program, "seeds", 1, SEEDS).held


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_fault_put_into_the_engine_is_found(
    name: str, workshop: Workshop, tmp_path: Path
) -> None:
    include = mutated(tmp_path, MUTATIONS[name])
    program = workshop.explorer(tmp_path, SHAPES["two waves"], include)
    assert not run(program, "seeds", 1, SEEDS).held
