"""Times, blocks and break-evens by hand, on either side of where they change."""

from __future__ import annotations

import pytest

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.breakeven.compare import (
    CHANGING,
    FETCH_ALWAYS,
    RECOMPUTE_ALWAYS,
    Reuse,
    break_even,
    row,
)
from xiokv.runtime.kvcache.breakeven.fetch import FetchCost, Timing, fitted, given
from xiokv.runtime.kvcache.breakeven.geometry import Geometry, GroupedQuery, Recurrent
from xiokv.runtime.kvcache.breakeven.origin import Origin
from xiokv.runtime.kvcache.breakeven.recompute import Formula, Speed

# 2 layers of one head of 256 elements: 2048 bytes a token in bf16.
ATTENTION = GroupedQuery(2, 1, 1, 256)
PLAIN = Geometry("plain", "", "", 1000, 500, ATTENTION)
# A state of 3 * 1024 * 4 = 12,288 bytes: three blocks of 4 KiB.
HYBRID = Geometry("hybrid", "", "", 1000, 500, ATTENTION, Recurrent(3, 1024, "fp32", 0, "bf16", 6))


def cost(latency: float, bandwidth: float, block: int = 4096) -> FetchCost:
    return given((block,), bandwidth, latency).costs[0]


def test_the_fitted_cost_passes_through_both_medians() -> None:
    one, many = Timing(1, (3e-6, 5e-6, 4e-6)), Timing(11, (2.4e-5, 1e-5, 9e-5))
    found = fitted(4096, one, many, Origin.MEASURED)
    assert found.bandwidth == pytest.approx(4096 / 2e-6)  # 20 us for ten more blocks
    assert found.latency == pytest.approx(2e-6)
    assert found.seconds(1) == pytest.approx(4e-6)
    assert found.seconds(11) == pytest.approx(2.4e-5)


def test_a_latency_is_never_below_0() -> None:
    found = fitted(4096, Timing(1, (1e-6,)), Timing(10, (4e-5,)), Origin.MEASURED)
    assert found.latency == 0
    assert found.bandwidth == pytest.approx(10 * 4096 / 4e-5)


def test_many_blocks_that_take_no_longer_than_one_mean_nothing() -> None:
    with pytest.raises(RuntimeFault, match=r"10 blocks of 4 KiB took no longer than one .*again"):
        fitted(4096, Timing(1, (5e-6,)), Timing(10, (5e-6,)), Origin.MEASURED)


def test_a_row_by_hand() -> None:
    # 5 tokens are 10,240 bytes: three blocks of 4 KiB, the last of them half empty.
    found = row(Reuse(PLAIN, "bf16"), cost(0.5, 4096), Speed(2.0), 5)
    assert (found.kv_bytes, found.blocks, found.tokens_per_block) == (10240, 3, 2.0)
    assert found.fetch == 0.5 + 3
    assert found.recompute == 2.5
    assert found.ratio == 2.5 / 3.5
    assert found.winner == "recompute"
    assert found.bandwidth == 3 * 4096 / (2.5 - 0.5)


def test_at_the_bandwidth_that_breaks_even_both_sides_take_as_long() -> None:
    reuse, speed = Reuse(HYBRID, "fp8", 100), Speed(7.0)
    needed = row(reuse, cost(0.25, 1e4), speed, 777).bandwidth
    assert needed is not None
    even = row(reuse, cost(0.25, needed), speed, 777)
    assert even.fetch + even.rest == pytest.approx(even.recompute)


def test_no_bandwidth_makes_up_for_a_latency_that_is_too_long() -> None:
    assert row(Reuse(PLAIN, "bf16"), cost(2.5, 1e12), Speed(2.0), 5).bandwidth is None


def test_fp8_halves_what_is_moved() -> None:
    assert row(Reuse(PLAIN, "fp8"), cost(0, 1e9), Speed(1.0), 8).blocks == 2
    assert row(Reuse(PLAIN, "bf16"), cost(0, 1e9), Speed(1.0), 8).blocks == 4


def test_a_state_is_fetched_with_the_context() -> None:
    found = row(Reuse(HYBRID, "bf16"), cost(0, 1e9), Speed(1.0), 5)
    assert (found.reused, found.blocks, found.rest) == (5, 3 + 3, 0)


def test_tokens_after_the_last_kept_state_are_computed() -> None:
    found = row(Reuse(HYBRID, "bf16", 4), cost(1.0, 4096), Speed(2.0), 7)
    assert found.reused == 4
    assert found.blocks == 2 + 3
    assert found.fetch == 1.0 + 5
    assert found.rest == 1.5
    assert found.recompute == 3.5


def test_before_the_first_kept_state_there_is_nothing_to_fetch() -> None:
    found = row(Reuse(HYBRID, "bf16", 8), cost(0, 1e12), Speed(2.0), 7)
    assert (found.reused, found.blocks, found.fetch) == (0, 0, 0)
    assert (found.rest, found.winner, found.bandwidth) == (3.5, "recompute", None)


def test_a_checkpoint_means_nothing_to_a_model_without_a_state() -> None:
    assert row(Reuse(PLAIN, "bf16", 8), cost(0, 1e9), Speed(1.0), 7).reused == 7


def test_the_rest_attends_to_what_was_fetched() -> None:
    prefill = Formula(HYBRID, 500, 1000.0, 0.5)
    found = row(Reuse(HYBRID, "bf16", 4), cost(0, 1e9), prefill, 6)
    # Two tokens: 1000 FLOPs each by parameters, 3 * 1024 * 6 each by the state, and the
    # fifth and sixth of a causal prefill see 5 and 6 keys, at 2 * (2 * 256 + 2 * 256) each.
    flops = 2 * (1000 + 3 * 1024 * 6) + (5 + 6) * 2 * 1024
    assert found.rest == pytest.approx(flops / 500)


def test_a_formula_divides_flops_by_what_the_machine_comes_to() -> None:
    assert Formula(PLAIN, 500, 1000.0, 0.5).seconds(3) == (3 * 1000 + 6 * 2 * 1024) / 500


# A token is half a block, which takes 1 s to move after 10 s of latency: at n tokens, a fetch
# takes 10 + ceil(n / 2), and a prefill at one token a second takes n.
@pytest.mark.parametrize(("context", "winner"), [(19, "recompute"), (20, "fetch"), (21, "fetch")])
def test_a_break_even_lies_between_its_two_sides(context: int, winner: str) -> None:
    reuse, blocks, speed = Reuse(PLAIN, "bf16"), cost(10.0, 4096), Speed(1.0)
    assert break_even(reuse, blocks, speed).tokens == 20
    assert row(reuse, blocks, speed, context).winner == winner


def test_a_break_even_is_where_no_later_block_makes_the_fetch_slower_again() -> None:
    # After 2 s, blocks of 8 tokens take 7 s: 9 s at 8 tokens, 16 at 9 and at 16, which are
    # even, 23 from 17 on, and so forth until 1 s a token has made up for every block.
    reuse, blocks, speed = Reuse(PLAIN, "bf16"), cost(2.0, 16384 / 7, 16384), Speed(1.0)
    wins = [n for n in range(1, 1001) if row(reuse, blocks, speed, n).winner == "fetch"]
    assert wins[0] == 16
    assert 17 not in wins
    even = break_even(reuse, blocks, speed).tokens
    assert even is not None
    assert even - 1 not in wins
    assert wins[-(1001 - even) :] == list(range(even, 1001))


def test_a_fetch_that_always_wins_says_so() -> None:
    found = break_even(Reuse(PLAIN, "bf16"), cost(0, 1e12), Speed(1.0))
    assert (found.tokens, found.verdict) == (None, FETCH_ALWAYS)


def test_a_recompute_that_always_wins_says_so() -> None:
    found = break_even(Reuse(PLAIN, "bf16"), cost(0, 1000.0), Speed(1.0))
    assert (found.tokens, found.verdict) == (None, RECOMPUTE_ALWAYS)


def test_a_break_even_past_the_longest_context_is_none() -> None:
    # 501 s of latency and half a second a token against one: 1002 tokens, of which there are
    # but 1000.
    found = break_even(Reuse(PLAIN, "bf16"), cost(501.0, 4096), Speed(1.0))
    assert found.verdict == RECOMPUTE_ALWAYS
    assert break_even(Reuse(PLAIN, "bf16"), cost(500.0, 4096), Speed(1.0)).tokens == 1000


def test_sides_that_take_turns_up_to_the_end_say_so() -> None:
    # As long a token on both sides: a block pays when it is full, and the 1000 tokens of the
    # longest context leave the last one of 16 half empty.
    found = break_even(Reuse(PLAIN, "bf16"), cost(0, 2048.0, 32768), Speed(1.0))
    assert (found.tokens, found.verdict) == (None, CHANGING)


def test_a_break_even_of_a_state_is_at_a_checkpoint() -> None:
    # 128 tokens are 64 blocks and a state of 3; 96 tokens 48 and 3, at one a second.
    reuse, speed = Reuse(HYBRID, "bf16", 32), Speed(1.0)
    assert break_even(reuse, cost(45.5, 4096), speed).tokens == 128
    assert break_even(reuse, cost(45.0, 4096), speed).tokens == 96


def test_where_nothing_can_be_fetched_a_fetch_without_latency_does_not_win() -> None:
    found = break_even(Reuse(HYBRID, "bf16", 32), cost(0, 1e12), Speed(1.0))
    assert (found.tokens, found.verdict) == (32, "")


def test_a_formula_breaks_even_sooner_than_its_first_tokens_tell() -> None:
    """The quadratic part of the prefill grows past a fetch that is slower at first."""
    prefill = Formula(PLAIN, 500, 3000.0, 1.0)  # a third of a second a token at first
    found = break_even(Reuse(PLAIN, "bf16"), cost(0, 2048.0), prefill)
    assert found.tokens is not None
    before, after = (
        row(Reuse(PLAIN, "bf16"), cost(0, 2048.0), prefill, at)
        for at in (found.tokens - 1, found.tokens)
    )
    assert (before.winner, after.winner) == ("recompute", "fetch")
