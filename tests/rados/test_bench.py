"""xiokv bench on a cluster: every table beside rados bench, and a pool that is left as it was."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from tests.tool import TOOL, own_environment
from xiokv.runtime.bench.catalog import TABLES
from xiokv.runtime.bench.lab import QUICK, Lab, named_cluster

from .cluster import Cluster

WHOS = {
    "store": ["rados bench", "xiokv"],
    "retrieve": ["rados bench", "rados bench --no-verify", "xiokv"],
}


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TOOL, "bench", "--quick", "--json", "--target", "host", *arguments],
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )


def shape(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [(row["case"], row["setting"], row["who"]) for row in rows]


def test_a_run_stands_beside_rados_bench_and_leaves_nothing(
    cluster: Cluster, namespace: str
) -> None:
    cluster.put("of-others", b"value", namespace=namespace)
    url = cluster.url(namespace=namespace, timeout=60)
    done = bench("--store", url, "--only", "rados")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)

    assert told["setting"]["store"] == f"rados://xiokv/{namespace}"
    assert str(cluster.folder) not in done.stdout
    settings = ("store", "store, CPU time", "retrieve", "retrieve, CPU time")
    there = {(row["case"], row["setting"]) for row in told["rows"]}
    assert shape(told["rows"]) == [
        (case, setting, who)
        for case in ("4 KiB", "128 KiB", "4 MiB")
        for setting in settings
        # Processor time is told where a round took more of it than set-up did.
        if "CPU" not in setting or (case, setting) in there
        for who in WHOS[setting.partition(",")[0]]
    ]
    for row in told["rows"]:
        rate = "CPU" not in row["setting"]
        assert (row["unit"], row["x"] is not None) == ("values/s" if rate else "us", rate)
        assert len(row["samples"]) == 3
        assert min(row["samples"]) > 0
        goals = [part["goal"] and part["goal"]["least"] for part in row["comparisons"]]
        others = len(WHOS[row["setting"].partition(",")[0]]) - 1
        wanted = [0.9 if rate else None, None][:others]
        assert goals == (wanted if row["who"] == "xiokv" else [])
    assert cluster.names(namespace) == ["of-others"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "places"), [("rados-queues", {1, 2, 4, 8}), ("rados-depth", {1, 4, 16, 64, 256})]
)
def test_growth_is_measured_beside_rados_bench(
    cluster: Cluster, namespace: str, module: Any, table: str, places: set[int]
) -> None:
    """One round of each: whatever `rados bench` does takes it a second."""
    pool = named_cluster(cluster.url(namespace=namespace, timeout=60))
    with Lab(module, replace(QUICK, samples=1), cluster=pool) as lab:
        rows = list(TABLES[table].measure(lab))
    assert {row.x for row in rows} == places
    for place in places:
        (case,) = {row.case for row in rows if row.x == place}
        assert [(row.setting, row.who) for row in rows if row.case == case] == [
            (setting, who) for setting, whos in WHOS.items() for who in whos
        ]
    assert cluster.names(namespace) == []


def test_a_pool_that_is_not_there_is_told_in_one_line(cluster: Cluster) -> None:
    done = bench("--store", cluster.url(pool="nowhere"), "--only", "rados")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the cluster has no pool nowhere" in done.stderr
