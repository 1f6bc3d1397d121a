"""Signals that end a command: the first is raised, so that what was begun is cleaned up.

A second one ends the process at once, also where the main thread is in a call that does not
hear of signals; what is then left behind is told first.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

#: What a user is told of each.
WORDS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "hung up",
}


class Ended(BaseException):
    """A signal that ends the process.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return WORDS[signal.Signals(self.number)]


def end_by(number: int) -> int:
    """End the process by a signal, so that a shell's loop ends, too.

    Returns:
        The exit code, as a shell has it, where the process lives on.
    """
    with suppress(ValueError):  # this is not the main thread
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


@contextmanager
def ending_signals() -> Iterator[None]:
    """Raise `Ended` in a block where a signal comes; those that are ignored stay so."""
    before = {}
    for number in WORDS:
        # As nohup, and a shell that starts something in the background, want it.
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            with suppress(ValueError):  # this is not the main thread
                before[number] = signal.signal(number, _end)
    watch = _Watch() if before else None
    try:
        yield
    finally:
        if watch is not None:
            watch.close()
        for number, handler in before.items():
            signal.signal(number, handler)


_notices: list[str] = []
_last_words: list[Callable[[], str]] = []


@contextmanager
def noticed(notice: str) -> Iterator[None]:
    """Have a signal that comes in a block say at once what is done now, which may take a while."""
    _notices.append(notice)
    try:
        yield
    finally:
        _notices.remove(notice)


@contextmanager
def last_words(words: Callable[[], str]) -> Iterator[None]:
    """Have a second signal that comes in a block say what it leaves behind.

    Args:
        words: called by another thread than that of the block; "" for nothing to say.
    """
    _last_words.append(words)
    try:
        yield
    finally:
        _last_words.remove(words)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    for each in WORDS:
        if signal.getsignal(each) is _end:
            signal.signal(each, _watched if _watches else signal.SIG_DFL)
    _tell(*_notices[-1:])
    raise Ended(number)


def _watched(number: int, frame: FrameType | None) -> None:
    """Leave a second signal to the watch, which has heard of it."""


def _tell(*lines: str) -> None:
    """Write lines by no stream, which may be in the middle of something."""
    with suppress(OSError):  # the terminal is gone
        os.write(2, "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace"))


_watches: list[_Watch] = []


class _Watch:
    """Ends the process at a second signal that the main thread has not got to."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._look, daemon=True)
        with suppress(RuntimeError):  # the system gives no thread
            self._thread.start()
            _watches.append(self)

    def _look(self) -> None:
        seen = 0
        while numbers := os.read(self._read, 16):
            for number in numbers:
                seen += number in set(WORDS)
                if seen > 1:
                    _end_now(number)

    def close(self) -> None:
        if self in _watches:
            _watches.remove(self)
        signal.set_wakeup_fd(self._before)
        os.close(self._write)
        if self._thread.ident is not None:
            self._thread.join()
        os.close(self._read)


def _end_now(number: int) -> NoReturn:
    """End the process by a signal, from a thread that is not the main one."""
    with suppress(Exception):  # the end comes in any case
        if words := "".join(say() for say in _last_words[-1:]):
            _tell(f"xiokv: {WORDS[signal.Signals(number)]}", words)
    # Python lets the main thread alone say what a signal does.
    ctypes.CDLL(None).signal(number, int(signal.SIG_DFL))
    os.kill(os.getpid(), number)
    os._exit(128 + number)
