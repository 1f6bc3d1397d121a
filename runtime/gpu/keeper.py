"""A kernel that is kept running by leases, until it is to rest.

In: how to launch it for one lease. Out: a thread that launches it again and again, the next
lease before the last one is over; and a pause, in which nothing of it runs.

Since each launch ends by itself, and soon, a kernel never outlives the process that wants it,
and what waits for the whole device waits for a lease or two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from xiokv.runtime.closing import Closing
from xiokv.runtime.drivers.side_kernel import Waiting
from xiokv.runtime.log import log


class Keeper(Closing):
    """Keeps a kernel running.

    Args:
        launch: launches it for a lease; returns None where there is nothing to run.
        halt: lets what runs end at once, or with False what is launched from now on run.
    """

    def __init__(self, launch: Callable[[], Waiting | None], halt: Callable[[bool], None]) -> None:
        self._launch = launch
        self._halt = halt
        self._change = threading.Condition()
        self._pauses = 0
        self._pauses_made = 0
        self._is_resting = False
        self._is_closed = False
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="xiokv-keeper", daemon=True)
        self._thread.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Have nothing of the kernel run for a while."""
        with self._change:
            self._pauses += 1
            self._pauses_made += 1
        try:
            with self._change:
                self._halt(True)
                self._change.wait_for(lambda: self._is_resting)
            yield
        finally:
            with self._change:
                self._pauses -= 1
                if self._pauses == 0:
                    self._halt(False)
                self._change.notify_all()

    def close(self) -> None:
        """End the kernel and the thread; a second call does nothing."""
        with self._change:
            self._is_closed = True
            self._halt(True)
            self._change.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while (pauses := self._may_run()) is not None:
            try:
                self._run(pauses)
            except Exception as failure:
                log.exception("a kernel beside the module's failed and is not launched again")
                self.failure = failure
                self._rest_until(lambda: self._is_closed)
                return

    def _may_run(self) -> int | None:
        """Rest until the kernel may run; return the pauses made so far, None where it never may."""
        pauses = self._rest_until(lambda: self._is_closed or self._pauses == 0)
        return None if self._is_closed else pauses

    def _rest_until(self, condition: Callable[[], bool]) -> int:
        """Rest; return the pauses made by its end, later ones than which come after it."""
        with self._change:
            self._is_resting = True
            self._change.notify_all()
            self._change.wait_for(condition)
            self._is_resting = False
            return self._pauses_made

    def _run(self, seen: int) -> None:
        """Launch one lease after the other until there is a pause, or nothing to run."""
        running = self._launch()
        while running is not None:
            try:
                more = self._launch() if self._goes_on(seen) else None
            finally:
                # Also where the launch failed: rest means that nothing runs.
                running()
            running = more
        self._rest_until(lambda: not self._goes_on(seen))

    def _goes_on(self, seen: int) -> bool:
        """Tell whether nothing was paused or closed since `seen` pauses."""
        return self._pauses_made == seen and not self._is_closed
