"""Plans from files: a document a file, or one a line; in as paths, out one at a time."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.plan import Plan

STDIN = "-"


class PlanFiles:
    """The plans of some files, which can be gone through again and again.

    Args:
        paths: of the files; ``-`` is standard input, which is copied to a file of its own.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._copied: Path | None = None
        if STDIN in paths:
            with tempfile.NamedTemporaryFile("wb", suffix=".jsonl", delete=False) as copy:
                self._copied = Path(copy.name)
                for chunk in iter(lambda: sys.stdin.buffer.read(1 << 20), b""):
                    copy.write(chunk)

    def plans(self) -> Iterator[Plan]:
        """Yield the plans of all files.

        Raises:
            ArgumentFault: a file has none, or one that is none; the message names the line.
        """
        for path in self._paths:
            copied = self._copied if path == STDIN else None
            with (copied or Path(path)).open("rb") as file:
                yield from _plans_of(file, "standard input" if copied else path)

    def close(self) -> None:
        """Remove the copy of standard input."""
        if self._copied is not None:
            self._copied.unlink(missing_ok=True)


@contextmanager
def plan_files(paths: Sequence[str]) -> Iterator[PlanFiles]:
    """Open files of plans."""
    files = PlanFiles(paths)
    try:
        yield files
    finally:
        files.close()


def _plans_of(file: IO[bytes], name: str) -> Iterator[Plan]:
    found = False
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        if not found and not _is_whole(line):
            # One document over many lines.
            yield _plan(line + file.read(), name)
            return
        found = True
        yield _plan(line, f"{name}:{number}")
    if not found:
        raise ArgumentFault(
            f"{name} holds no plan; give a plan in JSON, or one a line, or make some with"
            " --generate"
        )


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError:
        return False
    return True


def _plan(text: bytes, place: str) -> Plan:
    try:
        return Plan.from_json(text)
    except DocumentFault as fault:
        raise ArgumentFault(f"{place}: {fault}") from fault
