"""Folders that hold what was built: made once, whole or not at all, by one process at a time.

In: a recipe and a folder. Out: the recipe's files in it, and their description. All is made
aside and then moved in place of what a former build made, which stays as it was where that
fails. The lock file of a folder lists the files that builds put there, so that a later build
with other files takes away the older ones, and nothing else.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.toolchain.compilers import Compiler
from xiokv.runtime.toolchain.invoke import compile_all
from xiokv.runtime.toolchain.recipes import Recipe, sha256

DESCRIPTION = "module.json"

_LOCK = ".lock"
_MAKING = ".xiokv-", ".tmp"  # how the name of a folder begins and ends in which is compiled


def cache_folder() -> Path:
    """Return the user's folder for compiled modules."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "xiokv"
    except RuntimeError as error:
        raise RuntimeFault("no home folder for the cache: set XDG_CACHE_HOME") from error


def build_cached(recipe: Recipe) -> Path:
    """Build a recipe in the user's cache, unless it is there; return what `build` does."""
    folder = cache_folder() / recipe.key(recipe.find_compiler())
    return build(recipe, folder, else_try=" (XDG_CACHE_HOME moves the user's cache)")


def build(recipe: Recipe, folder: Path, *, else_try: str = "") -> Path:
    """Build a recipe in `folder`, unless what is there is the same already.

    Args:
        recipe: what to build.
        folder: where; made if need be.
        else_try: how the user chooses another folder, where this one cannot be written.

    Returns:
        The path of the recipe's file, or `folder` where it has several. Beside them lies
        their description: the recipe's, and what was built, by which compiler and from
        which texts.
    """
    compiler = recipe.find_compiler()
    key = recipe.key(compiler)
    place = recipe.place(folder)
    # Looked at first without the lock, which a read-only cache cannot give.
    if _is_current(folder, key):
        return place
    try:
        with _locked(folder) as lock:
            if not _is_current(folder, key):
                _build(recipe, compiler, folder, lock)
    except OSError as error:
        raise RuntimeFault(
            f"cannot build {place}: {error.strerror}; the folder has to be writable{else_try}"
        ) from error
    return place


def _build(recipe: Recipe, compiler: Compiler, folder: Path, lock: TextIO) -> None:
    """Compile aside, below a folder that is locked, and move what was made into it."""
    new = [output.file for output in recipe.outputs]
    older = [name for name in _listed(lock) if name not in new]
    prefix, suffix = _MAKING
    for left in folder.glob(f"{prefix}*{suffix}"):  # of a build that was killed
        shutil.rmtree(left)
    _progress(f"compiling {_shown(new)} with {compiler.path} (once)")
    with TemporaryDirectory(prefix=prefix, suffix=suffix, dir=folder) as name:
        making = Path(name)
        document = _described(recipe, compiler, compile_all(recipe, compiler, making), making)
        text = json.dumps(document, indent=2, sort_keys=True) + "\n"
        (making / DESCRIPTION).write_text(text, encoding="utf-8")
        _list(lock, [*new, *older])  # for the next build, should this one be killed
        _exchange(folder, making, new, older)
    _list(lock, new)


def _exchange(folder: Path, making: Path, new: list[str], older: list[str]) -> None:
    """Move the former module out of a folder and the new one in; all of it, or nothing.

    The description goes first and comes last: in between nothing there looks like a module.
    """
    former = making / "former"
    former.mkdir()
    out = [name for name in (DESCRIPTION, *older, *new) if (folder / name).is_file()]
    moves = [(folder / name, former / name) for name in out]
    moves += [(making / name, folder / name) for name in (*new, DESCRIPTION)]
    done: list[tuple[Path, Path]] = []
    try:
        for source, place in moves:
            source.replace(place)
            done.append((source, place))
    except BaseException:
        for source, place in reversed(done):
            place.replace(source)
        raise


def _described(recipe: Recipe, compiler: Compiler, said: list[str], folder: Path) -> dict[str, Any]:
    """Return the description of the files that were just made in `folder`."""
    return {
        **recipe.description,
        "compiler": compiler.version,
        "flags": list(recipe.flags),
        "key": recipe.key(compiler),
        "files": {output.file: sha256(folder / output.file) for output in recipe.outputs},
        "images": [
            {"file": output.file, "arch": output.arch, **recipe.figures(folder / output.file, text)}
            for output, text in zip(recipe.outputs, said, strict=True)
        ],
    }


def _shown(files: list[str]) -> str:
    return files[0] if len(files) == 1 else f"{len(files)} images"


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"xiokv: {line}", file=sys.stderr)


def _is_current(folder: Path, key: str) -> bool:
    try:
        described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        files = described["files"].items()
        return described["key"] == key and all(sha256(folder / name) == sum for name, sum in files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


@contextmanager
def _locked(folder: Path) -> Iterator[TextIO]:
    """Hold the folder against other processes that build into it; yield its lock file."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a+", encoding="utf-8", errors="replace") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _listed(lock: TextIO) -> list[str]:
    """Return the files that builds put into the folder of a lock file."""
    lock.seek(0)
    names = lock.read().splitlines()
    return [name for name in names if name and name == Path(name).name and name[0] != "."]


def _list(lock: TextIO, names: list[str]) -> None:
    lock.seek(0)
    lock.truncate()
    lock.write("".join(f"{name}\n" for name in names))
    lock.flush()
