"""Writes into a folder that has no lock, and keeps a list there of what it wrote.

In: texts by path, and the place of the list. Out: what was written, and what was taken away:
files that an earlier run listed and that are no longer rendered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.files import held, read_text, stays_below
from xiokv.codegen.render.text import MARK
from xiokv.codegen.writer import Written, write


def write_listed(folder: Path, texts: Mapping[Path, str], name: str, command: str) -> Written:
    """Write the texts below `folder`, an absolute path without links, which is made.

    Args:
        folder: where everything goes.
        texts: what to write, by absolute path.
        name: path of the list, from the folder.
        command: what the list's head says that it is of.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    head = f"# What `{command}` put here, generated {MARK}; do not edit.\n"
    path = folder / name

    def record(written: Iterable[str]) -> Mapping[Path, str]:
        return {path: head + "".join(f"{line}\n" for line in sorted(written))}

    folder.mkdir(parents=True, exist_ok=True)
    with held(folder):
        return write(folder, texts, _listed(path, head, command), record)


def _listed(path: Path, head: str, command: str) -> tuple[str, ...]:
    """Return the files that an earlier run wrote, from the folder."""
    text = read_text(path, str(path))
    if text is None:
        return ()
    first, *names = text.splitlines() or [""]
    if f"{first}\n" != head or not all(map(stays_below, names)):
        raise XiokvError(f"{path}: not a list that {command} wrote; move it, or mend it")
    return tuple(names)
