"""The engine as the host runs it, a thread a queue, under sanitizers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Edit, Workshop, mutated, run

SANITIZERS = {
    "address and undefined": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    # A memcpy that the compiler expands itself would go unseen.
    "thread": ("-fsanitize=thread", "-fno-builtin-memcpy"),
}

# Keys, queues, depth, window, largest value in bytes, faults.
LOADS = {
    "two queues": (20_000, 2, 64, 40, 200, 1),
    "more than 65,536 commands on a queue": (70_000, 1, 255, 1023, 64, 0),
    "values of several pages": (3_000, 3, 2, 5, 5_000, 1),
    "the deepest queue and the largest window": (70_000, 1, 65_536, 65_535, 16, 0),
    "one command at a time": (20_000, 1, 3, 1, 16, 1),
    "an odd depth": (20_000, 1, 1023, 1024, 32, 1),
}


# All tests of a sanitizer in one process, as its program takes long to compile.
GROUPED = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in SANITIZERS]


@pytest.fixture(scope="module", params=GROUPED)
def sanitized(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("sanitized"), *SANITIZERS[request.param])


@pytest.fixture(scope="module")
def soaker(sanitized: Workshop) -> Path:
    return sanitized.soaker(sanitized.folder)


@pytest.mark.slow
@pytest.mark.parametrize("load", LOADS)
def test_results_and_bytes_are_right_and_the_sanitizer_is_silent(load: str, soaker: Path) -> None:
    outcome = run(soaker, *LOADS[load])
    assert outcome.held, outcome.said
    assert outcome.said == ""


# What ThreadSanitizer has to see, or its silence means nothing.
RACES: dict[str, tuple[Edit, ...]] = {
    "a doorbell that releases nothing": (("value, __ATOMIC_RELEASE)", "value, __ATOMIC_RELAXED)"),),
    "a phase that acquires nothing": (
        ("half + 1, __ATOMIC_ACQUIRE)", "half + 1, __ATOMIC_RELAXED)"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RACES)
def test_thread_sanitizer_sees_a_missing_fence(
    name: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    workshop = Workshop(tmp_path_factory.mktemp("racing"), *SANITIZERS["thread"])
    program = workshop.soaker(tmp_path, mutated(tmp_path, RACES[name]))
    command = [str(program), *map(str, LOADS["two queues"])]
    # It stops at the first race: there would be one a command.
    first = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1"}
    done = subprocess.run(
        command, env=first, capture_output=True, text=True, check=False, timeout=300
    )
    assert "ThreadSanitizer: data race" in done.stderr
