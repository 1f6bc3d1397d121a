"""The host's part of ``xiokv bench``: the engine beside a client on the CPU and baselines."""

from __future__ import annotations

from collections.abc import Iterator

from native import module
from samples import Row

from xiokv.runtime.bench import rows as figures
from xiokv.runtime.bench.catalog import TABLES
from xiokv.runtime.bench.lab import FULL, QUICK, Lab

NAMES = ("floor", "alone", "rates", "launch", "values")


def measure(tiny: bool) -> list[Row]:
    """Return the rows of those tables that the host has."""
    with Lab(module(), QUICK if tiny else FULL) as lab:
        return [
            row for name in NAMES for found in TABLES[name].measure(lab) for row in _rows(found)
        ]


def _rows(found: figures.Row) -> Iterator[Row]:
    """Yield a row, once for each that it is compared with."""
    figure = (found.unit, found.median, found.low, found.high)
    if not found.comparisons:
        yield Row(_name(found, found.who), *figure)
    for number, part in enumerate(found.comparisons):
        again = f" beside {part.beside}" if number else ""
        ratio = part.times if figures.is_rate(found.unit) else 1 / part.times
        yield Row(_name(found, found.who) + again, *figure, ratio, _name(found, part.beside))


def _name(found: figures.Row, who: str) -> str:
    case = f"{found.case}, {found.setting}" if found.setting else found.case
    return f"{found.table}, {case}: {who}"
