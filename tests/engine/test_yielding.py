"""The host engine on one thread: it gives its core up, and takes no more than its share."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "generated" / "include"
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: apt-get install g++")
    program = tmp_path_factory.mktemp("yielding") / "yielding"
    command = ["g++", *FLAGS, f"-I{INCLUDE}", HERE / "yielding.cpp", "-o", program]
    subprocess.run(command, check=True)
    return program


def said(program: Path, name: str) -> str:
    done = subprocess.run([program, name], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_a_controller_that_waits_for_the_core_gets_it(program: Path) -> None:
    assert said(program, "yields") == "10 OK\n"


def test_a_queue_that_is_ahead_leaves_the_other_its_share(program: Path) -> None:
    assert said(program, "is ahead") == "5 TIMEOUT, 5 untouched\n"
