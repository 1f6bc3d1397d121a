"""What figures are wanted to be on an NVIDIA H200, to be told beside them.

In: a row. Out: the row with its goals. A goal is of one table, setting and contender, and of
the case where `x` is given; the first that fits counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from xiokv.runtime.bench.names import (
    CLIENT,
    ENGINE,
    ENGINE_ALONE,
    NULL,
    PING_PONG,
    REFERENCE,
)
from xiokv.runtime.bench.rows import Goal, Row

#: The target whose figures have goals.
TARGET = "cuda"


@dataclass(frozen=True, slots=True)
class _Wanted:
    table: str
    setting: str
    who: str
    x: float | None = None
    value: Goal | None = None
    beside: Mapping[str, Goal] = field(default_factory=dict)

    def fits(self, row: Row) -> bool:
        mine = (self.table, self.setting, self.who)
        return mine == (row.table, row.setting, row.who) and self.x in (None, row.x)


_GOALS = (
    _Wanted("rates", NULL, ENGINE, 1, Goal(28e6), {REFERENCE: Goal(130)}),
    _Wanted("rates", NULL, ENGINE, None, Goal(100e6)),
    _Wanted("launch", NULL, ENGINE, 1, None, {REFERENCE: Goal(1 / 1.2)}),
    _Wanted("launch", NULL, ENGINE, 32, None, {REFERENCE: Goal(10)}),
    _Wanted("launch", NULL, ENGINE, 256, None, {REFERENCE: Goal(60)}),
    _Wanted("launch", NULL, ENGINE, 1023, None, {REFERENCE: Goal(130)}),
    _Wanted("launch", NULL, ENGINE_ALONE, None, None, {PING_PONG: Goal(1 / 3.5)}),
    _Wanted("values", "", ENGINE, None, None, {CLIENT: Goal(0.9)}),
)


def with_goals(row: Row) -> Row:
    """Return a row with what is wanted of it."""
    wanted = next((goal for goal in _GOALS if goal.fits(row)), None)
    if wanted is None:
        return row
    comparisons = tuple(
        replace(comparison, goal=wanted.beside.get(comparison.beside))
        for comparison in row.comparisons
    )
    return replace(row, goal=wanted.value, comparisons=comparisons)
