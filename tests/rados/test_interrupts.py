"""Commands that are cut off: they delete what they stored, or say what is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .cluster import Cluster

TOOL = (sys.executable, "-c", "from xiokv.runtime.cli import main; main()")
# Each goes on for long, and has stored something soon.
COMMANDS = {
    "verify": ("verify", "--target", "host", "--sizes", "4KiB", "--count", "1000000"),
    "replay": ("replay", "--target", "host", "--generate", "100000"),
    "bench": ("bench", "--target", "host", "--only", "rados"),
    "breakeven": (
        *("breakeven", "--target", "host", "--flops", "989e12"),
        *("--block-sizes", "4KiB", "--runs", "1000"),
    ),
}
BY_HAND = re.compile(r"rados --name .* rm$", re.MULTILINE)
LEFT = re.compile(
    r"^up to (\d+) objects? may be left in pool xiokv, namespace (\S+); ", re.MULTILINE
)

Begin = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def begin(
    cluster: Cluster,
    namespace: str,
    own_surroundings: None,
    tmp_path: Path,
) -> Iterator[Begin]:
    """Return what starts a command, and waits until it has stored something."""
    cluster.rados("put", "of-others", "-", namespace=namespace, input=b"value")
    with ExitStack() as stack:

        def start(command: str) -> subprocess.Popen[str]:
            url = cluster.url(namespace=namespace)
            running = stack.enter_context(
                subprocess.Popen(
                    [*TOOL, *COMMANDS[command], "--store", url],
                    cwd=tmp_path,
                    env=dict(os.environ),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(running.kill)
            what = "benchmark_data" if command == "bench" else ""
            wait_for_objects(cluster, namespace, what)
            return running

        yield start
    cluster.empty(namespace)


def wait_for_objects(cluster: Cluster, namespace: str, beginning: str) -> None:
    """Wait until there are some whose names begin so."""
    end = time.monotonic() + 240
    while sum(name.startswith(beginning) for name in cluster.names(namespace)) < 60:
        assert time.monotonic() < end, "nothing was stored"
        time.sleep(0.05)


def ended(running: subprocess.Popen[str], number: signal.Signals) -> str:
    """Send a signal, and return what the process then says on its way out."""
    running.send_signal(number)
    _, said = running.communicate(timeout=120)
    assert running.returncode == -number, said
    return said


def processes(text: str) -> list[str]:
    """Return the command lines of processes that name something."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode().split("\0")
        except OSError:
            continue  # it ended meanwhile
        if any(text in word for word in words):
            found.append(" ".join(words))
    return found


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("verify", signal.SIGINT),
        ("verify", signal.SIGTERM),
        ("replay", signal.SIGINT),
        ("breakeven", signal.SIGINT),
        pytest.param("bench", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_what_was_stored_is_deleted_where_the_cluster_answers(
    begin: Begin, cluster: Cluster, namespace: str, command: str, number: signal.Signals
) -> None:
    said = ended(begin(command), number)
    assert not LEFT.search(said), said
    assert cluster.names(namespace) == ["of-others"]
    assert "xiokv: interrupted\n" in said or number != signal.SIGINT


@pytest.mark.parametrize(
    "command", ["verify", "replay", pytest.param("bench", marks=pytest.mark.slow)]
)
def test_what_is_left_is_told_where_no_osd_answers(
    begin: Begin, harmed_cluster: Cluster, namespace: str, command: str
) -> None:
    """Children end, too, and the line that is printed removes what is left."""
    running = begin(command)
    with harmed_cluster.paused("osd"):
        said = ended(running, signal.SIGINT)
        assert processes(namespace) == []
    where = f"deleting what was stored in pool xiokv, namespace {namespace}, for up to 20 s; a"
    assert where in said
    assert said.partition("xiokv: interrupted\n")[2].startswith("up to ")
    found = LEFT.search(said)
    assert found is not None
    there = set(harmed_cluster.names(namespace)) - {"of-others"}
    assert 0 < len(there) <= int(found[1])
    assert found[2] == namespace

    line = BY_HAND.search(said)
    assert line is not None
    subprocess.run(["bash", "-c", line[0]], check=True, timeout=120)
    others = ["of-others"] if command == "bench" else []  # which knows its objects by their names
    assert harmed_cluster.names(namespace) == others


@pytest.mark.parametrize(
    "command", ["verify", "replay", pytest.param("bench", marks=pytest.mark.slow)]
)
def test_a_second_signal_ends_it_at_once_and_says_what_is_left(
    begin: Begin, harmed_cluster: Cluster, namespace: str, command: str
) -> None:
    running = begin(command)
    with harmed_cluster.paused("osd"):
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        lines = iter(running.stderr.readline, "")
        assert any("a second signal leaves it there" in line for line in lines)
        said = ended(running, signal.SIGTERM)
    assert said.startswith("xiokv: terminated\nup to ")
    found, line = LEFT.search(said), BY_HAND.search(said)
    assert found is not None
    assert line is not None
    there = set(harmed_cluster.names(namespace)) - {"of-others"}
    assert 0 < len(there) <= int(found[1])
    subprocess.run(["bash", "-c", line[0]], check=True, timeout=120)
    assert set(harmed_cluster.names(namespace)) <= {"of-others"}


@pytest.mark.parametrize("command", ["verify", "replay"])
def test_a_run_that_an_osd_fails_says_what_it_leaves(
    begin: Begin, harmed_cluster: Cluster, namespace: str, command: str
) -> None:
    running = begin(command)
    harmed_cluster.stop_osd()
    _, said = running.communicate(timeout=120)
    assert running.returncode == 1
    assert said.startswith("xiokv: ")
    assert re.search(r"NAMESPACE_NOT_READY.*: the store did not answer in time", said)
    left = LEFT.search(said)
    assert left is not None
    note = said[left.start() :]
    assert "the same command, run to its end, deletes them" in note


@pytest.mark.parametrize("command", ["verify", "replay", "breakeven"])
def test_a_store_that_is_read_only_is_refused_before_anything(
    cluster: Cluster, namespace: str, command: str
) -> None:
    url = cluster.url(namespace=namespace, read_only="true", connect_timeout=1)
    done = subprocess.run(
        [*TOOL, *COMMANDS[command], "--store", url],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"is read-only, and {command} stores: leave that out" in done.stderr


@pytest.mark.parametrize("caps", [{"osd": "allow r pool=xiokv"}, {}])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_user_who_may_not_store_leaves_nothing_and_is_told_of_nothing(
    cluster: Cluster, namespace: str, command: str, caps: dict[str, str]
) -> None:
    user = f"denied-{namespace}"
    cluster.make_user(user, mon="allow r", **caps)
    url = cluster.url(namespace=namespace, user=user)
    done = subprocess.run(
        [*TOOL, *COMMANDS[command], "--store", url],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 1
    assert "OPERATION_DENIED" in done.stderr or "Operation not permitted" in done.stderr
    assert not LEFT.search(done.stderr), done.stderr
    assert cluster.names(namespace) == []
