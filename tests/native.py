"""C++ of the tests, compiled; what was compiled before, from the same text, is kept.

In: units. Out: a shared library or a program of them.
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
    return _built(name, sorted(folder.glob("*.cpp")), (*_FLAGS, *flags), (), link, ("-shared",))


def program(
    name: str, units: Iterable[Path], *, include: Iterable[Path] = (), link: Iterable[Path] = ()
) -> Path:
    """Return a program of some units.

    Args:
        name: its file name.
        units: what it is compiled from.
        include: folders of headers that are not beside the units.
        link: libraries, which are found where they are.
    """
    return _built(name, units, (*_FLAGS, "-O2"), tuple(include), link, ())


def compiled(unit: Path, *flags: str) -> Path:
    """Return the object file of a unit; what the preprocessor makes of it says which.

    Args:
        unit: what is compiled.
        flags: for the compiler, all of them; folders of headers too.
    """
    words = ("g++", *flags)
    text = _said(*words, "-E", str(unit))
    made = KEPT / f"{unit.stem}-{_key(_said('g++', '--version'), *words, text)}.o"
    KEPT.mkdir(parents=True, exist_ok=True)
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _make(made, *words, "-c", str(unit))


def written(name: str, text: str) -> Path:
    """Return a unit that holds a text; units of one name that differ are apart."""
    folder = KEPT / _key(name, text)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / name).exists():
            (folder / "part").write_text(text, encoding="utf-8")
            (folder / "part").replace(folder / name)
    return folder / name


def _built(
    name: str,
    units: Iterable[Path],
    flags: tuple[str, ...],
    include: tuple[Path, ...],
    link: Iterable[Path],
    kind: tuple[str, ...],
) -> Path:
    words = ("g++", *flags, *(f"-I{folder}" for folder in include))
    base = _said(*words, "-dM", "-E", "-x", "c++", "/dev/null")
    KEPT.mkdir(parents=True, exist_ok=True)
    # Test processes side by side would compile the same: the first does, the others wait.
    with (KEPT / ".lock").open("w") as lock, ThreadPoolExecutor(os.cpu_count()) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        objects = list(pool.map(partial(_object, words, base, include), units))
        libraries = [word for path in link for word in (str(path), f"-Wl,-rpath,{path.parent}")]
        return _linked(name, ("g++", *kind, "-pthread", *map(str, objects), *libraries))


def _object(words: tuple[str, ...], base: str, include: tuple[Path, ...], unit: Path) -> Path:
    texts = [path.read_text(encoding="utf-8") for path in sorted(_included(unit, include))]
    made = KEPT / f"{unit.stem}-{_key(base, *words, *texts)}.o"
    return _make(made, *words, "-c", str(unit))


def _included(path: Path, include: tuple[Path, ...]) -> set[Path]:
    """Return a file, and all that it includes by name, from its own folder or from another."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        path = waiting.pop()
        found.add(path)
        for name in re.findall(r'^#include "(.+)"', path.read_text("utf-8"), re.MULTILINE):
            places = ((folder / name).resolve() for folder in (path.parent, *include))
            waiting += {next(place for place in places if place.exists())} - found
    return found


def _linked(name: str, words: tuple[str, ...]) -> Path:
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
