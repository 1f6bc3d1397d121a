"""Completions of commands that were never sent: no result leaves the batch's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Shape, Workshop, mutated, run

SHAPE = Shape(8, 4, 64, early_acquire=True)


# The tables are in shared memory, or in the queue's own.
@pytest.mark.parametrize("window", [40, 100])
def test_results_go_to_keys_of_the_batch(window: int, workshop: Workshop, tmp_path: Path) -> None:
    outcome = run(workshop.forger(tmp_path, SHAPE), window)
    assert outcome.held, outcome.said
    assert outcome.tally["found"] > 0


@pytest.mark.slow
def test_a_slot_whose_key_nobody_wrote_is_found(workshop: Workshop, tmp_path: Path) -> None:
    include = mutated(tmp_path, (("      engine.slots.key[i] = 0;\n", ""),))
    outcome = run(workshop.forger(tmp_path, SHAPE, include), 100)
    assert "not of the batch" in outcome.said
