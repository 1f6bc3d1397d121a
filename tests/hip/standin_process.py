"""The stand-in for AMD's runtime library, and processes that take it for the real one."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import native
from tests.amdgpu import machine

HERE = Path(__file__).resolve().parent
NAME = "libamdhip64.so"

# Far above what a process takes; only one that hangs gets there.
LIMIT = 120

# Calls one function of a test file and prints what it returns, marked by its last line.
CALLER = """\
import json, runpy, sys
sys.path.append(sys.argv[4])
found = runpy.run_path(sys.argv[1])[sys.argv[2]](*json.loads(sys.argv[3]))
print(json.dumps(found), flush=True)
"""


def build() -> Path:
    """Return the stand-in library: HIP's calls, and the machine that runs the kernels."""
    if not native.is_there():
        pytest.skip("g++ is not installed: apt-get install g++")
    flags = ("-O2", "-fvisibility=hidden")
    return native.library(NAME, HERE / "standin", flags=flags, link=[machine.build()])


@dataclass(frozen=True)
class Standin:
    """A folder to look for the library in, and how to run things that do."""

    library: Path
    folder: Path

    def offer(self, *names: str) -> None:
        """Let the folder have the library under these names, and no other."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "lib").mkdir(parents=True)
        for name in names:
            (self.folder / "lib" / name).symlink_to(self.library)

    def environment(self, **settings: object) -> dict[str, str]:
        """Return this process's environment with the library in its search path.

        Args:
            settings: STANDIN_HIP_... variables by the rest of their names, in lower case.
        """
        kept = {name: value for name, value in os.environ.items() if "STANDIN_HIP" not in name}
        asked = {f"STANDIN_HIP_{name.upper()}": str(value) for name, value in settings.items()}
        # hip-python looks into ROCM_PATH, or else into a fixed folder, before anywhere else.
        found = {"LD_LIBRARY_PATH": str(self.folder / "lib"), "ROCM_PATH": str(self.folder)}
        return {**kept, **found, **asked}

    def run(self, *command: object, **settings: object) -> subprocess.CompletedProcess[str]:
        """Run a program with the library; it may fail."""
        return subprocess.run(
            [*map(str, command)],
            env=self.environment(**settings),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    def call(self, function: Callable[..., Any], *arguments: object, **settings: object) -> Any:
        """Return what a function of a test file returns in a process of its own.

        Arguments and result go through JSON.
        """
        where = (inspect.getsourcefile(function), function.__name__, json.dumps(arguments))
        done = self.run(sys.executable, "-c", CALLER, *where, native.ROOT, **settings)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])
