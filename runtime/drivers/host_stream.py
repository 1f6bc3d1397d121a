"""A stream on the host: pieces of work that run one after the other on a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from xiokv.runtime.closing import Closing
from xiokv.runtime.drivers.host_threads import start_thread
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.log import log

_T = TypeVar("_T")


class Stream(Closing):
    """Ordered work of the host driver.

    Work is in the thread's list or it is not, whenever an interrupt comes; `settle` waits
    for what is. After a failure nothing later runs, because it may rely on what failed;
    `synchronize` and `close` raise the failure, and with that the stream is usable again.
    """

    def __init__(self) -> None:
        """Start the thread."""
        self._failure: BaseException | None = None
        self._home = Home("stream")
        self._worker = start_thread("xiokv-stream")

    def submit(
        self, work: Callable[[], _T], first: Callable[[], object] | None = None
    ) -> Future[_T]:
        """Run `work` after all that was submitted before; return its future.

        `first` is called before it, also where a failure keeps `work` from running.
        """
        self._home.check()
        try:
            return self._worker.submit(self._run, work, first)
        except RuntimeError as error:
            raise RuntimeFault(
                "the stream takes no work: it is closed, or Python is about to end"
            ) from error

    def settle(self) -> None:
        """Wait for all work, whatever became of it."""
        self._home.check()
        with suppress(RuntimeError):  # closed: all has ended
            self._worker.submit(lambda: None).result()

    def synchronize(self) -> None:
        """Wait for all work; raise the first failure since the last call."""
        self.settle()
        self._raise_failure()

    def close(self) -> None:
        """Wait for all work, end the thread, and raise a failure nobody was told of.

        In a child of fork there is neither, and nothing to do.
        """
        if not self._home.is_here:
            return
        self._worker.shutdown()
        self._raise_failure()

    def _run(self, work: Callable[[], _T], first: Callable[[], object] | None) -> _T:
        if first is not None:
            first()
        if self._failure is not None:
            raise RuntimeFault(
                f"not run: earlier work in its stream failed ({self._failure!r});"
                " synchronize the stream to go on"
            ) from self._failure
        try:
            return work()
        except BaseException as error:
            self._failure = error
            raise

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def __del__(self) -> None:
        """Log a failure of a stream that nobody synchronized or closed."""
        failure = getattr(self, "_failure", None)
        if failure is not None:
            log.error("work in a stream failed, and nobody waited for it: %r", failure)
