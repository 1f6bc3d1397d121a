"""The controller is killed, reset or closed, or given up by its host, with commands in flight."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import DeadQueueFault, Outcome

from . import acknowledged
from .attached import Attach, statuses
from .cluster import Cluster
from .hosts import NOTHING, WINDOW, Host, host, keys_of, said, took, values_of

pytestmark = pytest.mark.slow

WRITER = Path(__file__).with_name("writer.py")


def test_what_was_acknowledged_outlives_the_controller(
    module: Any, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    url = cluster.url(namespace=namespace)
    open_changes = 0
    for turn in range(3):
        writer = subprocess.Popen(
            [sys.executable, WRITER, module.path, url, journal, str(turn)],
            stderr=subprocess.PIPE,
        )
        wait_for_store(journal, writer, lines_of(journal) + 1500)
        time.sleep(0.02 * turn)
        writer.kill()
        writer.communicate()
        with host(module, cluster.url(namespace=namespace, timeout=20)) as one:
            complaints, certain = acknowledged.check(journal, one.values)
        assert complaints == []
        kept = acknowledged.replay(journal)
        assert len(kept) == 300
        assert certain > 100
        open_changes += sum(bool(one.later) for one in kept.values())
    assert open_changes  # it was killed within a batch


def lines_of(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def wait_for_store(journal: Path, writer: subprocess.Popen[bytes], lines: int) -> None:
    """Wait until a journal has more lines, and the last says that a store begins."""
    end = time.monotonic() + 60
    while True:
        text = journal.read_bytes() if journal.exists() else b""
        last = text[text.rfind(b"\n", 0, -1) + 1 :]
        if text.count(b"\n") > lines and last.startswith(b"intent") and b"absent" not in last:
            return
        assert writer.poll() is None, writer.communicate()
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.mark.parametrize("end", ["reset", "close", "kill", "delete_queue"])
def test_what_ends_with_commands_in_flight_ends_at_once_and_writes_nothing_later(
    module: Any, cluster: Cluster, namespace: str, end: str
) -> None:
    numbers = range(WINDOW)
    url = cluster.url(namespace=namespace, timeout=30)
    with host(module, url, timeout=1) as one:
        one.kv.store(keys_of(numbers), values_of(numbers), timeout=30).raise_for_status()
        other = module.attach(one.controller, queues=1, depth=8, timeout=1)
        out = np.full((WINDOW, 1024), 7, np.uint8)
        with cluster.paused("osd"):
            retrieves = one.begin(one.kv.retrieve, keys_of(numbers), out)
            writes = one.begin(other.store, keys_of(range(5)), values_of(range(5)))
            one.wait_for_fetch(WINDOW + 5)
            with took(0, 0):
                end_it(one, other, end)
            assert said(retrieves.result(20)) == {NOTHING: WINDOW}
            assert said(writes.result(20)) == {NOTHING: 5}
            with took(0, 0):
                if end == "kill":
                    one.controller.reset()
                one.kv.confirm_deleted()
                other.confirm_deleted()
                one.kv.close()
                other.close()
        time.sleep(0.5)
        assert (out == 7).all()


def end_it(one: Host, other: Any, end: str) -> None:
    if end != "delete_queue":
        return getattr(one.controller, end)()
    for pair in (*one.kv.queues, *other.queues):
        one.controller.delete_queue(pair.qid)


def test_closing_waits_for_a_listing_that_nobody_answers_as_long_as_its_deadline(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    with host(module, cluster.url(namespace=namespace, timeout=2), timeout=1) as one:
        others = [module.attach(one.controller, depth=4, timeout=1) for _ in range(6)]
        with cluster.paused("osd"):
            lists = [one.begin(Host(one.controller, kv, one.threads).listed) for kv in others]
            one.wait_for_fetch(6)
            with took(0, 0):
                one.controller.reset()
            with took(0, 2):
                one.controller.close()
            assert [future.result(20) for future in lists] == [{NOTHING: 1}] * 6
        for kv in (one.kv, *others):
            kv.confirm_deleted()
            kv.close()


def test_a_host_is_more_patient_than_the_store_unless_it_is_told_not_to_be(
    attach: Attach, harmed_cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    kv = attach(url={"timeout": 6}, timeout=None)
    kv.store([b"key"], b"a value.").raise_for_status()
    with harmed_cluster.paused("osd"):
        assert statuses(kv.exist([b"key"])) == {0x82}
    assert caplog.messages == []
    attach(url={"timeout": 6}, timeout=6)
    assert [line.partition(":")[0] for line in caplog.messages] == [
        "queues are given up after 6 s without a completion, and their controller's store has 6 s"
        " for a command"
    ]


def test_a_host_that_is_less_patient_than_the_store_gives_its_queues_up(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    with host(module, cluster.url(namespace=namespace, timeout=30), timeout=0.5) as one:
        with cluster.paused("osd"):
            with took(0.5, 0.5):
                result = one.kv.store(keys_of(numbers), values_of(numbers))
            assert result.counts == {Outcome.TIMEOUT: WINDOW}
            with pytest.raises(DeadQueueFault):
                one.kv.exist(keys_of(numbers))
            with took(0, 0):
                one.kv.reset()
            assert not result.buffer_may_be_written
        one.kv.store(keys_of(numbers), values_of(numbers), timeout=20).raise_for_status()
        with cluster.paused("osd"):
            one.kv.exist(keys_of(numbers))
            with took(0, 0):
                one.kv.close()
                one.controller.close()
