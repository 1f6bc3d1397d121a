"""What is told of a run as text: a `Result` in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xiokv.runtime.bench import report as bench_report
from xiokv.runtime.bench.report import Run, figure
from xiokv.runtime.kvcache.breakeven.compare import BreakEven, Row
from xiokv.runtime.kvcache.breakeven.fetch import Fetch, FetchCost, Timing
from xiokv.runtime.kvcache.breakeven.origin import Origin
from xiokv.runtime.kvcache.breakeven.recompute import Formula, Recompute, Speed
from xiokv.runtime.kvcache.breakeven.study import Result, Study
from xiokv.runtime.units import size_text

_COST_HEADING = ("block", "one block", "many blocks", "latency", "bandwidth")
_HEADING = (
    *("context", "KV", "block", "blocks", "tokens a block", "reused"),
    *("fetch", "rest", "recompute", "recompute/fetch", "less time", "breaks even at"),
)
_WORDS = ("less time",)
_TOLD = (
    "device",
    "processor",
    "cores",
    "target",
    "queues",
    "depth",
    "runs",
    "controller",
    "store",
    "threads",
)
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def lines(result: Result) -> Iterator[str]:
    """Yield the whole report."""
    yield from fetch_lines(result.fetch)
    for study in result.studies:
        yield ""
        yield from _study_lines(result.fetch, study)


def fetch_lines(fetch: Fetch) -> Iterator[str]:
    """Yield where the fetch side is from, and what blocks of each size cost."""
    yield f"fetch: {source_text(fetch)}"
    told = {**fetch.machine, **fetch.setting}
    facts = [f"{name}: {told[name]}" for name in _TOLD if name in told]
    if facts:
        yield f"  {', '.join(facts)}"
    cells = [_COST_HEADING, *map(_cost_cells, fetch.costs)]
    yield from (f"  {line}" for line in _table(cells))


def warnings(fetch: Fetch) -> Iterator[str]:
    """Yield what makes the figures of the fetch side doubtful."""
    yield from bench_report.warnings(Run(fetch.machine, fetch.setting, []))


def source_text(fetch: Fetch) -> str:
    """Return where the fetch side is from, in a line."""
    if fetch.origin is Origin.GIVEN:
        return "given"
    date = fetch.date or "the file does not say when"
    file = f" in {fetch.file}" if fetch.file else ""
    memory = "the GPU's" if fetch.place == "device" else "the host's"
    return f"{fetch.origin.value}{file} ({date}), blocks into {memory} memory"


def recompute_text(recompute: Recompute) -> str:
    """Return where the recompute side is from, in a line."""
    if isinstance(recompute, Speed):
        return f"given: {recompute.tokens_per_s:,.6g} tokens of a prefill a second"
    if isinstance(recompute, Formula):
        own = recompute.active_parameters == recompute.geometry.active_parameters
        return (
            f"formula, not measured: {recompute.active_parameters:,} active parameters"
            f"{'' if own else ' (given)'}, {recompute.flops:.4g} FLOP/s (given), MFU"
            f" {recompute.mfu:g} ({'given' if recompute.mfu_given else 'default'})"
        )
    return recompute.origin.value


def seconds_text(seconds: float) -> str:
    """Return a time in the unit that fits."""
    for factor, unit in _UNITS:
        if seconds >= factor or unit == "us":
            return f"{seconds / factor:.3g} {unit}"
    raise AssertionError


def even_text(even: BreakEven) -> str:
    """Return a break-even in words."""
    return even.verdict or f"fetch from {even.tokens:,} tokens on"


def _study_lines(fetch: Fetch, study: Study) -> Iterator[str]:
    geometry, reuse = study.reuse.geometry, study.reuse
    yield f"{geometry.title} ({geometry.name}), {reuse.kv_dtype}, {geometry.source}"
    yield f"  keeps {reuse.token_bytes:,} bytes a token{_state_text(study)}"
    yield f"  recompute: {recompute_text(study.recompute)}"
    yield f"  break-even, of contexts up to {geometry.context:,} tokens:"
    for even in study.evens:
        yield f"    {size_text(even.block_bytes) + ' blocks:':<15} {even_text(even)}"
    heading = tuple(
        {
            "fetch": f"fetch ({fetch.origin.value})",
            "recompute": f"recompute ({study.recompute.origin.value})",
        }.get(name, name)
        for name in _HEADING
    )
    partly = any(row.rest for row in study.rows)
    yield from _table([heading, *(_row_cells(row, partly) for row in study.rows)])


def _state_text(study: Study) -> str:
    size = study.reuse.geometry.state_bytes
    if not size:
        return ""
    every = study.reuse.checkpoint
    where = f"every {every:,} tokens" if every else "at the end of the context"
    return f", and a state of {size:,} bytes {where}"


def _cost_cells(cost: FetchCost) -> tuple[str, ...]:
    latency = seconds_text(cost.latency) if cost.latency_origin is not Origin.ABSENT else "0 us"
    return (
        size_text(cost.block_bytes),
        _timing_text(cost.one),
        _timing_text(cost.many),
        f"{latency} ({cost.latency_origin.value})",
        f"{figure(cost.bandwidth, 'bytes/s')} ({cost.bandwidth_origin.value})",
    )


def _timing_text(timing: Timing | None) -> str:
    if timing is None:
        return ""
    spread = f"{seconds_text(timing.median)} ({seconds_text(timing.low)} to "
    count = f"{timing.blocks}: " if timing.blocks > 1 else ""
    return f"{count}{spread}{seconds_text(timing.high)})"


def _row_cells(row: Row, partly: bool) -> tuple[str, ...]:
    return (
        f"{row.context:,}",
        size_text(row.kv_bytes),
        size_text(row.block_bytes),
        f"{row.blocks:,}",
        f"{row.tokens_per_block:.3g}",
        f"{row.reused:,}" if partly else "",
        seconds_text(row.fetch) if row.blocks else "nothing",
        seconds_text(row.rest) if partly else "",
        seconds_text(row.recompute),
        f"{row.ratio:.3g}x",
        row.winner,
        figure(row.bandwidth, "bytes/s") if row.bandwidth else "none",
    )


def _table(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield aligned lines; a column in which nothing is told has no heading either."""
    columns = [column for column in zip(*cells, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    for line in zip(*columns, strict=True):
        padded = (
            text.ljust(width) if column[0] in _WORDS else text.rjust(width)
            for text, width, column in zip(line, widths, columns, strict=True)
        )
        yield "  ".join(padded).rstrip()
