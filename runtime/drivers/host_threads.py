"""Threads of the host driver, each an executor of its own that waits for work.

A thread is there before its first work, so that work is never left in the list of a thread
that could not start, and no interrupt comes in the middle of a start.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.log import log


def start_thread(name: str) -> ThreadPoolExecutor:
    """Return an executor whose one thread runs."""
    thread = ThreadPoolExecutor(1, thread_name_prefix=name)
    try:
        thread.submit(lambda: None).result()
    except RuntimeError as error:
        raise RuntimeFault(f"cannot start a thread: {error}") from error
    return thread


class Crew:
    """Threads that are used again; they grow to as many as were ever needed at once."""

    def __init__(self) -> None:
        """Start none."""
        self._idle: list[ThreadPoolExecutor] = []
        self._home = Home("crew")

    def take(self, most: int) -> list[ThreadPoolExecutor]:
        """Return `most` threads, or fewer where the system gives no more."""
        if not self._home.is_here:
            self._idle, self._home = [], Home("crew")
        taken: list[ThreadPoolExecutor] = []
        try:
            while len(taken) < most:
                taken.append(self._idle_or_new())
        except RuntimeFault as fault:
            log.warning("%d of %d queues share a thread: %s", most - len(taken), most, fault)
        return taken

    def give_back(self, threads: Iterable[ThreadPoolExecutor]) -> None:
        """Take back threads that have nothing to do."""
        self._idle.extend(threads)

    def _idle_or_new(self) -> ThreadPoolExecutor:
        try:
            return self._idle.pop()
        except IndexError:  # also where another stream was faster
            return start_thread("xiokv-queue")
