"""A signal while a store connects is obeyed at once, however long the cluster may take."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .cluster import Cluster

TOOL = "from xiokv.runtime.cli import main; main()"
COMMANDS = {
    "verify": ("verify", "--target", "host"),
    "replay": ("replay", "--target", "host", "--generate", "10"),
    "bench": ("bench", "--target", "host", "--only", "rados"),
    "breakeven": ("breakeven", "--model", "llama-3.1-8b", "--flops", "989e12", "--target", "host"),
}
WORDS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "hung up",
}
# Longer than any wait below.
LONG = 600

Begin = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def begin(cluster: Cluster, own_surroundings: None, tmp_path: Path) -> Iterator[Begin]:
    """Return what runs a program on a cluster whose monitor is silent, once it connects."""
    conf = tmp_path / "ceph.conf"
    with ExitStack() as stack:
        monitor = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        monitor.settimeout(240)
        conf.write_text(
            f"[global]\nmon_host = 127.0.0.1:{monitor.getsockname()[1]}\n"
            f"keyring = {cluster.keyring}\n",
            encoding="ascii",
        )

        def start(program: str, *words: str, seconds: int = LONG) -> subprocess.Popen[str]:
            url = f"rados://pool/tenant?conf={conf}&connect_timeout={seconds}"
            running = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", program, *words, url],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env=dict(os.environ),
                )
            )
            stack.callback(running.kill)
            stack.enter_context(monitor.accept()[0])
            return running

        yield start


@pytest.mark.parametrize(
    ("command", "number"),
    [
        *((command, signal.SIGINT) for command in COMMANDS),
        ("verify", signal.SIGTERM),
        ("replay", signal.SIGHUP),
    ],
)
def test_a_command_that_connects_is_ended_by_a_signal(
    begin: Begin, command: str, number: signal.Signals
) -> None:
    running = begin(TOOL, *COMMANDS[command], "--store")
    running.send_signal(number)
    said = running.communicate(timeout=240)
    assert (running.returncode, *said) == (-number, "", f"xiokv: {WORDS[number]}\n")


INTERRUPTED = """
import os, sys
from xiokv import runtime

try:
    runtime.Emulator(store=sys.argv[-1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
{then}
"""


def test_an_interrupt_that_nobody_catches_ends_a_program(begin: Begin) -> None:
    running = begin("import sys; from xiokv import runtime; runtime.Emulator(store=sys.argv[-1])")
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=240)
    assert running.returncode == -signal.SIGINT
    assert said[1].splitlines()[-1] == "KeyboardInterrupt"


@pytest.mark.parametrize("seconds", [1, 2])
def test_the_process_ends_well_while_an_attempt_is_under_way(begin: Begin, seconds: int) -> None:
    """It waits for it: librados is at work there."""
    running = begin(INTERRUPTED.format(then=""), seconds=seconds)
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=240) == ("interrupted\n", "")
    assert running.returncode == 0


def test_a_child_of_fork_does_not_wait_for_its_parents_attempt(begin: Begin) -> None:
    then = "pid = os.fork()\nif pid: print(os.waitpid(pid, 0)[1], flush=True); os._exit(0)"
    running = begin(INTERRUPTED.format(then=then))
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=240) == ("interrupted\n0\n", "")
    assert running.returncode == 0


def test_another_store_opens_after_an_interrupt(begin: Begin, cluster: Cluster) -> None:
    then = f"runtime.Emulator(store={cluster.url()!r}).close()\nprint('open', flush=True)\n"
    running = begin(INTERRUPTED.format(then=then + "os._exit(0)"))
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=240) == ("interrupted\nopen\n", "")
    assert running.returncode == 0
