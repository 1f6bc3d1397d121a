"""What a fetch cost an earlier run: the file of ``xiokv bench --json`` in, a `Fetch` out.

Blocks into the memory of a GPU (table ``device``) have times of one block and of many, from
which latency and bandwidth follow. Values in the host's memory (``values``, then ``sizes``)
have a bandwidth alone; the launch of one key (``launch``) has a time at its own size.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from xiokv.runtime.bench import saved
from xiokv.runtime.bench.names import ENGINE
from xiokv.runtime.bench.report import Run
from xiokv.runtime.bench.rows import Row
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.breakeven import kept
from xiokv.runtime.kvcache.breakeven.fetch import Fetch, FetchCost, Timing, fitted
from xiokv.runtime.kvcache.breakeven.origin import Origin
from xiokv.runtime.output_files import is_regular, named
from xiokv.runtime.units import size_text

DEVICE, HOST = "device", "host"
_RATE_TABLES = ("values", "sizes")
_BLOCKS = re.compile(r"([0-9]+) blocks?")
_LAUNCH = ("1 key", "full controller, 4 KiB")
_LAUNCH_BYTES = 4 << 10
_MICROSECOND = 1e-6


def read(
    path: Path, place: str = "", sizes: Sequence[int] = (), latency: float | None = None
) -> Fetch:
    """Return the fetch side of an earlier run.

    Args:
        path: what ``xiokv bench --json`` or ``xiokv breakeven --json`` has written.
        place: "device" or "host", where blocks ended; empty for the device where it is there.
        sizes: bytes of a block; none for all that there are.
        latency: seconds, for sizes whose latency is not recorded.

    Raises:
        ArgumentFault: what is asked for is not recorded.
        RuntimeFault: the file holds no run, or no row of the engine that says what a fetch
            costs.
    """
    fetch = _read(path, place)
    if place and fetch.place != place:
        raise ArgumentFault(
            f"--place {place}: blocks of {path} ended in the {fetch.place}'s memory"
        )
    return _with_latency(_chosen(fetch, sizes), latency)


def _read(path: Path, place: str) -> Fetch:
    """Read a file, or a copy of what can be read only once."""
    if is_regular(path):
        return kept.read(path) or _of_bench(path, saved.read(path), place)
    with tempfile.NamedTemporaryFile("wb") as file:
        with named(path):
            file.write(path.read_bytes())
            file.flush()
        copy = Path(file.name)
        try:
            fetch = kept.read(copy) or _of_bench(copy, saved.read(copy), place)
        except RuntimeFault as fault:
            raise type(fault)(str(fault).replace(str(copy), str(path))) from fault
    return replace(fetch, file=str(path))


def _of_bench(path: Path, run: Run, place: str) -> Fetch:
    by_place = {DEVICE: _timed(run), HOST: _rated(run)}
    there = place or next((name for name, costs in by_place.items() if costs), "")
    if not by_place.get(there):
        raise RuntimeFault(_what_is_missing(path, run, place))
    return Fetch(
        origin=Origin.RECORDED,
        costs=tuple(sorted(by_place[there], key=lambda cost: cost.block_bytes)),
        place=there,
        file=str(path),
        date=str(run.machine.get("date", "")),
        machine=run.machine,
        setting=run.setting,
    )


def _what_is_missing(path: Path, run: Run, place: str) -> str:
    needed = {DEVICE: "device", HOST: "values or sizes"}.get(place, "device, values or sizes")
    tables = ", ".join(dict.fromkeys(row.table for row in run.rows))
    return (
        f"{path} has no row of the {ENGINE} in table {needed}, which say what a fetch costs; its"
        f" tables are {tables}; run xiokv bench --json with --only {needed.replace(' or ', ',')}"
    )


def _engine_rows(run: Run, table: str, unit: str) -> list[Row]:
    """Return the engine's rows of a table that have a place on its axis."""
    rows = (row for row in run.rows if (row.table, row.who, row.unit) == (table, ENGINE, unit))
    return [row for row in rows if row.x is not None]


def _timed(run: Run) -> list[FetchCost]:
    """Return what blocks cost of which one and many were retrieved into a GPU."""
    times: dict[int, dict[int, Timing]] = {}
    for row in _engine_rows(run, "device", "us"):
        found = _BLOCKS.fullmatch(row.setting)
        if found and row.x:
            timing = Timing(int(found[1]), tuple(us * _MICROSECOND for us in row.samples))
            times.setdefault(int(row.x), {})[timing.blocks] = timing
    return [
        fitted(size, by_blocks[1], by_blocks[max(by_blocks)], Origin.RECORDED)
        for size, by_blocks in times.items()
        if 1 in by_blocks and max(by_blocks) > 1
    ]


def _rated(run: Run) -> list[FetchCost]:
    """Return what values in the host's memory cost."""
    costs: dict[int, FetchCost] = {}
    for table in _RATE_TABLES:
        for row in _engine_rows(run, table, "bytes/s"):
            if row.x and row.median > 0:
                costs.setdefault(int(row.x), _of_rate(run, int(row.x), row.median))
    return list(costs.values())


def _of_rate(run: Run, size: int, bandwidth: float) -> FetchCost:
    cost = FetchCost(size, 0.0, bandwidth, Origin.ABSENT, Origin.RECORDED)
    launches = [
        row
        for row in _engine_rows(run, "launch", "us")
        if (row.case, row.setting) == _LAUNCH and size == _LAUNCH_BYTES
    ]
    if not launches:
        return cost
    one = Timing(1, tuple(us * _MICROSECOND for us in launches[0].samples))
    latency = max(one.median - size / bandwidth, 0.0)
    return replace(cost, latency=latency, latency_origin=Origin.RECORDED, one=one)


def _chosen(fetch: Fetch, sizes: Sequence[int]) -> Fetch:
    there = {cost.block_bytes: cost for cost in fetch.costs}
    absent = [size_text(size) for size in sizes if size not in there]
    if absent:
        raise ArgumentFault(
            f"--block-sizes: {fetch.file} has no blocks of {', '.join(absent)} in the"
            f" {fetch.place}'s memory; it has {', '.join(map(size_text, there))}"
        )
    return replace(fetch, costs=tuple(there[size] for size in sizes or there))


def _with_latency(fetch: Fetch, latency: float | None) -> Fetch:
    """Fill in what the file does not say of the latency."""
    if latency is None:
        return fetch
    if all(cost.latency_origin is not Origin.ABSENT for cost in fetch.costs):
        raise ArgumentFault(
            f"--fetch-latency-us: {fetch.file} has the latency of every block size; leave it out"
        )
    filled = (
        replace(cost, latency=latency, latency_origin=Origin.GIVEN)
        if cost.latency_origin is Origin.ABSENT
        else cost
        for cost in fetch.costs
    )
    return replace(fetch, costs=tuple(filled))
