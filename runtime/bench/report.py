"""What a run has to say: rows in; tables, or JSON, out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from xiokv.runtime.bench import rows as figures
from xiokv.runtime.bench.rows import Goal, Row

SCHEMA = "xiokv-bench/1"

Unsteady = Set[tuple[str, str]]
"""Case and name of those whose samples lie far apart."""

_HEADING = ("", "who", "median", "least", "most", "beside others", "wanted")
_DOUBT = "(?)"
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Run:
    """All of one run.

    Attributes:
        machine: where it was.
        setting: what was measured with.
        rows: the figures.
    """

    machine: Mapping[str, Any]
    setting: Mapping[str, Any]
    rows: list[Row]


def to_json(run: Run) -> str:
    """Return a run as one JSON object."""
    document = {
        "schema": SCHEMA,
        "machine": dict(run.machine),
        "setting": dict(run.setting),
        "rows": [figures.as_values(row) for row in run.rows],
    }
    return json.dumps(document, indent=1)


def heading(run: Run) -> Iterator[str]:
    """Yield the lines that say what the figures are of."""
    for name, value in {**run.machine, **run.setting}.items():
        yield f"{name}: {value}"


def warnings(run: Run) -> Iterator[str]:
    """Yield what makes the figures doubtful."""
    machine = run.machine
    load, cores = machine.get("load"), machine.get("system_cores", machine.get("cores"))
    if isinstance(load, int | float) and isinstance(cores, int | float) and load > cores:
        yield (
            f"load {load} on {cores} cores: other work took part of them, and figures and ratios"
            " may mean nothing; measure on an idle machine"
        )


def table(title: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table; figures of one case stand together."""
    unsteady = {(_case(row), row.who) for row in rows if not row.steady}
    cells = [_HEADING, *(_cells(row, unsteady) for row in rows)]
    # A column in which nothing is told has no heading either.
    widths = [
        max(map(len, rest)) and max(map(len, (head, *rest)))
        for head, *rest in zip(*cells, strict=True)
    ]
    yield ""
    yield title
    yield _line(_HEADING, widths)
    for _, case in groupby(zip(rows, cells[1:], strict=True), lambda pair: _case(pair[0])):
        for number, (_, row) in enumerate(case):
            yield _line(row if number == 0 else ("", *row[1:]), widths)
    if any(_DOUBT in text for row in cells for text in row[5:]):
        yield (
            f"{_DOUBT} samples of one side lie more than {figures.STEADY_SPREAD:g}-fold apart:"
            " measure on an idle machine"
        )


def figure(value: float, unit: str) -> str:
    """Return a number with its unit, as short as is exact enough."""
    if figures.is_rate(unit):
        for factor, prefix in _PREFIXES:
            if abs(value) >= factor:
                return f"{value / factor:.3g} {prefix}{_short(unit)}"
    if abs(value) >= 1000:
        return f"{value:,.0f} {_short(unit)}"
    return f"{value:.3g} {_short(unit)}"


def _short(unit: str) -> str:
    return {"commands/s": "/s", "values/s": "/s", "bytes/s": "B/s"}.get(unit, unit)


def _case(row: Row) -> str:
    return f"{row.case}, {row.setting}" if row.setting else row.case


def _cells(row: Row, unsteady: Unsteady) -> tuple[str, ...]:
    spread = (figure(value, row.unit) for value in (row.median, row.low, row.high))
    beside = ", ".join(
        f"{_times(part.times)}{_doubt(unsteady, row, part.beside)} {part.beside}"
        for part in row.comparisons
    )
    return (_case(row), row.who, *spread, beside, "; ".join(_wanted(row, unsteady)))


def _wanted(row: Row, unsteady: Unsteady) -> Iterator[str]:
    if row.goal is not None:
        yield _verdict(figure(row.goal.least, row.unit), row.goal, row.median) + _doubt(
            unsteady, row
        )
    for part in row.comparisons:
        if part.goal is not None:
            told = f"{_times(part.goal.least)} {part.beside}"
            yield _verdict(told, part.goal, part.times) + _doubt(unsteady, row, part.beside)


def _verdict(text: str, goal: Goal, got: float) -> str:
    return f"{text}: {'reached' if goal.reached(got) else 'MISSED'}"


def _doubt(unsteady: Unsteady, row: Row, *beside: str) -> str:
    """Return a mark where a figure, or what it stands beside, is none to rely on."""
    return _DOUBT if any((_case(row), who) in unsteady for who in (row.who, *beside)) else ""


def _times(times: float) -> str:
    return f"{times:.3g}x"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if 2 <= number <= 4 else cell.ljust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        if width
    ]
    return "  ".join(padded).rstrip()
