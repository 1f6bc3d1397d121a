"""What is left of a store, of a failure and of a refusal: no thread, no file, no memory."""

from __future__ import annotations

import os
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.targets.device import random_values
from xiokv.runtime import Emulator, RuntimeFault

from .attached import Attach, key_array
from .cluster import Cluster
from .hosts import OK, UNREACHABLE, WINDOW, at_last, host, keys_of, said, values_of


def held() -> tuple[int, ...]:
    """Return how many threads and open files this process has."""
    return tuple(len(list(Path("/proc/self", name).iterdir())) for name in ("task", "fd"))


def resident() -> int:
    """Return this process's memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_ten_thousand_failures_leave_nothing_behind(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    keys, values = keys_of(numbers), values_of(numbers, 1 << 16)
    with host(module, harmed_cluster.url(namespace=namespace, timeout=0.02)) as one:
        one.kv.exist(keys)  # the client is told that its OSD stops
        harmed_cluster.stop_osd()

        def fail() -> None:
            assert said(one.kv.store(keys, values)) == {UNREACHABLE: WINDOW}
            assert said(one.kv.retrieve(keys, values)) == {UNREACHABLE: WINDOW}

        for _ in range(4):
            fail()
        before, memory = held(), resident()
        for _ in range(20):
            fail()
        assert held() == before
        # The values that were to be stored are 317 MiB.
        assert resident() - memory < 60 << 20


@pytest.mark.slow
def test_an_osd_that_hangs_does_not_fill_the_memory(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(64)
    keys, values = keys_of(numbers), values_of(numbers, 1 << 20)
    with host(module, cluster.url(namespace=namespace, timeout=0.3), depth=33) as one:
        memory = resident()
        with cluster.paused("osd"):
            for _ in range(10):
                assert said(one.kv.store(keys, values)) == {UNREACHABLE: 64}
            # Of 640 MiB, what was in flight when 64 MiB had been given up.
            assert resident() - memory < 300 << 20
            assert said(one.kv.retrieve(keys, values)) == {UNREACHABLE: 64}
        at_last(lambda: said(one.kv.store(keys, values)), Counter({OK: 64}))


@pytest.mark.slow
def test_controllers_that_come_and_go_leave_nothing_behind(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    url = harmed_cluster.url(namespace=namespace, timeout=0.5, connect_timeout=1)

    def come_and_go() -> None:
        with host(module, url, depth=8) as one:
            one.kv.exist(keys_of(range(20)))
            with harmed_cluster.paused("osd"):
                assert said(one.kv.exist(keys_of(range(5)))) == {UNREACHABLE: 5}

    def be_refused() -> None:
        with pytest.raises(RuntimeFault):
            Emulator(store=harmed_cluster.url(pool="nobody"))
        with harmed_cluster.paused("mon"), pytest.raises(RuntimeFault):
            Emulator(store=url)

    come_and_go()
    be_refused()
    before = held()
    for _ in range(3):
        come_and_go()
    be_refused()
    assert held() == before
    assert threading.active_count() < 10


def test_what_was_refused_leaves_nothing_behind(cluster: Cluster) -> None:
    before = held()
    for _ in range(5):
        with pytest.raises(RuntimeFault):
            Emulator(store=cluster.url(pool="no-pool"))
    assert all(now <= then for now, then in zip(held(), before, strict=True))


def test_a_controller_that_is_closed_leaves_nothing_behind(attach: Attach) -> None:
    """Neither threads nor connections of librados."""
    after = []
    for _ in range(4):
        with ExitStack() as stack:
            here = Attach(attach.cluster, attach.namespace, attach.module, stack)
            kv = here(queues=2, depth=64, block_size=4096)
            kv.store(key_array(200), random_values(200, 4096)).raise_for_status()
            assert len(list(kv.list())) == 200
        after.append(held())
    assert after[-1] == after[0]
