"""The benchmark programs run, check what they measure, and say it in one shape."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("generator", "parse", "encoder", "engine", "calls")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmarks at their smallest, with the tests' own cache and no module."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("XIOKV_")}
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "bench", "--tiny", *arguments],
        env=kept | {"XDG_CACHE_HOME": str(ROOT / "build" / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("part", PARTS)
def test_a_part_runs_and_tells_figures(part: str) -> None:
    done = bench("--json", part)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert list(told["parts"]) == [part]
    check_rows(told["parts"][part])


def check_rows(rows: list[dict[str, Any]]) -> None:
    names = [row["name"] for row in rows]
    assert names
    assert len(set(names)) == len(names)
    for row in rows:
        assert 0 < row["low"] <= row["median"] <= row["high"], row
        assert row["beside"] is None or (row["beside"] in names and row["ratio"] > 0), row


def test_the_table_begins_with_the_machine_and_has_every_row() -> None:
    machine, _, table = bench("encoder").stdout.partition("\n\n")
    assert machine.startswith("processor: ")
    rows = json.loads(bench("--json", "encoder").stdout)["parts"]["encoder"]
    shown = table.splitlines()[1:]
    assert len(shown) == len(rows)
    assert all(row["name"] in line for row, line in zip(rows, shown, strict=True))


def test_an_unknown_part_is_a_usage_error_that_names_the_parts() -> None:
    done = bench("encoders")
    assert done.returncode == 2
    assert "no part 'encoders'; there are " + ", ".join(PARTS) in done.stderr
