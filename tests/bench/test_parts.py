"""The parts of xiokv bench by themselves: figures, goals, cores."""

from __future__ import annotations

import pytest

from xiokv.runtime.bench import names
from xiokv.runtime.bench.cores import Cores
from xiokv.runtime.bench.goals import with_goals
from xiokv.runtime.bench.rows import Row, compared, take_turns


def row(
    who: str,
    unit: str,
    *samples: float,
    table: str = "t",
    setting: str = names.NULL,
    x: float | None = None,
) -> Row:
    return Row(table, "case", setting, who, unit, samples, x)


def test_cases_take_turns_forth_and_back() -> None:
    order: list[str] = []

    def case(name: str) -> float:
        order.append(name)
        return float(len(order))

    samples = take_turns({"a": lambda: case("a"), "b": lambda: case("b")}, 3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert samples == {"a": [1, 4, 5], "b": [2, 3, 6]}


@pytest.mark.parametrize(("unit", "times"), [("commands/s", 4.0), ("us", 0.25)])
def test_more_is_better_in_a_comparison_of_rates_and_of_times(unit: str, times: float) -> None:
    *_, last = compared([row("a", unit, 1, 2, 9), row("b", unit, 8, 8, 8)])
    assert [(part.beside, part.times) for part in last.comparisons] == [("a", times)]


@pytest.mark.parametrize(("rate", "reached"), [(28e6, True), (27.9e6, False), (50e6, True)])
def test_a_goal_for_one_queue_is_a_rate(rate: float, reached: bool) -> None:
    found = with_goals(row(names.ENGINE, "commands/s", rate, table="rates", x=1), "cuda")
    assert found.goal is not None
    assert found.goal.reached(found.median) is reached


def test_all_queues_have_another_goal_than_one() -> None:
    found = with_goals(row(names.ENGINE, "commands/s", 1e8, table="rates", x=14), "cuda")
    assert found.goal is not None
    assert found.goal.least == 100e6


@pytest.mark.parametrize(("keys", "least"), [(1, 1 / 1.2), (32, 10), (256, 60), (1023, 130)])
def test_goals_for_a_launch_are_beside_the_reference(keys: int, least: float) -> None:
    lean, reference, engine = (
        row(who, "us", 1.0, table="launch", x=keys)
        for who in (names.LEAN, names.REFERENCE, names.ENGINE)
    )
    *_, last = compared([lean, reference, engine])
    goals = {part.beside: part.goal for part in with_goals(last, "cuda").comparisons}
    assert goals[names.LEAN] is None
    assert goals[names.REFERENCE] is not None
    assert goals[names.REFERENCE].least == pytest.approx(least)


@pytest.mark.parametrize("target", ["host", "cuda"])
@pytest.mark.parametrize(("setting", "least"), [("store", 0.9), ("store, CPU time", None)])
def test_a_goal_in_a_cluster_is_beside_rados_bench_on_every_target(
    target: str, setting: str, least: float | None
) -> None:
    both = (
        row(who, "values/s", 1.0, table="rados", setting=setting)
        for who in (names.RADOS_BENCH, names.RUNTIME)
    )
    *_, last = (with_goals(found, target) for found in compared(both))
    assert [part.goal and part.goal.least for part in last.comparisons] == [least]


def test_a_baseline_has_no_goal() -> None:
    found = row(names.REFERENCE, "commands/s", 1.0, table="rates", x=1)
    assert with_goals(found, "cuda") == found


@pytest.mark.parametrize(
    ("cores", "threads", "parties", "shares"),
    [
        (range(16), 7, 2, [range(1, 8), range(8, 15)]),
        (range(16), 14, 1, [range(1, 15)]),
        (range(16), 16, 1, [range(16)]),
        (range(2), 1, 2, [[0], [1]]),
        (range(2), 2, 2, [[], []]),
        (range(1), 1, 1, [[0]]),
        (range(1), 1, 2, [[], []]),
    ],
)
def test_no_core_is_in_two_shares(
    cores: range, threads: int, parties: int, shares: list[range]
) -> None:
    found = Cores(tuple(cores)).shares(threads, parties)
    assert found == [tuple(share) for share in shares]


@pytest.mark.parametrize(
    ("cores", "parties", "most"), [(16, 1, 15), (16, 2, 7), (2, 2, 1), (2, 1, 1), (1, 2, 1)]
)
def test_as_many_threads_as_have_cores(cores: int, parties: int, most: int) -> None:
    assert Cores(tuple(range(cores))).most(parties) == most
