"""Faults that commands inject while values are in a pool: nothing else than these goes wrong."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.tool import TOOL, own_environment
from xiokv.runtime.kvcache.replay.disturbances import TIMEOUT
from xiokv.runtime.kvcache.replay.place import Where, open_place

from .cluster import Cluster

COMMANDS = {
    "replay": ("replay", "--generate", "6", "--block-bytes", "4KiB", "--json"),
    "verify": ("verify", "--sizes", "4KiB", "--count", "64", "--json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_warns_of_nothing_that_it_chose_itself(
    cluster: Cluster, namespace: str, command: str
) -> None:
    url = cluster.url(namespace=namespace, timeout=0.5)
    done = subprocess.run(
        [*TOOL, *COMMANDS[command], "--target", "host", "--faults", "--store", url],
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)
    assert cluster.names(namespace) == []


def test_a_queue_is_given_up_after_the_store_has_had_its_time(
    cluster: Cluster, namespace: str, own_surroundings: None, caplog: pytest.LogCaptureFixture
) -> None:
    url = cluster.url(namespace=namespace, timeout=2)
    with open_place(Where(target="host", queues=1, store=url, faults=True)) as place:
        assert place.rig is not None
        assert place.rig.kv.timeout == 2 + TIMEOUT
    assert caplog.messages == []
