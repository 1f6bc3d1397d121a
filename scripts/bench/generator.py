"""xiokv-gen as users meet it: a process each time, beside what Python itself takes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from samples import Row, row, rows

from xiokv.codegen.lock import read_lock
from xiokv.runtime.bench.rows import take_turns

ROOT = Path(__file__).resolve().parents[2]
PROJECT_FILES = ("xiokv.toml", "xiokv.lock", "generated/spec/nvme_kv.json")

FLOOR = "python, importing click and jinja2"
COLD, WARM, CHECK = "build, output removed", "build, nothing to write", "check"

# The peak of this program alone: what wait() tells also counts the process before exec.
PEAK = """
import atexit, pathlib, sys
def tell():
    text = pathlib.Path("/proc/self/status").read_text()
    sys.stderr.write(text.split("VmHWM:")[1].split()[0])
atexit.register(tell)
"""
MAIN = "import sys\nsys.argv = {words!r}\nfrom xiokv.codegen.cli import main\nmain()\n"


def measure(tiny: bool) -> list[Row]:
    """Return times and peak memory of the commands on a copy of this project."""
    with tempfile.TemporaryDirectory() as folder:
        project = _copy(Path(folder))
        words = {
            COLD: _words(project, "build", "--emit-only"),
            WARM: _words(project, "build", "--emit-only"),
            CHECK: _words(project, "check"),
        }
        return [*_times(project, words, 1 if tiny else 15), *_peaks(project, words)]


def _copy(folder: Path) -> Path:
    for name in PROJECT_FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def _words(project: Path, *arguments: str) -> list[str]:
    return ["xiokv-gen", "--project", str(project), *arguments]


def _times(project: Path, words: dict[str, list[str]], rounds: int) -> list[Row]:
    tool = str(Path(sys.executable).with_name("xiokv-gen"))
    commands = {
        "python, doing nothing": [sys.executable, "-c", "pass"],
        FLOOR: [sys.executable, "-c", "import click, jinja2"],
        **{name: [tool, *rest] for name, (_, *rest) in words.items()},
    }
    cases: dict[str, Callable[[], float]] = {
        name: partial(_seconds, command, project, remove=name == COLD)
        for name, command in commands.items()
    }
    # Once before, so that byte code is compiled and files are in memory.
    take_turns(cases, 1)
    return rows("s", take_turns(cases, rounds), FLOOR)


def _seconds(command: list[str], project: Path, *, remove: bool) -> float:
    if remove:
        _remove_output(project)
    start = time.perf_counter()
    _run(command)
    return time.perf_counter() - start


def _peaks(project: Path, words: dict[str, list[str]]) -> list[Row]:
    codes = {
        "python, doing nothing": "pass",
        FLOOR: "import click, jinja2",
        **{name: MAIN.format(words=command) for name, command in words.items()},
    }
    return [row(f"peak memory: {name}", "MiB", [_peak(code)]) for name, code in codes.items()]


def _peak(code: str) -> float:
    return int(_run([sys.executable, "-c", PEAK + code])) / 1024


def _remove_output(project: Path) -> None:
    lock = read_lock(project / "xiokv.lock")
    for name in lock.owned if lock else ():
        (project / name).unlink(missing_ok=True)


def _run(command: list[str]) -> str:
    """Run a command, which has to succeed; return what it wrote to standard error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stderr
