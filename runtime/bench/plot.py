"""Charts of a run: rows in, one SVG file for each table that has an axis out.

The same run gives the same bytes. matplotlib is an extra, ``xiokv[plot]``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from xiokv.runtime.bench.catalog import TABLES, Table
from xiokv.runtime.bench.report import Run
from xiokv.runtime.bench.rows import Row, is_rate
from xiokv.runtime.errors import ArgumentFault, MissingFault, RuntimeFault

_INCHES = (8.0, 5.0)
_WIDE_RANGE = 30  # from where on an axis counts by factors
_DASHES = ("-", "--", ":", "-.")


def plot(run: Run, folder: Path) -> list[Path]:
    """Write the charts; return their files.

    Raises:
        MissingFault: there is no matplotlib.
        RuntimeFault: there is nothing to draw.
    """
    axes = pyplot()
    charts = {
        name: rows
        for name, table in TABLES.items()
        if table.axis
        and (rows := [row for row in run.rows if row.table == name and row.x is not None])
    }
    if not charts:
        raise RuntimeFault("--plot: nothing to draw: no row has a place on an axis")
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in charts.items():
        save(_chart(axes, run, TABLES[name], rows), folder / f"{name}.svg")
    return [folder / f"{name}.svg" for name in charts]


def check_plotting(names: Iterable[str]) -> None:
    """Raise a fault where `plot` could not work for some tables; before any is measured.

    Raises:
        ArgumentFault: none of them has a chart.
        MissingFault: there is no matplotlib.
    """
    charts = [name for name, table in TABLES.items() if table.axis]
    if not set(charts).intersection(names):
        raise ArgumentFault(
            f"--plot: nothing to draw of {', '.join(names)}; there are charts of"
            f" {', '.join(charts)}"
        )
    pyplot()


def pyplot() -> Any:
    """Return what draws, set so that the same figures give the same bytes.

    Raises:
        MissingFault: there is no matplotlib.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise MissingFault(
            "charts need matplotlib, which is not here; install it: pip install 'matplotlib>=3.7'"
        ) from error
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "xiokv"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as drawing

    return drawing


def _chart(pyplot: Any, run: Run, table: Table, rows: Sequence[Row]) -> Any:
    figure, axes = pyplot.subplots(figsize=_INCHES, layout="constrained")
    whos, settings = _in_order(row.who for row in rows), _in_order(row.setting for row in rows)
    for who, setting in product(whos, settings):
        line = [row for row in rows if (row.who, row.setting) == (who, setting)]
        style = {"color": f"C{whos.index(who)}", "linestyle": _DASHES[settings.index(setting)]}
        if line:
            _draw(axes, f"{who}, {setting}" if setting else who, line, style)
    axes.set_title(f"{table.title}\n{_machine(run)}", fontsize="medium")
    axes.set_xlabel(table.axis)
    axes.set_ylabel(rows[0].unit)
    _scale(axes, table, rows)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
    return figure


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _draw(axes: Any, label: str, line: Sequence[Row], style: Mapping[str, str]) -> None:
    spread = [[row.median - row.low for row in line], [row.high - row.median for row in line]]
    places, medians = [row.x for row in line], [row.median for row in line]
    axes.errorbar(
        places, medians, yerr=spread, label=label, marker="o", markersize=4, capsize=2, **style
    )


def _scale(axes: Any, table: Table, rows: Sequence[Row]) -> None:
    """Let an axis count by factors where figures are far apart."""
    from matplotlib import ticker

    places = sorted({row.x for row in rows if row.x})
    if places[-1] > _WIDE_RANGE * places[0]:
        axes.set_xscale("log")
    axes.set_xticks(places, [table.tick(place) for place in places], fontsize="small")
    axes.xaxis.minorticks_off()
    figures = [row.median for row in rows]
    if min(figures) > 0 and max(figures) > _WIDE_RANGE * min(figures):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if is_rate(rows[0].unit):
        axes.yaxis.set_major_formatter(ticker.EngFormatter())


def _machine(run: Run) -> str:
    """Return what the figures were measured on, as a line."""
    names = (run.setting.get("device"), run.machine.get("processor"))
    return ", ".join(str(name) for name in names if name)


def save(figure: Any, path: Path) -> None:
    """Write a figure as SVG: all of it, or none."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
