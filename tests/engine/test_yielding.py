"""Where cores are few, an idle host engine lets the controller have its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "generated" / "include"
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror")


def test_a_controller_that_waits_for_the_core_gets_it(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: apt-get install g++")
    program = tmp_path / "yielding"
    command = ["g++", *FLAGS, f"-I{INCLUDE}", HERE / "yielding.cpp", "-o", program]
    subprocess.run(command, check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
