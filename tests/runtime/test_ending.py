"""Signals that end a command: the exit code of every subcommand, and a second one."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from xiokv.runtime.commands.dispatch import COMMANDS

# Each subcommand gets the signal where it would begin to work.
PROGRAM = """
import os, sys
import click
from xiokv.runtime.cli import main

def struck(command, context):
    os.kill(os.getpid(), int(sys.argv.pop(1)))
    raise AssertionError("the signal was not heard of")

real = click.Command.invoke
click.Command.invoke = lambda self, context: (
    real(self, context) if isinstance(self, click.Group) else struck(self, context)
)
main(sys.argv[2:])
"""

WORDS = {
    signal.SIGINT: (130, "interrupted"),
    signal.SIGTERM: (143, "terminated"),
    signal.SIGHUP: (129, "hung up"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", WORDS, ids=lambda number: number.name)
def test_every_subcommand_ends_by_its_signal(command: str, number: signal.Signals) -> None:
    words = ["bash", "-c", '"$@"; echo $?', "bash", sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        [*words, str(int(number)), command], capture_output=True, text=True, check=False, timeout=60
    )
    code, said = WORDS[number]
    told = [line for line in done.stderr.splitlines() if line.startswith("xiokv: ")]
    assert (done.stdout, told) == (f"{code}\n", [f"xiokv: {said}"]), done.stderr


def test_the_other_tool_ends_by_an_interrupt_too() -> None:
    program = PROGRAM.replace("runtime.cli", "codegen.cli")
    words = [sys.executable, "-c", program, "2", "init"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (-signal.SIGINT, "xiokv-gen: interrupted")


def test_a_loop_of_a_shell_ends_with_its_command() -> None:
    """Bash goes on where a command that was interrupted exits with a code, if it is 130."""
    program = PROGRAM.replace("os.kill(os.getpid()", "os.killpg(os.getpgid(0)")
    loop = 'for i in 1 2; do "$@"; echo went on; done'
    words = ["bash", "-c", loop, "bash", sys.executable, "-c", program, "2", "verify"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=60, start_new_session=True
    )
    assert (done.stdout, done.returncode) == ("", -signal.SIGINT)


BLOCKED = """
import ctypes, sys
from xiokv.runtime.ending import Ended, ending_signals

library, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)
with ending_signals():
    library.pthread_mutex_lock(lock)
    print("blocked", flush=True)
    library.pthread_mutex_lock(lock)
"""

BUSY = """
import time
from xiokv.runtime.ending import Ended, ending_signals, noticed

try:
    with ending_signals(), noticed("this takes a while"):
        print("busy", flush=True)
        time.sleep(600)
except Ended as ended:
    print(ended, flush=True)
    time.sleep(600)
"""


LEAVING = BLOCKED.replace("ending_signals", "ending_signals, last_words").replace(
    "with ending_signals, last_words()", "with ending_signals(), last_words(lambda: {words})"
)


@pytest.fixture
def running(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """Return a process that has printed its first line."""
    with subprocess.Popen(
        [sys.executable, "-c", request.param],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline()
            yield running
        finally:
            running.kill()


def interrupt_while_blocked(running: subprocess.Popen[str]) -> None:
    """Interrupt the call that the main thread sleeps in, which does not hear of it."""
    stat = Path(f"/proc/{running.pid}/stat")
    while not stat.read_text(encoding="utf-8").rpartition(") ")[2].startswith("S"):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(timeout=1)


@pytest.mark.parametrize("running", [BLOCKED], indirect=True)
def test_a_second_signal_ends_what_does_not_hear_of_the_first(
    running: subprocess.Popen[str],
) -> None:
    interrupt_while_blocked(running)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=240) == -signal.SIGINT


@pytest.mark.parametrize(
    ("running", "said"),
    [
        (
            LEAVING.format(words="'3 objects are left'"),
            "3 objects are left",
        ),
        (LEAVING.format(words="''"), ""),
        (LEAVING.format(words="1 // 0"), ""),
    ],
    indirect=["running"],
)
def test_a_second_signal_says_what_it_leaves(running: subprocess.Popen[str], said: str) -> None:
    interrupt_while_blocked(running)
    running.send_signal(signal.SIGTERM)
    assert running.communicate(timeout=240)[1] == (f"xiokv: terminated\n{said}\n" if said else "")
    assert running.returncode == -signal.SIGTERM


@pytest.mark.parametrize("running", [BUSY], indirect=True)
def test_a_second_signal_of_any_kind_ends_what_cleans_up(running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGINT)
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline() == "interrupted\n"
    assert running.stderr.readline() == "this takes a while\n"
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=30) == -signal.SIGTERM


def test_signals_that_are_ignored_stay_so() -> None:
    program = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from xiokv.runtime.ending import ending_signals
with ending_signals():
    os.kill(os.getpid(), signal.SIGHUP)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print("went on")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "went on\n"
