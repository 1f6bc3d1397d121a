"""Tests that run in a process of their own: one that has the stand-in for AMD's library.

A process takes the stand-in for the real library from its environment, as it starts, and has
one architecture. So another pytest collects the same tests there, and runs those that it is
told to, one by one: `Elsewhere` here, `serve` there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from tests import native
from tests.hip.standin_process import LIMIT, NAME, Standin, build

HERE = Path(__file__).resolve().parent
CHANNEL = "TEST_TARGETS_CHANNEL"


class Elsewhere:
    """A pytest in another process.

    Args:
        architecture: that of its device.
    """

    def __init__(self, architecture: str) -> None:
        _check_needs()
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name, "log")
        standin = Standin(build(), Path(self._folder.name, "rocm"))
        standin.offer(NAME)
        self._connection, theirs = Pipe()
        number = theirs.fileno()
        plugins = ("-p", "no:cacheprovider", "-p", "tests.targets.elsewhere")
        with self._log.open("w") as log, theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *plugins, str(HERE)],
                env={**standin.environment(arch=architecture), CHANNEL: str(number)},
                pass_fds=[number],
                cwd=native.ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def run(self, name: str) -> list[dict[str, Any]]:
        """Run a test there; return its reports as data."""
        try:
            self._connection.send(name)
            if self._connection.poll(LIMIT):
                return list(self._connection.recv())
            said = f"it did not end in {LIMIT} seconds"
        except (EOFError, OSError):
            said = "the process is gone"
        log = self._log.read_text(encoding="utf-8")
        self.close()
        pytest.fail(f"{name}: {said}\n{log}", pytrace=False)

    @property
    def is_there(self) -> bool:
        """Whether it runs still."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process, which waits for the next test or hangs."""
        self._connection.close()
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def _check_needs() -> None:
    """Skip where something is not installed that the stand-in's processes need."""
    pytest.importorskip("hip", reason="hip-python is not installed: pip install hip-python")
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed: apt-get install clang-19 lld-19")


# In the other process this file is a plugin.

_reports: list[pytest.TestReport] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what became of a part of a test."""
    _reports.append(report)


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the tests that are asked for, until nobody is there to ask."""
    hook = session.config.hook
    items = {item.nodeid: item for item in session.items}
    with Connection(int(os.environ[CHANNEL])) as connection:
        while True:
            try:
                item = items[connection.recv()]
            except EOFError:
                return True
            _reports.clear()
            hook.pytest_runtest_protocol(item=item, nextitem=None)
            connection.send(
                [
                    hook.pytest_report_to_serializable(config=session.config, report=report)
                    for report in _reports
                ]
            )
