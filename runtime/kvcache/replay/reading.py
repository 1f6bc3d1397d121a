"""Plans from files: a document a file, or one a line; in as paths, out one at a time."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import msgspec

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.plan import Plan
from xiokv.runtime.output_files import is_regular, named

STDIN = "-"


class PlanFiles:
    """The plans of some files, which can be gone through again and again.

    Args:
        paths: of the files; ``-`` is standard input. What is no regular file can be read once
            only, and is copied to a file without a name.
        stack: closes the copies.

    Raises:
        ArgumentFault: standard input is closed.
        OSError: a file cannot be read, or there is no room for a copy.
    """

    def __init__(self, paths: Sequence[str], stack: ExitStack) -> None:
        self._paths = paths
        self._copies: dict[str, IO[bytes]] = {}
        for path in paths:
            if path not in self._copies and (path == STDIN or not is_regular(Path(path))):
                copy = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - the stack closes it
                self._copies[path] = stack.enter_context(copy)
                _copy(path, copy)

    def plans(self) -> Iterator[Plan]:
        """Yield the plans of all files.

        Raises:
            RuntimeFault: a file has none, or one that is none; the message names the line.
        """
        for path in self._paths:
            copy = self._copies.get(path)
            if copy is not None:
                copy.seek(0)
                yield from _plans_of(copy, _name(path))
                continue
            with Path(path).open("rb") as file:
                yield from _plans_of(file, path)


@contextmanager
def plan_files(paths: Sequence[str]) -> Iterator[PlanFiles]:
    """Open files of plans."""
    with ExitStack() as stack:
        yield PlanFiles(paths, stack)


def _name(path: str) -> str:
    return "standard input" if path == STDIN else path


def _copy(path: str, copy: IO[bytes]) -> None:
    """Copy a stream; a fault names what failed, the stream or the folder of the copy."""
    with ExitStack() as stack:
        if path != STDIN:
            stream: IO[bytes] = stack.enter_context(Path(path).open("rb"))
        elif sys.stdin is None:
            raise ArgumentFault("standard input is closed; give plans to it, or a file")
        else:
            stream = sys.stdin.buffer
        while True:
            with named(Path(_name(path))):
                chunk = stream.read(1 << 20)
            if not chunk:
                break
            with named(Path(tempfile.gettempdir())):
                copy.write(chunk)
        with named(Path(tempfile.gettempdir())):
            copy.flush()


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
        raise RuntimeFault(
            f"{name} holds no plan; give a plan in JSON, or one a line, or make some with"
            " --generate"
        )


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _plan(text: bytes, place: str) -> Plan:
    try:
        return Plan.from_json(text)
    except DocumentFault as fault:
        raise RuntimeFault(f"{place}: {fault}") from fault
    except RecursionError as error:
        raise RuntimeFault(f"{place}: is nested too deeply; a plan has 4 levels") from error
