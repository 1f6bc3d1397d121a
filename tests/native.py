"""C++ of the tests, compiled; what was compiled before, from the same text, is kept.

In: a folder of units. Out: a shared library of them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "tests"

_FLAGS = ("-std=c++17", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror")


def is_there() -> bool:
    """Tell whether there is a compiler."""
    return shutil.which("g++") is not None


def library(
    name: str, folder: Path, *, flags: Iterable[str] = ("-O2",), link: Iterable[Path] = ()
) -> Path:
    """Return a shared library of all units in a folder.

    Args:
        name: its file name.
        folder: where the units are.
        flags: for the compiler, besides what all have.
        link: other libraries, which are found where they are.
    """
    words = ("g++", *_FLAGS, *flags)
    base = _said(*words, "-dM", "-E", "-x", "c++", "/dev/null")
    units = sorted(folder.glob("*.cpp"))
    KEPT.mkdir(parents=True, exist_ok=True)
    # Test processes side by side would compile the same: the first does, the others wait.
    with (KEPT / ".lock").open("w") as lock, ThreadPoolExecutor(os.cpu_count()) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        objects = list(pool.map(partial(_object, words, base), units))
        return _linked(name, [*objects, *link], [f"-Wl,-rpath,{path.parent}" for path in link])


def _object(words: tuple[str, ...], base: str, unit: Path) -> Path:
    texts = [path.read_text(encoding="utf-8") for path in sorted(_included(unit))]
    made = KEPT / f"{unit.stem}-{_key(base, *words, *texts)}.o"
    return _make(made, *words, "-c", str(unit))


def _included(path: Path) -> set[Path]:
    """Return a file, and all that it includes by paths relative to it."""
    found = {path}
    for name in re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
        found |= _included((path.parent / name).resolve())
    return found


def _linked(name: str, parts: list[Path], flags: list[str]) -> Path:
    words = ("g++", "-shared", "-pthread", *map(str, parts), *flags)
    folder = KEPT / _key(*words)
    folder.mkdir(exist_ok=True)
    return _make(folder / name, *words)


def _make(made: Path, *words: str) -> Path:
    if not made.exists():
        part = made.with_name(f"{made.name}.part")
        _said(*words, "-o", str(part))
        part.replace(made)
    return made


def _said(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _key(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]
