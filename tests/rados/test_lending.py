"""Values that are sent from the host's memory as they lie, and the host's right to use it again."""

from __future__ import annotations

import gc
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xiokv.runtime import Emulator

from .cluster import Cluster
from .hosts import OK, UNREACHABLE, at_last, host, keys_of, said, values_of

SIZE = 1 << 20
NUMBERS = range(24)


def mappings(address: int) -> int:
    """Return how often this process has mapped the pages at an address."""
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    ranges = [(*(int(end, 16) for end in one[0].split("-")), one[4]) for one in lines]
    inode = next(what for begin, end, what in ranges if begin <= address < end)
    return sum(what == inode != "0" for *_, what in ranges)


def test_buffers_are_mapped_once_more_by_each_store_as_long_as_both_are_there(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    url = cluster.url(namespace=namespace)
    before = module.empty(SIZE)
    gc.collect()
    others = mappings(before.iova)  # of this test's own, and of stores that are open
    with Emulator(store=url), Emulator():
        after = module.empty(SIZE)
        assert mappings(before.iova) == mappings(after.iova) == others + 1
        with Emulator(store=url):
            assert mappings(before.iova) == mappings(after.iova) == others + 2
        assert mappings(before.iova) == mappings(after.iova) == others + 1
        gone, view = before.iova, before.view
        del before
        assert mappings(gone) == others + 1  # looked at
        del view
        assert f"{gone:x}-" not in Path("/proc/self/maps").read_text()
    assert mappings(after.iova) == others


def test_each_way_to_give_values_stores_what_they_were(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    """Buffers, parts of them that begin anywhere, and memory that cannot be lent."""
    buffer = module.empty(3 * SIZE)
    buffer.view[:] = values_of(range(3), SIZE).reshape(-1)
    numbers = range(3)
    parts = [buffer.view[4 * n : SIZE - 4096 * n + 8] for n in numbers]
    with host(module, cluster.url(namespace=namespace, timeout=30)) as one:
        for values in (buffer, parts, buffer.view.copy(), [part.tobytes() for part in parts]):
            one.kv.store(keys_of(numbers), values).raise_for_status()
            whole = [bytes(part) for part in (values if isinstance(values, list) else [])]
            whole = whole or [buffer.view[n * SIZE : (n + 1) * SIZE].tobytes() for n in numbers]
            for key, value in zip(keys_of(numbers), whole, strict=True):
                assert cluster.get(key.hex(), namespace=namespace) == value
            one.kv.delete(keys_of(numbers)).raise_for_status()


def test_an_osd_that_hangs_gets_nothing_that_the_host_writes_after_a_store_failed(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    """Messages wait in the connection until the OSD goes on: with what was to be stored."""
    keys, wanted = keys_of(NUMBERS), values_of(NUMBERS, SIZE)
    buffer = module.empty(SIZE * len(NUMBERS))
    out = np.zeros((len(NUMBERS), SIZE), np.uint8)
    with (
        host(module, cluster.url(namespace=namespace, timeout=30)) as patient,
        host(module, cluster.url(namespace=namespace, timeout=1)) as one,
    ):
        at_last(partial(one.say, "store", keys), Counter({OK: len(keys)}))
        buffer.view[:] = wanted.reshape(-1)
        with cluster.paused("osd"):
            assert said(one.kv.store(keys, buffer)) == {UNREACHABLE: len(keys)}
            buffer.view[:] = 255
        # Whatever was sent is carried out before what is sent now.
        at_last(partial(one.say, "exist", keys), Counter({OK: len(keys)}))
        patient.kv.retrieve(keys, out).raise_for_status()
        assert (out == wanted).all()
        # The memory is lent again, with what is in it now.
        at_last(lambda: said(one.kv.store(keys, buffer)), Counter({OK: len(keys)}))
        patient.kv.retrieve(keys, out).raise_for_status()
        assert (out == 255).all()
