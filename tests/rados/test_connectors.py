"""SGLang's storage on a pool: servers share their pages, and do without it while it is away."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.connectors.host_pools import HostPool
from tests.connectors.sglang.storing import KEYS, PAGES, Config, landing
from tests.tool import own_environment
from xiokv.runtime.connectors.sglang import Storage
from xiokv.runtime.errors import RuntimeFault

from .cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]

# Another server: stores pages, or looks which it finds.
SERVER = """
import json, sys
from contextlib import closing
from tests.connectors.host_pools import HostPool
from tests.connectors.sglang.storing import KEYS, PAGES, Config
from xiokv.runtime.connectors.sglang import Storage
pool = HostPool()
pool.fill(1)
with closing(Storage(Config(json.loads(sys.argv[1])))) as storage:
    storage.register_mem_pool_host(pool)
    print(json.dumps(storage.batch_set_v1(KEYS, pool.indices(PAGES))))
"""


@pytest.fixture
def pool() -> HostPool:
    """Return a pool of known pages."""
    pool = HostPool()
    pool.fill(1)
    return pool


@pytest.fixture
def options(
    cluster: Cluster, namespace: str, module: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    """Return a connector's configuration; its store gives commands up before it does."""
    monkeypatch.setenv("XIOKV_MODULE", str(module.path))
    url = cluster.url(namespace=namespace, timeout=1)
    yield {"controller": url, "tenant": "t", "queues": 2, "depth": 64, "timeout": 10,
           "retry": 0.2, "interface_v1": 1}  # fmt: skip
    cluster.empty(namespace)


@pytest.fixture
def storage(options: dict[str, Any], pool: HostPool) -> Iterator[Storage]:
    """Return a storage with an empty pool of the same shape as the known one."""
    with ExitStack() as stack:
        storage = stack.enter_context(closing(Storage(Config(options))))
        storage.register_mem_pool_host(landing(pool))
        yield storage


def load(storage: Storage, pool: HostPool) -> list[bool]:
    """Return which pages came; those are as they are in a pool."""
    out = landing(pool)
    storage.register_mem_pool_host(out)
    found = storage.batch_get_v1(KEYS, out.indices(PAGES))
    assert all(out.page(at) == pool.page(at) for at, ok in zip(PAGES, found, strict=True) if ok)
    return found


def serve(options: dict[str, Any]) -> list[bool]:
    """Store the known pages from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SERVER, json.dumps(options)],
        cwd=ROOT,
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_one_server_has_stored_another_loads(
    options: dict[str, Any], storage: Storage, pool: HostPool
) -> None:
    assert storage.batch_exists(KEYS) == 0
    assert serve(options) == [True] * 8
    assert storage.batch_exists(KEYS) == 8
    assert load(storage, pool) == [True] * 8


def test_servers_of_another_tenant_find_nothing(
    options: dict[str, Any], storage: Storage, pool: HostPool
) -> None:
    assert serve({**options, "tenant": "another"}) == [True] * 8
    assert storage.batch_exists(KEYS) == 0
    assert load(storage, pool) == [False] * 8


def test_a_server_goes_on_without_the_cluster_and_with_it_when_it_is_back(
    options: dict[str, Any], storage: Storage, pool: HostPool, harmed_cluster: Cluster
) -> None:
    assert serve(options) == [True] * 8
    assert load(storage, pool) == [True] * 8
    with harmed_cluster.paused("osd"):
        assert load(storage, pool) == [False] * 8
        assert storage.batch_exists(KEYS) == 0
        assert storage.batch_set_v1(KEYS[:1], pool.indices(PAGES[:1])) == [False]
    assert load(storage, pool) == [True] * 8


def test_a_pool_that_is_not_there_ends_the_start_of_a_server(
    options: dict[str, Any], cluster: Cluster
) -> None:
    nowhere = {**options, "controller": cluster.url(pool="nowhere")}
    with pytest.raises(RuntimeFault, match="the cluster has no pool nowhere"):
        Storage(Config(nowhere))
