"""Puts rendered text into a project, and takes away what is no longer rendered.

In: ``{path: text}`` and the paths that earlier builds wrote. Out: what changed. A file of
somebody else's is never written over nor removed: a file is ours if the lock lists it or
if its first lines carry the mark of generated text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xiokv.codegen.errors import Problems, XiokvError
from xiokv.codegen.files import discard_leftovers, replace_files
from xiokv.codegen.render.text import MARK

_MARK_WITHIN = 512


@dataclass(frozen=True, slots=True)
class Written:
    """What a build did; paths are absolute, in the order of the build."""

    changed: tuple[Path, ...]
    removed: tuple[Path, ...]


def write(
    root: Path,
    texts: Mapping[Path, str],
    owned: Iterable[str],
    record: Callable[[Iterable[str]], Mapping[Path, str]],
) -> Written:
    """Write the texts that differ and remove files that are owned but not rendered.

    Args:
        root: folder that owned paths are relative to.
        texts: what to write, by absolute path below `root`.
        owned: the paths that the lock lists.
        record: makes the lock's text for a list of owned paths. It is written first with
            old and new paths, so that an interrupted build leaves no file without owner.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or a link leads out of
            `root`; nothing was written.
    """
    owned = set(owned)
    _refuse_strangers(root, texts, owned)
    rendered = {path.relative_to(root).as_posix() for path in texts}
    stale = sorted(owned - rendered)
    wanted = {**record(owned | rendered), **texts}
    discard_leftovers(root, (path.parent for path in (*wanted, *(root / name for name in owned))))
    changed = replace_files(root, wanted)
    removed = tuple(path for name in stale for path in _remove(root, name))
    if stale:
        replace_files(root, record(rendered))
    return Written(tuple(path for path in changed if path in texts), removed)


def is_generated(path: Path) -> bool:
    """Tell whether the first lines of a file carry the mark of generated text."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return MARK.encode() in stream.read(_MARK_WITHIN)
    except OSError:
        return False


def _refuse_strangers(root: Path, texts: Mapping[Path, str], owned: set[str]) -> None:
    problems = Problems()
    for path, text in texts.items():
        shown = path.relative_to(root).as_posix()
        if not path.exists() or shown in owned or is_generated(path):
            continue
        if not path.is_file() or path.read_bytes() != text.encode():
            problems.add(
                XiokvError(
                    f"{shown}: in the way is something that xiokv-gen did not write;"
                    " move it, or choose another place for the output"
                )
            )
    problems.raise_if_any()


def _remove(root: Path, name: str) -> Iterable[Path]:
    """Remove one file and yield its path; what does not look like ours stays."""
    path = root / name
    if path.resolve().is_relative_to(root) and is_generated(path):
        path.unlink()
        yield path
