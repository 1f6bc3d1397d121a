"""A pool that is full, and one that is deleted: what each command says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.runtime import Emulator, RuntimeFault

from .cluster import Cluster
from .hosts import FULL, GONE, MANY, OK, all_say, host, keys_of, said, took, values_of

pytestmark = pytest.mark.slow


def test_a_full_pool_takes_no_value_until_there_is_room(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    old, new = range(100), range(100, 400)
    with host(module, harmed_cluster.url(namespace=namespace, timeout=5)) as one:
        one.kv.store(keys_of(old), values_of(old)).raise_for_status()
        harmed_cluster.set_full()
        with took(0, 0):
            assert said(one.kv.store(keys_of(new), values_of(new))) == {FULL: len(new)}
        out = np.zeros((len(old), 1024), np.uint8)
        one.kv.retrieve(keys_of(old), out).raise_for_status()
        assert (out == values_of(old)).all()
        assert said(one.kv.delete(keys_of(old)[:50])) == {OK: 50}
        assert sorted(one.kv.list()) == keys_of(old)[50:]
        harmed_cluster.clear_full()
        one.kv.store(keys_of(new), values_of(new)).raise_for_status()
        assert said(one.kv.exist(keys_of(new))) == {OK: len(new)}


def test_a_pool_that_is_deleted_is_gone_for_every_command(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    pool = cluster.make_pool()
    with host(module, cluster.url(pool=pool, namespace=namespace, timeout=20)) as one:
        stores = one.begin(one.kv.store, keys_of(MANY), values_of(MANY))
        one.wait_for(100)
        with cluster.paused("osd"):
            cluster.delete_pool(pool)
            assert not stores.done()
        counts = said(stores.result(30))
        assert set(counts) <= {OK, GONE}
        with took(0, 0):
            heard = one.every_command(keys_of(range(500)))
        assert heard == all_say(GONE, 500)
    with pytest.raises(RuntimeFault, match=f"the cluster has no pool {pool}; make it"):
        Emulator(store=cluster.url(pool=pool))
