"""Commands that a cluster refuses: the message names the status, and what to do about it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from xiokv.runtime import BatchFault, Emulator, load

from .cluster import Cluster

TOOL = (sys.executable, "-c", "from xiokv.runtime.cli import main; main()")
COMMANDS = {
    "verify": ("verify", "--target", "host", "--sizes", "4KiB", "--count", "4", "--no-faults"),
    "replay": ("replay", "--target", "host", "--generate", "2", "--block-bytes", "4KiB"),
}

Fail = Callable[..., str]


@pytest.fixture
def fail(cluster: Cluster, namespace: str, own_surroundings: None) -> Iterator[Fail]:
    """Return what runs a command that fails, and returns its first line."""

    def run(command: str, **url: object) -> str:
        done = subprocess.run(
            [*TOOL, *COMMANDS[command], "--store", cluster.url(namespace=namespace, **url)],
            env=dict(os.environ),
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 1, done.stderr
        return done.stderr.splitlines()[0]

    yield run
    cluster.empty(namespace)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_user_who_may_not_write_is_told_of_caps(
    fail: Fail, cluster: Cluster, namespace: str, command: str
) -> None:
    cluster.make_user(f"reader-{namespace}", mon="allow r", osd="allow r")
    said = fail(command, user=f"reader-{namespace}")
    assert "OPERATION_DENIED (SCT 0h, SC 15h, DNR 0): who opened the store may not do this" in said
    assert "ceph auth get client.NAME" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pool_that_is_full_is_told(
    fail: Fail, harmed_cluster: Cluster, namespace: str, command: str
) -> None:
    harmed_cluster.rados("put", "filling", "-", namespace=namespace, input=bytes(1 << 16))
    harmed_cluster.set_full()
    said = fail(command)
    harmed_cluster.clear_full()
    assert "CAPACITY_EXCEEDED (SCT 0h, SC 81h, DNR 0): there is no room for the value" in said


def test_a_store_that_is_read_only_says_so_at_the_first_value(
    cluster: Cluster, namespace: str, own_surroundings: None
) -> None:
    url = cluster.url(namespace=namespace, read_only="true")
    with Emulator(store=url) as controller, load("host").attach(controller) as kv:
        result = kv.store([b"key"], np.zeros((1, 64), np.uint8))
        with pytest.raises(BatchFault) as caught:
            result.raise_for_status()
    *_, last = str(caught.value).splitlines()
    assert last == (
        "COMMAND_NAMESPACE_IS_PROTECTED: the store is opened read-only; leave read_only out of its"
        " URL to write"
    )
