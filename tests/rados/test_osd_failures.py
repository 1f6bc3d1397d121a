"""An OSD that stops, crashes or hangs, and comes back: what each key is told, and when."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import Outcome

from . import acknowledged
from .cluster import Cluster
from .hosts import (
    MANY,
    MISSING,
    OK,
    UNREACHABLE,
    WINDOW,
    Host,
    all_say,
    at_last,
    host,
    keys_of,
    said,
    took,
    values_of,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def lasting_cluster(make_cluster: Callable[..., Cluster]) -> Cluster:
    """Return a cluster whose OSD may be killed."""
    return make_cluster("bluestore")


def test_an_osd_that_stops_and_is_back_before_the_deadline_costs_no_key(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    check_that_no_key_is_lost(module, harmed_cluster, namespace, harmed_cluster.stop_osd)


def test_an_osd_that_crashes_and_is_back_before_the_deadline_costs_no_key(
    module: Any, lasting_cluster: Cluster, namespace: str
) -> None:
    check_that_no_key_is_lost(module, lasting_cluster, namespace, lasting_cluster.kill_osd)


def check_that_no_key_is_lost(
    module: Any, cluster: Cluster, namespace: str, end: Callable[[], None]
) -> None:
    url = cluster.url(namespace=namespace, timeout=100)
    # So much that both are still at it when the OSD ends.
    old, new, times = range(800), range(800, 6800), 10
    with (
        host(module, url, queues=3, timeout=120) as one,
        module.attach(one.controller, queues=2, depth=128, timeout=120) as reader,
    ):
        one.kv.store(keys_of(old), values_of(old)).raise_for_status()
        out = np.zeros((times, len(old), 1024), np.uint8)
        stores = one.begin(one.kv.store, keys_of(new), values_of(new))
        retrieves = one.begin(reader.retrieve, times * keys_of(old), out)
        one.wait_for(300)
        with cluster.paused("osd"):
            end()
        assert not stores.done()
        assert not retrieves.done()
        cluster.start_osd()
        assert said(stores.result(120)) == {OK: len(new)}
        assert said(retrieves.result(120)) == {OK: times * len(old)}
        assert (out == values_of(old)).all()
    with host(module, url) as another:
        back = np.zeros((len(new), 1024), np.uint8)
        another.kv.retrieve(keys_of(new), back).raise_for_status()
        assert (back == values_of(new)).all()


@pytest.mark.parametrize("timeout", [1, 4, 9])
def test_an_osd_that_crashed_and_is_back_at_once_is_found(
    module: Any, lasting_cluster: Cluster, namespace: str, timeout: int
) -> None:
    # The monitor has yet to miss it: clients learn of its new place only by asking.
    url = lasting_cluster.url(namespace=namespace, timeout=timeout)
    with host(module, url, timeout=20) as one:
        one.kv.store(keys_of(range(30)), values_of(range(30))).raise_for_status()
        lasting_cluster.kill_osd()
        lasting_cluster.start_osd()
        at_last(lambda: said(one.kv.exist(keys_of(range(30)))), Counter({OK: 30}))


def test_a_key_says_that_its_deadline_passed_and_the_batch_goes_on_with_the_osd(
    module: Any, harmed_cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    cluster = harmed_cluster
    values = values_of(MANY)
    changes = [(key, value.tobytes()) for key, value in zip(keys_of(MANY), values, strict=True)]
    journal = acknowledged.Journal(tmp_path / "journal")
    with host(module, cluster.url(namespace=namespace, timeout=0.5)) as one:
        journal.intend(changes)
        stores = one.begin(one.kv.store, keys_of(MANY), values)
        one.wait_for(500)
        with cluster.paused("osd"):
            one.wait_for(WINDOW)  # they fail, with nobody to carry them out
            cluster.stop_osd()
            cluster.start_osd()
        result = stores.result(60)
        counts = said(result)
        assert set(counts) == {OK, UNREACHABLE}
        assert counts[UNREACHABLE] >= WINDOW
        done = result.status == Outcome.OK
        journal.acknowledge([change for change, ok in zip(changes, done, strict=True) if ok])

        # The same controller, the same queues.
        few = range(100)
        at_last(lambda: said(one.kv.store(keys_of(few), values[:100])), Counter({OK: 100}))
    journal.close()
    with host(module, cluster.url(namespace=namespace, timeout=30)) as patient:
        complaints, certain = acknowledged.check(tmp_path / "journal", patient.values)
        assert complaints == []
        assert certain == counts[OK]
        patient.kv.store(keys_of(MANY), values).raise_for_status()
    assert cluster.get(keys_of(MANY)[5000].hex(), namespace=namespace) == values[5000].tobytes()


def test_every_command_ends_at_its_deadline_while_no_osd_is_there(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    patient_url = harmed_cluster.url(namespace=namespace, timeout=30)
    with (
        host(module, patient_url) as patient,
        host(module, harmed_cluster.url(namespace=namespace, timeout=0.5)) as one,
    ):
        patient.kv.store(keys_of(numbers), values_of(numbers)).raise_for_status()
        one.kv.exist(keys_of(numbers))  # the client is told that its OSD stops
        harmed_cluster.stop_osd()
        with took(5 * 0.5, 5 * 0.5):
            heard = one.every_command(keys_of(numbers))
        assert heard == all_say(UNREACHABLE, WINDOW)
        harmed_cluster.start_osd()
        # None of those that failed before the OSD had them is carried out later.
        out = np.zeros((WINDOW, 1024), np.uint8)
        patient.kv.retrieve(keys_of(numbers), out).raise_for_status()
        assert (out == values_of(numbers)).all()
        for command, wanted in all_say(OK, WINDOW).items():
            at_last(partial(one.say, command, keys_of(numbers)), wanted)


def test_a_pause_shorter_than_the_deadline_costs_time_alone(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(1000)
    with host(module, cluster.url(namespace=namespace, timeout=30)) as one:
        with cluster.paused("osd"):
            stores = one.begin(one.kv.store, keys_of(numbers), values_of(numbers))
            time.sleep(0.5)
            assert one.controller.counters().completions == 0
        assert said(stores.result(30)) == {OK: len(numbers)}


def test_a_pause_longer_than_the_deadline_ends_every_command_that_waits(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    keys = keys_of(numbers)
    with host(module, cluster.url(namespace=namespace, timeout=0.5)) as one:
        at_last(partial(one.say, "store", keys), Counter({OK: WINDOW}))
        with cluster.paused("osd"), took(5 * 0.5, 5 * 0.5):
            heard = one.every_command(keys_of(numbers))
        assert heard == all_say(UNREACHABLE, WINDOW)
        # What was sent is carried out by an OSD that goes on: a Store, and after it a Delete.
        at_last(partial(one.say, "exist", keys), Counter({MISSING: WINDOW}))
        at_last(partial(one.say, "store", keys), Counter({OK: WINDOW}))


def test_listings_that_nobody_answers_end_together_and_later_ones_are_answered(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    with ExitStack() as stack:
        one = stack.enter_context(host(module, cluster.url(namespace=namespace, timeout=1)))
        at_last(partial(one.say, "store", keys_of(range(3))), Counter({OK: 3}))
        others = [
            stack.enter_context(module.attach(one.controller, depth=4, timeout=60))
            for _ in range(8)
        ]
        with cluster.paused("osd"), took(1, 1):
            lists = [one.begin(Host(one.controller, kv, one.threads).listed) for kv in others]
            assert [future.result(20) for future in lists] == [{UNREACHABLE: 1}] * 8
        at_last(one.listed, Counter([OK]))
        assert sorted(one.kv.list()) == keys_of(range(3))
