"""xiokv breakeven with blocks in a pool: what they cost there, and a pool left as it was."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.tool import TOOL, own_environment

from .cluster import Cluster


def breakeven(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TOOL, "breakeven", "--model", "llama-3.1-8b", "--flops", "989e12", *map(str, arguments)],
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_blocks_are_measured_in_a_pool_which_is_left_as_it_was(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    cluster.put("of-others", b"value", namespace=namespace)
    cluster.put("00" * 16, b"a block of others", namespace=namespace)
    url = cluster.url(namespace=namespace, timeout=60)
    measuring = ("--target", "host", "--runs", "2", "--block-sizes", "4KiB,128KiB", "--json")
    done = breakeven("--store", url, *measuring)
    assert done.returncode == 0, done.stderr
    fetch = json.loads(done.stdout)["fetch"]
    assert (fetch["origin"], fetch["setting"]["store"]) == (
        "measured",
        f"rados://xiokv/{namespace}",
    )
    assert str(cluster.folder) not in done.stdout
    assert [cost["block_bytes"] for cost in fetch["costs"]] == [4096, 128 << 10]
    assert cluster.names(namespace) == ["00" * 16, "of-others"]
    assert cluster.get("00" * 16, namespace=namespace) == b"a block of others"

    (tmp_path / "pool.json").write_text(done.stdout, encoding="utf-8")
    again = breakeven("--recorded", tmp_path / "pool.json")
    assert again.returncode == 0, again.stderr
    assert f"store: rados://xiokv/{namespace}" in again.stdout


def test_a_pool_that_is_not_there_is_told(cluster: Cluster) -> None:
    done = breakeven("--target", "host", "--store", cluster.url(pool="nowhere"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "the cluster has no pool nowhere" in done.stderr
