"""What a batch costs follows what was measured last."""

from __future__ import annotations

import pytest

from xiokv.runtime.kvcache.fetch_cost import CostModel


def saw(model: CostModel, begin: float, a_byte: float, sizes: range) -> None:
    for size in sizes:
        model.saw(size, begin + a_byte * size)


def test_a_line_through_the_batches_is_found() -> None:
    model = CostModel()
    saw(model, 1e-3, 2e-9, range(1 << 20, 9 << 20, 1 << 20))
    cost = model.estimate(3, 1 << 24)
    assert cost.seconds == pytest.approx(1e-3 + 2e-9 * (1 << 24))
    assert (cost.commands, cost.bytes, cost.basis) == (
        3,
        1 << 24,
        "the last 8 batches of this storage",
    )


def test_each_batch_counts_from_the_next_estimate_on() -> None:
    model = CostModel()
    assert model.estimate(1, 100).seconds is None
    model.saw(100, 1.0)
    assert model.estimate(1, 100).seconds == pytest.approx(1.0)
    model.saw(100, 3.0)
    assert model.estimate(1, 100).seconds == pytest.approx(2.0)


def test_batches_of_long_ago_are_forgotten() -> None:
    model = CostModel()
    saw(model, 1.0, 1e-6, range(100, 200))
    assert (model.estimate(1, 1000).seconds or 0) > 0.5
    saw(model, 1e-3, 2e-9, range(1 << 20, 65 << 20, 1 << 20))
    assert model.estimate(1, 1000).seconds == pytest.approx(1e-3 + 2e-9 * 1000)


def test_what_moves_nothing_costs_nothing() -> None:
    model = CostModel()
    model.saw(100, 1.0)
    assert model.estimate(0, 0).seconds == 0.0
