"""A run: a lab and names of tables in, each table's rows out as soon as they are measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xiokv.runtime.bench import machine
from xiokv.runtime.bench.catalog import TABLES
from xiokv.runtime.bench.goals import with_goals
from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.progress import Progress
from xiokv.runtime.bench.report import Run
from xiokv.runtime.bench.rows import Row


def start(lab: Lab) -> Run:
    """Return a run without figures."""
    return Run(machine.describe(), lab.setting, [])


def measure(lab: Lab, names: Sequence[str], progress: Progress) -> Iterator[tuple[str, list[Row]]]:
    """Yield name and rows of each table that has any on this device."""
    for name in names:
        progress.table(TABLES[name].title)
        rows = [with_goals(row, lab.module.target) for row in TABLES[name].measure(lab)]
        progress.clear()
        if rows:
            yield name, rows
