"""Engine and controller stepped in turn, by seed, on machines of several shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Edit, Shape, Workshop, mutated, run

# One lane, as on the host; two waves with tables in shared memory; three waves whose
# larger windows have their tables in the queue's memory.
SHAPES = {
    "one lane": Shape(1, 1, 0),
    "two waves": Shape(8, 4, 64),
    "three waves": Shape(6, 2, 8),
}
SEEDS = 1200

# Every outcome and report that the drawn faults can bring about has to turn up.
SEEN = {"ok", "truncated", "missing", "error", "timeout", "cancelled"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_every_key_gets_its_own_result_whatever_the_interleaving(
    name: str, workshop: Workshop, tmp_path: Path
) -> None:
    program = workshop.explorer(tmp_path, SHAPES[name])
    outcome = run(program, 1, SEEDS)
    assert outcome.held, outcome.said
    assert outcome.tally["scenarios"] == SEEDS
    assert {key for key in SEEN if outcome.tally.get(key)} == SEEN
    assert outcome.tally.get("none") is None


# What is taken out of the engine.
MUTATIONS: dict[str, tuple[Edit, ...]] = {
    "a stop of the machine counts as a stall": (
        ("    engine.warned = now;\n", "    engine.warned = now - last;\n"),
    ),
    "no release before the SQ doorbell": (("  xiokv_release_system();\n", ""),),
    "no barrier before the SQ doorbell": (
        (
            "  xiokv_release_system();\n  xiokv_barrier();\n",
            "  xiokv_release_system();\n",
        ),
    ),
    "no second read of a completion": (
        ("  uint32_t tail; ", "  xiokv_words seen;\n  uint32_t tail; "),
        (
            "    fresh = watches &&",
            "    engine.seen = words;\n    fresh = watches &&",
        ),
        ("cqe = xiokv_load16(xiokv_cqe_at(engine, step))", "cqe = engine.seen"),
    ),
    "no barrier after the results": (
        (
            "  xiokv_barrier();\n  const uint32_t freed =",
            "  const uint32_t freed =",
        ),
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
    "one command too many in flight": (("      1u;\n  engine.next", "      0u;\n  engine.next"),),
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
        ("engine.stored->state = XIOKV_QUEUE_DEAD;", "engine.stored->state += 0;"),
    ),
    "a batch that was stopped beforehand begins": (
        ("engine.stopping = engine.shared->stop[engine.round] != 0;", "engine.stopping = false;"),
    ),
    "keys that no queue claimed have no outcome": (
        ("last ? xiokv_device_add64", "false ? xiokv_device_add64"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_fault_put_into_the_engine_is_found(
    name: str, workshop: Workshop, tmp_path: Path
) -> None:
    include = mutated(tmp_path, MUTATIONS[name])
    program = workshop.explorer(tmp_path, SHAPES["two waves"], include)
    assert not run(program, 1, SEEDS).held
