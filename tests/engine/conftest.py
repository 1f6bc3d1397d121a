"""Builds of the exploration program: engine, simulator and controller in one executable."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import native

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "runtime" / "emulator"
INCLUDE = ROOT / "generated" / "include"
KERNELS = ROOT / "generated" / "kernels" / "kv_kernels.cpp"
HERE = Path(__file__).resolve().parent

WARNINGS = ("-Wall", "-Wextra", "-Werror")
# Far above what a run takes; only a program that hangs gets there.
LIMIT = 300
# Jumps between stacks are what the simulator is made of, and what a fortified longjmp refuses.
# What a sanitiser tells of are lines; where variables are is what compilers take longest to note.
FLAGS = ("-std=c++17", "-O1", "-g1", "-pthread", "-U_FORTIFY_SOURCE")

# What plays scenarios and cases on any machine.
PLAY = ("bench", "cases", "checks", "play", "program", "scenario")

# The cases that every machine for workgroups has to hold, by name.
CASES = re.findall(r'^    named\(\s*"([^"]+)"', (HERE / "cases.cpp").read_text(), re.MULTILINE)

# Every outcome that the faults of scenarios can bring about has to turn up in some.
SEEN = {"ok", "truncated", "missing", "error", "timeout", "cancelled"}

# A change to the engine: a text that its headers have once, the text in its place.
Edit = tuple[str, str]


@dataclass(frozen=True)
class Shape:
    """A simulated machine: lanes of a workgroup, lanes of a wave, window in shared memory.

    Its loads may acquire, or fences alone do.
    """

    lanes: int
    wave: int
    shared_window: int
    early_acquire: bool = False

    @property
    def defines(self) -> tuple[str, ...]:
        return (
            f"-DSIMULATED_LANES={self.lanes}u",
            f"-DSIMULATED_WAVE={self.wave}u",
            f"-DSIMULATED_SHARED_WINDOW={self.shared_window}u",
            f"-DSIMULATED_EARLY_ACQUIRE={self.early_acquire:d}",
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
    """Compiles what no mutation changes once, and links programs from it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self._flags = (*FLAGS, *flags)
        self._objects: dict[tuple[Path, tuple[str, ...]], Path] = {}

    def explorer(self, folder: Path, shape: Shape, include: Path = INCLUDE) -> Path:
        """Link the exploration program for a shape, with engine headers from `include`."""
        parts = [
            self.object(HERE / "fiber_workgroups.cpp", *shape.defines),
            *(self.object(HERE / f"{name}.cpp") for name in ("explore", "fibers", *PLAY)),
        ]
        return self._link(folder / "explore", parts, include, shape.defines)

    def forger(self, folder: Path, shape: Shape, include: Path = INCLUDE) -> Path:
        """Link the program whose controller makes completions up."""
        parts = [
            self.object(HERE / f"{name}.cpp", *shape.defines)
            for name in ("forged", "fiber_workgroups")
        ]
        parts.append(self.object(HERE / "fibers.cpp"))
        return self._link(folder / "forged", parts, include, shape.defines)

    def soaker(self, folder: Path, include: Path = INCLUDE) -> Path:
        """Link the program that runs the engine as the host does."""
        parts = [self.object(HERE / f"{name}.cpp") for name in ("soak", "bench")]
        return self._link(folder / "soak", parts, include)

    def object(self, unit: Path, *defines: str) -> Path:
        """Compile one of the parts that no mutation changes, or take what is there."""
        key = (unit, defines)
        if key not in self._objects:
            flags = (*self._flags, *WARNINGS, *defines, *_folders(INCLUDE))
            self._objects[key] = native.compiled(unit, *flags)
        return self._objects[key]

    def _emulator(self) -> Path:
        """Compile the controller as one unit, which takes a third of the time."""
        names = sorted(path.name for path in EMULATOR.glob("*.cpp"))
        # One place for all, as an object file tells where its unit was.
        unit = native.written("whole_emulator.cpp", "".join(f'#include "{n}"\n' for n in names))
        return self.object(unit)

    def _link(
        self, program: Path, parts: list[Path], include: Path, defines: tuple[str, ...] = ()
    ) -> Path:
        parts = [*parts, self._emulator()]
        # A mutation may leave a parameter unused: no warnings here.
        self._run(["-w", *defines, *_folders(include), KERNELS, *parts, "-o", program])
        return program

    def _run(self, arguments: list[object]) -> None:
        words = ["g++", *self._flags, *map(str, arguments)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def _folders(include: Path) -> list[str]:
    return [f"-I{folder}" for folder in (include, EMULATOR, HERE)]


def mutated(folder: Path, edits: tuple[Edit, ...]) -> Path:
    """Return a copy of the generated headers with the edits made."""
    include = folder / "include"
    shutil.copytree(INCLUDE, include)
    for there, instead in edits:
        [path] = [path for path in include.rglob("*.h") if there in path.read_text()]
        text = path.read_text()
        assert text.count(there) == 1, f"{path.name} has {there!r} {text.count(there)} times"
        path.write_text(text.replace(there, instead))
    return include


def run(program: Path, *arguments: str | int) -> Outcome:
    """Run a program; a hang or a lack of memory is none of its outcomes."""
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    # A crash may be what a fault in the engine leads to; this is the system, out of memory.
    assert done.returncode != -signal.SIGKILL, f"{program} was killed"
    return Outcome(done.returncode == 0, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: apt-get install g++")
    return Workshop(tmp_path_factory.mktemp("explore"))
