"""Figures as they are told: samples in; medians, spreads and comparisons out.

A comparison is of two medians of one run. A goal is what a figure is wanted to be on the
machine that goals are set for; it is told whether it was reached, and nothing fails.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

Samples = dict[str, list[float]]
_T = TypeVar("_T")

#: How many times as large as the least sample the largest may be.
STEADY_SPREAD = 3.0


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure, of which more is better, is wanted to be at least."""

    least: float

    def reached(self, figure: float) -> bool:
        """Tell whether a figure is what is wanted."""
        return figure >= self.least


@dataclass(frozen=True, slots=True)
class Comparison:
    """A figure beside another of the same run.

    Attributes:
        beside: who the other is.
        times: how many times as fast this one is.
        goal: what `times` is wanted to be.
    """

    beside: str
    times: float
    goal: Goal | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        table: name of its table.
        case: what was measured.
        setting: under which circumstances; empty where a table has but one.
        who: what did it.
        unit: of the samples.
        samples: one a round.
        x: the case as a number, for charts.
        goal: what the median is wanted to be.
        comparisons: with others of the same case and setting.
    """

    table: str
    case: str
    setting: str
    who: str
    unit: str
    samples: tuple[float, ...]
    x: float | None = None
    goal: Goal | None = None
    comparisons: tuple[Comparison, ...] = ()

    @property
    def median(self) -> float:
        """The middle sample."""
        return statistics.median(self.samples)

    @property
    def low(self) -> float:
        """The least sample."""
        return min(self.samples)

    @property
    def high(self) -> float:
        """The largest sample."""
        return max(self.samples)

    @property
    def steady(self) -> bool:
        """Whether the samples are close enough to each other for a ratio to mean something."""
        return self.low > 0 and self.high <= STEADY_SPREAD * self.low

    def beside(self, *others: Row) -> Row:
        """Return it compared with others of the same unit."""
        found = (Comparison(other.who, self._times_as_fast(other)) for other in others)
        return replace(self, comparisons=(*self.comparisons, *found))

    def _times_as_fast(self, other: Row) -> float:
        rate = self.median / other.median
        return rate if is_rate(self.unit) else 1 / rate


def take_turns(cases: Mapping[str, Callable[[], float]], rounds: int) -> Samples:
    """Sample every case once a round, forth and back, so that drift falls on all alike."""
    return in_turns(cases, rounds)


def in_turns(cases: Mapping[str, Callable[[], _T]], rounds: int) -> dict[str, list[_T]]:
    """Do as `take_turns` does, whatever a sample is."""
    samples: dict[str, list[_T]] = {name: [] for name in cases}
    for number in range(rounds):
        order = list(cases)
        for name in order if number % 2 == 0 else reversed(order):
            samples[name].append(cases[name]())
    return samples


def compared(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows of one case, the last of them compared with all others."""
    *others, last = rows
    yield from (*others, last.beside(*others))


def is_rate(unit: str) -> bool:
    """Tell whether a unit is of a rate, where more is better."""
    return unit.endswith("/s")


def as_values(row: Row) -> dict[str, Any]:
    """Return a row for JSON."""
    return {
        "table": row.table,
        "case": row.case,
        "setting": row.setting,
        "who": row.who,
        "unit": row.unit,
        "x": row.x,
        "median": row.median,
        "low": row.low,
        "high": row.high,
        "samples": list(row.samples),
        "goal": _goal_values(row.goal, row.median),
        "comparisons": [
            {
                "beside": comparison.beside,
                "times": comparison.times,
                "goal": _goal_values(comparison.goal, comparison.times),
            }
            for comparison in row.comparisons
        ],
    }


def _goal_values(goal: Goal | None, figure: float) -> dict[str, Any] | None:
    if goal is None:
        return None
    return {"least": goal.least, "reached": goal.reached(figure)}
