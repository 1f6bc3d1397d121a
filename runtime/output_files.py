"""Files that a command writes: a path in; all of the new content there, or the old one, out.

A regular file is written beside and renamed when it is complete; a symbolic link keeps its
place, and what it names is replaced. What is no regular file, such as a FIFO or a device, is
written straight to.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from xiokv.runtime.errors import ArgumentFault

_STDIN, _STREAMS = 0, (1, 2)
_BEGUN = ".xiokv-"


class OutputFile:
    """A file that is written, open until it is complete; `output_file` gives one.

    Args:
        path: as the user gave it; errors name it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begun: Path | None = None
        self._file: IO[bytes] = io.BytesIO()

    def open(self) -> None:
        """Open it.

        Raises:
            OSError: it cannot be written.
        """
        check_writable(self.path)
        with named(self.path):
            there = _status(self.path)
            stream = _stream(there)
            if stream is not None:
                self._file = os.fdopen(os.dup(stream), "wb")
            elif there is not None and not stat.S_ISREG(there.st_mode):
                self._file = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_NOCTTY), "wb")
            else:
                self._file = self._beside(there)

    def write(self, data: bytes) -> None:
        """Write some bytes."""
        with named(self.path):
            self._file.write(data)

    def complete(self) -> None:
        """Say that all is written; the old content is still there."""
        with named(self.path):
            self._file.close()

    def commit(self) -> None:
        """Put the new content in its place."""
        self.complete()
        if self._begun is not None:
            with named(self.path):
                self._begun.replace(self._target)
            self._begun = None

    def discard(self) -> None:
        """Leave the old content; does nothing after `commit`."""
        with suppress(OSError):
            self._file.close()
        if self._begun is not None:
            self._begun.unlink(missing_ok=True)
            self._begun = None

    def _beside(self, there: os.stat_result | None) -> IO[bytes]:
        self._target = Path(os.path.realpath(self.path))
        # Known before it is there, so that no signal comes between.
        self._begun = self._target.with_name(f"{_BEGUN}{secrets.token_hex(8)}")
        file = self._begun.open("xb")
        if there is not None:
            os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
        return file


@contextmanager
def output_file(path: Path) -> Iterator[OutputFile]:
    """Open a file for writing; it is committed at the end, and discarded after an error."""
    file = OutputFile(path)
    try:
        file.open()
        yield file
        file.commit()
    finally:
        file.discard()


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let errors of the system name a path."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def check_different(
    outputs: Sequence[tuple[str, Path]], inputs: Sequence[tuple[str, Path]] = ()
) -> None:
    """Refuse outputs that are one file, or that are an input.

    Args:
        outputs: files that will be written, by what names them in a message.
        inputs: files that are read; ``-`` is standard input.

    Raises:
        ArgumentFault: two are the same file.
    """
    before = list(inputs)
    for name, path in outputs:
        for other, taken in before:
            if _same(path, taken):
                raise ArgumentFault(
                    f"{name} {path}: {other} is the same file; give each output one of its own"
                )
        before.append((name, path))


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written; nothing is opened.

    Raises:
        OSError: it is a folder, or it or the folder that it is in is not there or writable.
    """
    with named(path):
        there = _status(path)
        if there is not None and stat.S_ISDIR(there.st_mode):
            raise _fault(errno.EISDIR)
        target = Path(os.path.realpath(path))
        if there is not None and not os.access(path, os.W_OK):
            raise _fault(errno.EACCES)
        if there is not None and not stat.S_ISREG(there.st_mode):
            return
        if not target.parent.is_dir():
            raise _fault(errno.ENOENT)
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise _fault(errno.EACCES)


def _fault(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def is_regular(path: Path) -> bool:
    """Tell whether a path is that of a regular file, or of nothing yet."""
    with named(path):
        there = _status(path)
    return there is None or stat.S_ISREG(there.st_mode)


def _same(path: Path, other: Path) -> bool:
    first = _status(path)
    second = _stdin() if str(other) == "-" else _status(other)
    if first is None or second is None:
        return str(other) != "-" and os.path.realpath(path) == os.path.realpath(other)
    # Nothing of a device is lost where two are written to it.
    return os.path.samestat(first, second) and not stat.S_ISCHR(first.st_mode)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _stdin() -> os.stat_result | None:
    with suppress(OSError):
        return os.fstat(_STDIN)
    return None


def _stream(there: os.stat_result | None) -> int | None:
    """Return the standard stream that a path is; a second opening would write over it."""
    for stream in _STREAMS:
        with suppress(OSError):
            if there is not None and os.path.samestat(there, os.fstat(stream)):
                return stream
    return None
