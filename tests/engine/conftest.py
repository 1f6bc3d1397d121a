"""Builds of the exploration program: engine, simulator and controller in one executable."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "runtime" / "emulator"
GENERATED = ROOT / "generated"
HERE = Path(__file__).resolve().parent

WARNINGS = ("-Wall", "-Wextra", "-Werror")
# Far above what a run takes; only a program that hangs gets there.
LIMIT = 300
FLAGS = ("-std=c++17", "-O1", "-g", "-pthread")


@dataclass(frozen=True)
class Shape:
    """A simulated machine: lanes of a workgroup, lanes of a wave, window in shared memory."""

    lanes: int
    wave: int
    shared_window: int

    @property
    def defines(self) -> tuple[str, ...]:
        return (
            f"-DSIMULATED_LANES={self.lanes}u",
            f"-DSIMULATED_WAVE={self.wave}u",
            f"-DSIMULATED_SHARED_WINDOW={self.shared_window}u",
            '-DXIOKV_PLATFORM_HEADER="platform_fibers.h"',
        )


@dataclass(frozen=True)
class Outcome:
    """What a run of the exploration program said."""

    held: bool
    said: str

    @property
    def tally(self) -> dict[str, Any]:
        return json.loads(self.said)


class Workshop:
    """Compiles what no mutation changes once, and programs from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shaped: dict[Shape, list[Path]] = {}
        units = [*sorted(EMULATOR.glob("*.cpp")), HERE / "bench.cpp", HERE / "fibers.cpp"]
        with ThreadPoolExecutor(2) as pool:
            self._common = list(pool.map(self._object, units))

    def program(self, folder: Path, shape: Shape, include: Path = GENERATED / "include") -> Path:
        """Link the exploration program for a shape, with engine headers from `include`."""
        if shape not in self._shaped:
            names = ("scenario", "explore")
            self._shaped[shape] = [self._object(HERE / f"{n}.cpp", shape.defines) for n in names]
        kernels = GENERATED / "kernels" / "kv_kernels.cpp"
        parts = [kernels, *self._shaped[shape], *self._common]
        program = folder / "explore"
        # A mutation may leave a parameter unused: no warnings here.
        self._run(["g++", *FLAGS, "-w", *shape.defines, *_folders(include), *parts, "-o", program])
        return program

    def _object(self, unit: Path, defines: tuple[str, ...] = ()) -> Path:
        target = self.folder / f"{unit.stem}{abs(hash(defines))}.o"
        include = _folders(GENERATED / "include")
        self._run(["g++", *FLAGS, *WARNINGS, *defines, *include, "-c", unit, "-o", target])
        return target

    def _run(self, command: list[object]) -> None:
        words = [str(part) for part in command]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def _folders(include: Path) -> list[str]:
    return [f"-I{folder}" for folder in (include, EMULATOR, HERE)]


def explore(program: Path, first: int, count: int) -> Outcome:
    """Run seeds ``first`` to ``first + count - 1``."""
    command = [str(program), str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    return Outcome(done.returncode == 0, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: apt-get install g++")
    return Workshop(tmp_path_factory.mktemp("explore"))
