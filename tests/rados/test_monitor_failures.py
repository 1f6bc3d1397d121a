"""A monitor that is stopped or hangs: what needs one, and what does not."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import Emulator, RuntimeFault

from .cluster import Cluster
from .hosts import (
    GONE,
    MANY,
    MISSING,
    OK,
    UNREACHABLE,
    WINDOW,
    at_last,
    host,
    keys_of,
    said,
    took,
    values_of,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("harm", ["paused", "stopped"])
def test_without_a_monitor_no_controller_is_made(harmed_cluster: Cluster, harm: str) -> None:
    url = harmed_cluster.url(connect_timeout=1)
    with ExitStack() as stack:
        if harm == "paused":
            stack.enter_context(harmed_cluster.paused("mon"))
        else:
            harmed_cluster.stop_mon()
        with took(1, 1), pytest.raises(RuntimeFault) as fault:
            Emulator(store=url)
    assert str(fault.value) == (
        "store in pool xiokv, the unnamed namespace: cannot reach the cluster as client.admin"
        " within 1 s: Connection timed out"
    )


def test_values_come_and_go_without_a_monitor(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    with host(module, harmed_cluster.url(namespace=namespace, timeout=5)) as one:
        stores = one.begin(one.kv.store, keys_of(MANY), values_of(MANY))
        one.wait_for(500)
        with harmed_cluster.paused("mon"):
            assert not stores.done()
            harmed_cluster.kill_mon()
        assert said(stores.result(60)) == {OK: len(MANY)}
        few = range(100)
        out = np.zeros((len(few), 1024), np.uint8)
        assert said(one.kv.retrieve(keys_of(few), out)) == {OK: len(few)}
        assert (out == values_of(few)).all()
        # A key that is not there needs no monitor either.
        with took(0, 0):
            assert said(one.kv.retrieve([b"nobody"] * 20, out[:20])) == {MISSING: 20}
            assert said(one.kv.exist([b"nobody"] * 20)) == {MISSING: 20}
        assert one.listed() == {OK: 1}
        with took(0, 0):
            other = module.attach(one.controller, depth=8)
            assert said(other.exist(keys_of(few))) == {OK: len(few)}
            other.close()
            one.kv.close()
            one.controller.close()


def test_a_pool_that_is_gone_is_asked_of_no_monitor(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    pool = harmed_cluster.make_pool()
    url = harmed_cluster.url(pool=pool, namespace=namespace, timeout=1)
    with host(module, url) as one:
        at_last(partial(one.say, "store", keys_of(range(10))), Counter({OK: 10}))
        harmed_cluster.delete_pool(pool)
        at_last(partial(one.say, "exist", keys_of(range(10))), Counter({GONE: 10}))
        with harmed_cluster.paused("mon"), took(0, 5 * 1):
            # Nobody says that a newer map has no such pool: some wait for it in vain.
            for counts in one.every_command(keys_of(range(WINDOW))).values():
                assert set(counts) <= {GONE, UNREACHABLE}
