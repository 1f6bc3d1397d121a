"""What a Store asks of compression, as a pool that compresses hears it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from .attached import Attach
from .cluster import Cluster

SIZE, COUNT = 1 << 16, 8


def compressed(cluster: Cluster) -> int:
    """Return how many bytes of values are kept compressed."""
    return int(cluster.asked("osd", "perf", "dump")["bluestore"]["bluestore_compressed_original"])


@pytest.mark.slow
def test_a_value_is_compressed_unless_its_store_forbids_it(
    make_cluster: Callable[..., Cluster], namespace: str, module: Any, own_surroundings: None
) -> None:
    cluster = make_cluster(store="bluestore")
    cluster.ceph("osd", "pool", "set", cluster.pool, "compression_mode", "aggressive")
    with ExitStack() as stack:
        kv = Attach(cluster, namespace, module, stack)(block_size=SIZE)
        keys = [b"key %d" % number for number in range(COUNT)]
        for condition in ({}, {"if_present": True}, {"if_absent": True}):
            kv.store(keys, bytes(SIZE * COUNT)).raise_for_status()
            assert compressed(cluster) == SIZE * COUNT
            if "if_absent" in condition:
                kv.delete(keys).raise_for_status()
            kv.store(keys, bytes(SIZE * COUNT), no_compress=True, **condition).raise_for_status()
            assert compressed(cluster) == 0
            kv.delete(keys).raise_for_status()
