"""What earlier runs tell of a fetch, and what is said of files that tell nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.breakeven import recorded
from xiokv.runtime.kvcache.breakeven.origin import Origin

FACTS = {"processor": "any", "cores": 2, "load": 0.5}


def bench_row(table: str, case: str, setting: str, unit: str, x: int, *samples: float) -> Any:
    return {
        **{"table": table, "case": case, "setting": setting, "who": "engine", "unit": unit},
        **{"x": x, "samples": samples, "goal": None, "comparisons": []},
    }


ONE = bench_row("device", "4 KiB", "1 block", "us", 4096, 30.0, 10.0, 20.0)
MANY = bench_row("device", "4 KiB", "64 blocks", "us", 4096, 83.0)
VALUES = bench_row("values", "4 KiB", "", "bytes/s", 4096, 1e9, 4e9, 2e9)
SIZES = bench_row("sizes", "4 KiB", "", "bytes/s", 4096, 9e9)
LARGE = bench_row("sizes", "1 MiB", "", "bytes/s", 1 << 20, 8e9)
LAUNCH = bench_row("launch", "1 key", "full controller, 4 KiB", "us", 1, 12.0)


def kept(path: Path, *rows: Any, **machine: Any) -> Path:
    told = {"schema": "xiokv-bench/1", "machine": FACTS | machine, "setting": {}, "rows": rows}
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.json"


def test_blocks_of_a_gpu_have_a_latency_and_a_bandwidth(path: Path) -> None:
    fetch = recorded.read(kept(path, ONE, MANY, VALUES))
    assert (fetch.origin, fetch.place, fetch.file) == (Origin.RECORDED, "device", str(path))
    (cost,) = fetch.costs
    assert cost.bandwidth == pytest.approx(4096 / 1e-6)  # 63 us for 63 more blocks
    assert cost.latency == pytest.approx(19e-6)
    assert (cost.latency_origin, cost.bandwidth_origin) == (Origin.RECORDED, Origin.RECORDED)


def test_values_in_the_hosts_memory_have_the_latency_of_a_launch_of_their_size(path: Path) -> None:
    fetch = recorded.read(kept(path, ONE, MANY, VALUES, SIZES, LARGE, LAUNCH), "host")
    small, large = fetch.costs
    assert (small.block_bytes, small.bandwidth) == (4096, 2e9)  # of values, not of sizes
    assert small.latency == pytest.approx(12e-6 - 4096 / 2e9)
    assert small.latency_origin is Origin.RECORDED
    assert (large.block_bytes, large.bandwidth, large.latency) == (1 << 20, 8e9, 0)
    assert large.latency_origin is Origin.ABSENT


def test_a_latency_that_is_given_fills_in_what_is_not_recorded(path: Path) -> None:
    small, large = recorded.read(kept(path, VALUES, LARGE, LAUNCH), latency=5e-5).costs
    assert small.latency_origin is Origin.RECORDED
    assert (large.latency, large.latency_origin) == (5e-5, Origin.GIVEN)


def test_a_latency_that_is_recorded_is_not_overruled(path: Path) -> None:
    with pytest.raises(ArgumentFault, match="has the latency of every block size; leave it out"):
        recorded.read(kept(path, ONE, MANY), latency=5e-5)


def test_sizes_that_are_not_recorded_are_told_beside_those_that_are(path: Path) -> None:
    with pytest.raises(ArgumentFault, match=r"no blocks of 8 KiB in the host's memory; it has 4 K"):
        recorded.read(kept(path, VALUES, LARGE), sizes=(4096, 8192))
    (cost,) = recorded.read(path, sizes=(1 << 20,)).costs
    assert cost.block_bytes == 1 << 20


@pytest.mark.parametrize(
    ("rows", "place", "message"),
    [
        ([LAUNCH], "", "no row of the engine in table device, values or sizes, .* are launch; run"),
        ([VALUES], "device", "no row of the engine in table device, .* are values; run xiokv"),
        ([ONE, MANY], "host", "no row of the engine in table values or sizes"),
        ([ONE], "", "no row of the engine in table device, values or sizes"),  # no many
        ([VALUES | {"who": "CPU client"}], "", "no row of the engine in table device, values"),
        ([VALUES | {"x": None}], "", "no row of the engine in table device, values"),
    ],
)
def test_a_file_without_values_says_what_is_missing(
    path: Path, rows: list[Any], place: str, message: str
) -> None:
    with pytest.raises(RuntimeFault, match=message):
        recorded.read(kept(path, *rows), place)


def test_when_a_run_was_is_told_where_its_file_tells_it(path: Path) -> None:
    assert recorded.read(kept(path, VALUES)).date == ""
    assert recorded.read(kept(path, VALUES, date="2026-01-02")).date == "2026-01-02"


def test_the_benchmark_of_this_checkout_is_read(h200: Path) -> None:
    fetch = recorded.read(h200)
    assert fetch.setting["device"] == "NVIDIA H200"
    assert [cost.block_bytes for cost in fetch.costs] == [4096, 16384, 131072, 1 << 20]
    assert all(cost.many and cost.many.blocks == 64 for cost in fetch.costs)
    sizes = [cost.block_bytes for cost in recorded.read(h200, "host").costs]
    assert sizes == [4096, 16384, 65536, 131072, 262144, 1 << 20, 4 << 20]


TIMES = {"blocks": 1, "samples_us": [20.0]}
COST = {"block_bytes": 4096, "one": TIMES, "many": {"blocks": 11, "samples_us": [40.0, 60.0]}}
SIDE = {
    **{"origin": "measured", "place": "host", "date": "2026-01-02", "machine": FACTS},
    **{"setting": {"queues": 4}, "costs": [COST]},
}


def own(path: Path, **changed: Any) -> Path:
    told = {"schema": "xiokv-breakeven/1", "fetch": SIDE | changed, "models": []}
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def test_a_measurement_of_ones_own_is_read_again(path: Path) -> None:
    fetch = recorded.read(own(path))
    assert (fetch.origin, fetch.place, fetch.date) == (Origin.RECORDED, "host", "2026-01-02")
    assert (fetch.machine["cores"], fetch.setting["queues"]) == (2, 4)
    (cost,) = fetch.costs
    assert cost.bandwidth == pytest.approx(4096 / 3e-6)
    assert cost.latency == pytest.approx(17e-6)
    with pytest.raises(ArgumentFault, match=r"--place device: blocks of .* ended in the host's"):
        recorded.read(path, "device")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"origin": "given"}, "was not measured: give the file of the run that was"),
        ({"origin": 3}, "has no str origin in fetch"),
        ({"place": "moon"}, "holds no place of its blocks, or no blocks"),
        ({"costs": []}, "holds no place of its blocks, or no blocks"),
        ({"costs": [7]}, "has no int block_bytes in block size 1"),
        ({"costs": [COST | {"block_bytes": 0}]}, "no number above 0 as block_bytes in block size"),
        ({"costs": [COST | {"many": None}]}, "has no dict many in block size 1"),
        ({"costs": [COST | {"many": TIMES}]}, "no time of one block and of many in block size 1"),
        (
            {"costs": [COST | {"one": TIMES | {"samples_us": [0]}}]},
            "no times above 0 as samples_us",
        ),
        ({"costs": [COST | {"one": TIMES | {"samples_us": []}}]}, "no times above 0 as samples_us"),
        ({"costs": [COST | {"one": TIMES | {"samples_us": ["x"]}}]}, "no times above 0 as samples"),
        ({"date": "\x1b[2J"}, "holds a control character as part of date in fetch"),
        ({"machine": {"processor": "\x1b"}}, "a control character as part of processor in machine"),
        ({"machine": {"cores": []}}, "holds no fact as machine.'cores'"),
        ({"machine": 7}, "has no dict machine in fetch"),
    ],
)
def test_a_damaged_measurement_is_refused_in_one_line(
    path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(RuntimeFault) as refused:
        recorded.read(own(path, **changed))
    assert str(refused.value).startswith(f"{path} ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
