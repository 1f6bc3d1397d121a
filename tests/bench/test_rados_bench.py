"""What the benchmark takes from `rados bench`, and what it says where it cannot measure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tool import Tool
from xiokv.runtime.bench.rados_bench import seconds
from xiokv.runtime.errors import RuntimeFault

WRITTEN = {"total_time_run": "0.385232", "total_writes_made": "2000", "average_iops": "5191"}
READ = {"total_time_run": "3.001889", "total_reads_made": "2000", "bandwidth": "38.860943"}


@pytest.mark.parametrize(
    ("mode", "figures", "took"), [("write", WRITTEN, 0.385232), ("seq", READ, 3.001889)]
)
def test_the_time_of_all_operations_is_taken(
    mode: str, figures: dict[str, str], took: float
) -> None:
    assert seconds(f"hints = 1\n{json.dumps(figures)}\n", mode, 2000) == took


@pytest.mark.parametrize(
    ("told", "mode", "message"),
    [
        ("", "write", "printed no JSON with total_writes_made"),
        ("hints = 0\n", "seq", "printed no JSON with total_reads_made"),
        (json.dumps(WRITTEN), "seq", "printed no JSON with total_reads_made"),
        (json.dumps(WRITTEN)[:-1], "write", "printed no JSON"),
        (json.dumps(WRITTEN | {"total_time_run": "soon"}), "write", "printed no JSON"),
        (json.dumps(WRITTEN | {"total_writes_made": "1999"}), "write", "made 1999 operations"),
        (json.dumps(READ | {"total_time_run": "0"}), "seq", "made 2000 operations in 0 s"),
    ],
    ids=range(7),
)
def test_an_output_without_what_was_wanted_is_a_fault(told: str, mode: str, message: str) -> None:
    with pytest.raises(RuntimeFault, match=message):
        seconds(told, mode, 2000)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory", "store 'memory' is no URL of a Ceph pool, such as rados://pool/namespace"),
        ("rados:///tenant", "names no pool"),
        ("rados://pool/tenant?read_only=1", "is read-only, and a benchmark writes"),
    ],
)
def test_a_store_that_cannot_be_measured_is_refused(tool: Tool, url: str, message: str) -> None:
    refused = tool("--target", "host", "--store", url)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err


def test_without_the_program_nothing_is_measured(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = tool("--target", "host", "--store", "rados://pool/tenant")
    assert (refused.code, refused.out) == (5, "")
    assert "the program rados is not here" in refused.err
    assert "install ceph-common" in refused.err


def test_a_table_of_a_cluster_needs_a_store(tool: Tool) -> None:
    refused = tool("--target", "host", "--only", "rados,rados-depth")
    assert refused.code == 2
    assert "table rados needs a Ceph cluster: give --store rados://pool/namespace" in refused.err
