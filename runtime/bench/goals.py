"""What figures are wanted to be, to be told beside them.

In: a row. Out: the row with its goals. A goal is of one table, setting and contender, and of
the case where `x` is given; the first that fits counts. Those of a GPU are for an NVIDIA H200.
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
    RADOS_BENCH,
    REFERENCE,
    RUNTIME,
)
from xiokv.runtime.bench.rows import Goal, Row


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


_GPU_TARGET = "cuda"
_GPU_GOALS = (
    _Wanted("rates", NULL, ENGINE, 1, Goal(28e6), {REFERENCE: Goal(130)}),
    _Wanted("rates", NULL, ENGINE, None, Goal(100e6)),
    _Wanted("launch", NULL, ENGINE, 1, None, {REFERENCE: Goal(1 / 1.2)}),
    _Wanted("launch", NULL, ENGINE, 32, None, {REFERENCE: Goal(10)}),
    _Wanted("launch", NULL, ENGINE, 256, None, {REFERENCE: Goal(60)}),
    _Wanted("launch", NULL, ENGINE, 1023, None, {REFERENCE: Goal(130)}),
    _Wanted("launch", NULL, ENGINE_ALONE, None, None, {PING_PONG: Goal(1 / 3.5)}),
    _Wanted("values", "", ENGINE, None, None, {CLIENT: Goal(0.9)}),
)
# On whatever is measured.
_GOALS = tuple(
    _Wanted("rados", setting, RUNTIME, None, None, {RADOS_BENCH: Goal(0.9)})
    for setting in ("store", "retrieve")
)


def with_goals(row: Row, target: str) -> Row:
    """Return a row, measured on a target, with what is wanted of it."""
    goals = (*_GOALS, *(_GPU_GOALS if target == _GPU_TARGET else ()))
    wanted = next((goal for goal in goals if goal.fits(row)), None)
    if wanted is None:
        return row
    comparisons = tuple(
        replace(comparison, goal=wanted.beside.get(comparison.beside))
        for comparison in row.comparisons
    )
    return replace(row, goal=wanted.value, comparisons=comparisons)
