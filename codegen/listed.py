"""Writes into a folder that has no lock, and keeps a list there of what it wrote.

In: texts by path, the place of the list, the hash of their spec. Out: what was written, and
what was taken away: files that an earlier run listed and that are no longer rendered; and of
which spec those were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.files import held, read_text, stays_below
from xiokv.codegen.render.text import MARK
from xiokv.codegen.writer import Written, write

_SPEC = "# spec "


@dataclass(frozen=True, slots=True)
class Listed:
    """What was done.

    Attributes:
        files: what was written and taken away.
        replaced: hash of another spec, whose files these took the place of; or empty.
    """

    files: Written
    replaced: str


@dataclass(frozen=True, slots=True)
class _List:
    """What an earlier run wrote, from the folder, and from which spec."""

    spec: str = ""
    names: tuple[str, ...] = ()


def write_listed(
    folder: Path, texts: Mapping[Path, str], name: str, command: str, spec: str
) -> Listed:
    """Write the texts below `folder`, an absolute path without links, which is made.

    Args:
        folder: where everything goes.
        texts: what to write, by absolute path.
        name: path of the list, from the folder.
        command: what the list's head says that it is of.
        spec: hash of the spec that the texts are of.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    path = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder):
        before = _read(path, command)
        files = write(folder, texts, before.names, _recorder(path, command, spec))
    return Listed(files, before.spec if before.spec != spec else "")


def remove_listed(folder: Path, name: str, command: str) -> tuple[Path, ...]:
    """Take away what a list names, the list, and folders that become empty.

    Returns:
        The files that were removed; what no longer looks generated stays.
    """
    path = folder / name
    with held(folder):
        before = _read(path, command)
        record = _recorder(path, command, before.spec)
        removed = write(folder, {}, before.names, record).removed
        path.unlink()
    for gone in sorted({*before.names, name}):
        _remove_empty(folder, (folder / gone).parent)
    return removed


def _remove_empty(folder: Path, below: Path) -> None:
    """Remove a folder below another, and those above it, as far as they are empty."""
    while below != folder:
        try:
            below.rmdir()
        except OSError:  # not empty, or gone with an earlier file
            if below.exists():
                return
        below = below.parent


def _head(command: str) -> str:
    return f"# What `{command}` put here, generated {MARK}; do not edit.\n"


def _recorder(path: Path, command: str, spec: str) -> Callable[[Iterable[str]], dict[Path, str]]:
    """Return what makes the list's text from the files in it."""

    def record(names: Iterable[str]) -> dict[Path, str]:
        lines = "".join(f"{name}\n" for name in sorted(names))
        return {path: f"{_head(command)}{_SPEC}{spec}\n{lines}"}

    return record


def _read(path: Path, command: str) -> _List:
    text = read_text(path, str(path))
    if text is None:
        return _List()
    first, *names = text.splitlines() or [""]
    spec = names.pop(0).removeprefix(_SPEC) if names and names[0].startswith(_SPEC) else ""
    if f"{first}\n" != _head(command) or not all(map(stays_below, names)):
        raise XiokvError(f"{path}: not a list that {command} wrote; move it, or mend it")
    return _List(spec, tuple(names))
