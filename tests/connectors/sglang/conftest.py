"""Storages of SGLang's on a controller of the test, and a pool of known pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.connectors.host_pools import HostPool
from tests.connectors.sglang.storing import Config, Make
from xiokv.runtime.connectors.sglang import Storage


@pytest.fixture
def make(stand: Any) -> Iterator[Make]:
    """Return a function that makes a storage, with a pool registered."""
    made: list[Storage] = []

    def make(pool: Any = None, options: Any = None, v1: bool = True, **config: Any) -> Storage:
        extra = stand.options(interface_v1=int(v1), **(options or {}))
        storage = Storage(Config(extra, **config), {})
        storage.register_mem_pool_host(HostPool() if pool is None else pool)
        made.append(storage)
        return storage

    yield make
    for storage in made:
        storage.close()


@pytest.fixture
def pool() -> HostPool:
    """Return a pool of known pages."""
    pool = HostPool()
    pool.fill(1)
    return pool
