"""The host driver where the system gives it no more threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

LAUNCHES = """
import ctypes, sys
from pathlib import Path
from tests.runtime.test_host import work
from xiokv.runtime.drivers.host import HostDriver
driver = HostDriver(Path(sys.argv[1]))
before, task = work(driver), work(driver, queues=6)
before.launch("note").wait()
ctypes.CDLL(None).allow_threads(int(sys.argv[2]))
task.batch.count = 1 + int(sys.argv[2])  # each of the threads has one at the same time
task.launch("meet_some").wait()
first = before.notes[0][1] + 1
assert sorted(place for _, place in task.notes) == list(range(first, first + 6)), task.notes
print(len({thread for thread, _ in task.notes}))
"""

STREAM = """
import ctypes
from xiokv.runtime import RuntimeFault, Stream
Stream().close()
ctypes.CDLL(None).allow_threads(0)
try:
    Stream()
except RuntimeFault as fault:
    print(fault)
"""


@pytest.fixture(scope="module")
def shim(run_gxx) -> Path:
    text = (HERE / "few_threads.cpp").read_text(encoding="utf-8")
    return run_gxx(text, "-shared", "-fPIC")


def limited(shim: Path, code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


@pytest.mark.parametrize("most", [0, 1, 3])
def test_queues_for_which_there_is_no_thread_are_run_after_another(
    shim: Path, run_gxx, most: int
) -> None:
    from .test_host import KERNELS

    done = limited(shim, LAUNCHES, run_gxx(KERNELS, "-shared", "-fPIC"), most)
    assert done.stdout == f"{1 + most}\n"
    assert f"{5 - most} of 6 queues share a thread: the system gives no more" in done.stderr


def test_a_stream_for_which_there_is_no_thread_is_an_error(shim: Path) -> None:
    assert limited(shim, STREAM).stdout.startswith("cannot start a thread for a stream")
