"""Reading and writing a project's files, so that nobody ever sees half of one.

In: texts by path. Out: the paths whose content changed. Every text is first written
beside its place; only when all of them are there is one after the other moved in.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from xiokv.codegen.errors import Problems, XiokvError


def stays_below(text: str) -> bool:
    """Tell whether a written path is relative and does not climb; links are not looked at."""
    path = PurePosixPath(text)
    return not path.is_absolute() and ".." not in path.parts and text.isprintable()


def resolve_below(root: Path, path: Path) -> Path | None:
    """Return a path with its links followed; None where they lead out of `root`, or in a loop."""
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError):  # RuntimeError: a loop, up to Python 3.12
        return None
    try:
        resolved.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:  # from 3.13 on
            return None
    return resolved if resolved.is_relative_to(root) else None


def read_text(path: Path, shown: str) -> str | None:
    """Return the text of a file, or None where there is none; messages show `shown`."""
    try:
        # A pipe would hold the reader for ever.
        if path.exists() and not path.is_file():
            raise XiokvError(f"{shown}: cannot be read: not a regular file")
        return path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise XiokvError(f"{shown}: not UTF-8 text: {error}") from error
    except OSError as error:
        raise XiokvError(f"{shown}: cannot be read: {error.strerror}") from error


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other runs of xiokv-gen from writing into a folder meanwhile."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without such locks
            _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if sys.stderr and sys.stderr.isatty():
            print(f"waiting for another xiokv-gen that writes into {folder}", file=sys.stderr)
        fcntl.flock(handle, fcntl.LOCK_EX)


def replace_files(root: Path, texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write the texts that differ from what is there; they are moved in in their order.

    Raises:
        XiokvError: a path leads out of `root`, or cannot be written.
    """
    changed = {path: text for path, text in texts.items() if _content(path) != text.encode()}
    _refuse_outside(root, changed)
    staged = {path: path.with_name(_temporary(path.name)) for path in changed}
    place = root
    try:
        for place, text in changed.items():
            _write_new(staged[place], text)
        for place, temporary in staged.items():
            temporary.replace(place)
    except OSError as error:
        raise XiokvError(f"cannot write {place}: {error.strerror}") from error
    finally:
        for temporary in staged.values():
            with suppress(OSError):  # moved in, or never made
                temporary.unlink()
    return tuple(changed)


def discard_leftovers(root: Path, folders: Iterable[Path]) -> None:
    """Remove what killed runs left in folders of `root`, which has to be held."""
    for folder in sorted({folder for folder in folders if resolve_below(root, folder)}):
        for path in folder.glob(_temporary("*")):
            with suppress(OSError):
                path.unlink()


def _temporary(name: str) -> str:
    """Return the name of a file before it is moved in."""
    return f".{name}.xiokv-tmp"


def _refuse_outside(root: Path, paths: Iterable[Path]) -> None:
    problems = Problems()
    for path in paths:
        if resolve_below(root, path.parent) is None:
            shown = path.relative_to(root).as_posix()
            problems.add(XiokvError(f"{shown}: a link in this path leads out of {root}"))
    problems.raise_if_any()


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def _write_new(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # of a run that was killed
    with path.open("xb") as stream:
        stream.write(text.encode())
