"""Charts of a run: a `Result` in; an SVG of times for each model and one of bandwidths out.

The same run gives the same bytes. matplotlib is an extra, ``xiokv[plot]``.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xiokv.runtime.bench.plot import pyplot
from xiokv.runtime.kvcache.breakeven.fetch import Fetch
from xiokv.runtime.kvcache.breakeven.recompute import Formula, Recompute
from xiokv.runtime.kvcache.breakeven.report import even_text
from xiokv.runtime.kvcache.breakeven.study import Result, Study
from xiokv.runtime.output_files import check_different, output_file
from xiokv.runtime.units import size_text

_INCHES = (8.0, 5.0)
_GIGA = 1e9


def check_plotting() -> None:
    """Raise a `MissingFault` where there is no matplotlib; before anything is measured."""
    pyplot()


def plot(result: Result, folder: Path, inputs: Sequence[tuple[str, Path]] = ()) -> list[Path]:
    """Write the charts; return their files.

    Args:
        result: what is drawn.
        folder: that they go to; it is made where it is not there.
        inputs: files that were read, by their options; no chart may be one.

    Raises:
        MissingFault: there is no matplotlib.
        ArgumentFault: a chart would replace what was read.
        OSError: a chart cannot be written.
    """
    axes = pyplot()
    charts = {f"time-{study.reuse.geometry.name}": study for study in result.studies}
    files = [folder / f"{name}.svg" for name in (*charts, "bandwidth")]
    check_different([("--plot", file) for file in files], inputs)
    folder.mkdir(parents=True, exist_ok=True)
    for file, study in zip(files[:-1], charts.values(), strict=True):
        _save(_times(axes, result.fetch, study), file)
    _save(_bandwidths(axes, result), files[-1])
    return files


def _save(figure: Any, path: Path) -> None:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    with output_file(path) as file:
        file.write(drawn.getvalue())


def _times(pyplot: Any, fetch: Fetch, study: Study) -> Any:
    """Draw the time of both sides by the length of the context."""
    figure, axes = pyplot.subplots(figsize=_INCHES, layout="constrained")
    for number, (cost, even) in enumerate(zip(fetch.costs, study.evens, strict=True)):
        mine = [row for row in study.rows if row.block_bytes == cost.block_bytes and row.blocks]
        label = f"fetch, {size_text(cost.block_bytes)} ({fetch.origin.value}): {even_text(even)}"
        times = [row.fetch + row.rest for row in mine]
        _line(axes, [row.context for row in mine], times, label, f"C{number}")
    all_rows = {row.context: row.recompute for row in study.rows}
    label = f"recompute ({study.recompute.origin.value}{_assumed(study.recompute)})"
    axes.plot(list(all_rows), list(all_rows.values()), "k--", label=label)
    geometry = study.reuse.geometry
    axes.set_title(f"{geometry.title}, {study.reuse.kv_dtype}\n{_where(fetch)}", fontsize="medium")
    axes.set_ylabel("seconds")
    _finish(figure, axes, sorted(all_rows))
    return figure


def _bandwidths(pyplot: Any, result: Result) -> Any:
    """Draw the bandwidth that a fetch needs to break even, with blocks of the largest size."""
    figure, axes = pyplot.subplots(figsize=_INCHES, layout="constrained")
    largest = result.fetch.costs[-1]
    contexts: set[int] = set()
    for number, study in enumerate(result.studies):
        mine = [row for row in study.rows if row.block_bytes == largest.block_bytes]
        drawn = [(row.context, row.bandwidth / _GIGA) for row in mine if row.bandwidth]
        contexts.update(row.context for row in mine)
        label = f"{study.reuse.geometry.title}, needed ({study.recompute.origin.value})"
        _line(axes, [x for x, _ in drawn], [y for _, y in drawn], label, f"C{number}")
    for number, cost in enumerate(result.fetch.costs):
        label = f"{size_text(cost.block_bytes)} blocks, there ({cost.bandwidth_origin.value})"
        style = {"color": "black", "linestyle": (0, (1, 1 + number)), "linewidth": 1}
        axes.axhline(cost.bandwidth / _GIGA, label=label, **style)
    axes.set_title(
        f"Bandwidth at which fetch and recompute take as long, blocks of"
        f" {size_text(largest.block_bytes)}\n{_where(result.fetch)}",
        fontsize="medium",
    )
    axes.set_ylabel("GB/s")
    _finish(figure, axes, sorted(contexts))
    return figure


def _line(axes: Any, x: Sequence[int], y: Sequence[float], label: str, color: str) -> None:
    axes.plot(x, y, label=label, color=color, marker="o", markersize=4)


def _finish(figure: Any, axes: Any, contexts: Sequence[int]) -> None:
    axes.set_xlabel("tokens of the context")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(contexts, [_tick(context) for context in contexts], fontsize="small")
    axes.xaxis.minorticks_off()
    axes.grid(visible=True, alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")


def _tick(context: int) -> str:
    return f"{context >> 10}Ki" if context % 1024 == 0 else f"{context:,}"


def _assumed(recompute: Recompute) -> str:
    if not isinstance(recompute, Formula):
        return ""
    return f": {recompute.flops:.4g} FLOP/s, MFU {recompute.mfu:g}"


def _where(fetch: Fetch) -> str:
    """Return where the fetch side is from, as a line."""
    names = (fetch.setting.get("device"), fetch.machine.get("processor"), fetch.date)
    told = [str(name) for name in names if name]
    return f"fetch {fetch.origin.value}{': ' if told else ''}{', '.join(told)}"
