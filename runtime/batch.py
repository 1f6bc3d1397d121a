"""One batch in flight: what it holds, and what is left of it at its end.

What a batch needs stays alive until its kernel has ended; where a queue died on it, until
that queue is deleted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.abi import Outcome, QueueState
from xiokv.runtime.buffers import Values
from xiokv.runtime.drivers.base import Launch
from xiokv.runtime.errors import LostFault, RuntimeFault
from xiokv.runtime.keys import Keys
from xiokv.runtime.operation import Operation
from xiokv.runtime.payloads import Payloads
from xiokv.runtime.queues import QueuePair, QueueSet
from xiokv.runtime.results import RECORD
from xiokv.runtime.semantic import SemanticBits
from xiokv.runtime.slabs import Pool, Slab
from xiokv.runtime.spans import NO_SPAN, Span
from xiokv.runtime.staging import Staged


@dataclass(frozen=True, slots=True)
class Request:
    """One command for many keys, checked.

    Attributes:
        command: which.
        keys: at least one.
        values: where the values lie.
        semantic: bits of the semantic fields.
        options: request options, CDW11 bits 15:8.
        timeout: seconds without progress after which a queue is given up.
        stream: the driver's stream to run in, or None.
        payloads: data of an Exec.
    """

    command: Operation
    keys: Keys
    values: Values
    semantic: Sequence[SemanticBits]
    options: int
    timeout: float
    stream: Any
    payloads: Payloads | None = None


# What a kernel works on stays alive although its caller may have dropped all of it.
_in_flight: set[Run] = set()


def dead_pairs(queues: QueueSet) -> list[QueuePair]:
    """Return the queues on which a command timed out."""
    return [pair for pair in queues if pair.state is QueueState.DEAD]


class NoRun:
    """The batch of no keys: it ended before it began."""

    done = True
    memory_in_use = False

    def wait(self, timeout: float | None = None) -> bool:
        """Return at once."""
        return True

    def cancel(self) -> None:
        """Do nothing."""

    def records(self) -> npt.NDArray[Any]:
        """Return no record."""
        return np.empty(0, RECORD)


class Run:
    """A batch that was launched.

    Args:
        start: launches it.
        request: what was asked for.
        slab: its memory until the end, from `pool`.
        queues: what it runs on.
        copy: the values' copy, where they are not used in place.
    """

    def __init__(
        self,
        start: Callable[[], Launch],
        request: Request,
        slab: Slab,
        pool: Pool,
        queues: QueueSet,
        copy: Staged | None = None,
    ) -> None:
        self._kept: Span = copy.memory if copy else request.values.memory
        self._copy = copy
        self._count = len(request.keys)
        self._slab = slab
        self._pool = pool
        self._queues = queues
        self._died: list[QueuePair] = []
        self._lock = threading.Lock()
        self._records: npt.NDArray[Any] | None = None
        self._failure: Exception | None = None
        # Before the launch: an interrupt may come when the kernel runs already.
        _in_flight.add(self)
        try:
            self._launch = start()
        except Exception:
            _in_flight.discard(self)
            raise

    @property
    def done(self) -> bool:
        """Tell whether the kernel has ended, without waiting."""
        return self._records is not None or (self._launch.done and self.finish())

    @property
    def memory_in_use(self) -> bool:
        """Tell whether the controller may still touch the memory of the values."""
        self.finish()
        return not all(pair.closed for pair in self._died)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end; raise what kept the kernel from running."""
        ended = self.finish(timeout)
        if self._failure is not None:
            raise self._failure
        return ended

    def cancel(self) -> None:
        """Raise the stop flag, unless the batch has ended."""
        with self._lock:
            if self._records is None:
                self._slab.stop()

    def records(self) -> npt.NDArray[Any]:
        """Wait for the end and return a record a key."""
        self.wait()
        assert self._records is not None  # noqa: S101 - wait() without a limit has set it
        return self._records

    def wait_or_cancel(self) -> None:
        """Wait for the end; where that is interrupted, cancel, drain, and let it go on."""
        try:
            self.wait()
        except BaseException:
            self.cancel()
            self.finish()
            raise

    def finish(self, timeout: float | None = None) -> bool:
        """Wait for the end, and take the results over; return whether it has come."""
        if self._records is not None:
            return True
        failure = None
        try:
            if not self._launch.wait(timeout):
                return False
        except Exception as error:
            # One that did not come from the kernel's end: the kernel may still work on all this.
            if not self._launch.done:
                raise
            failure = error
        with self._lock:
            if self._records is None:
                self._failure = failure
                self._take_over()
        return True

    def _take_over(self) -> None:
        """Copy the results out, so that others may use the slab."""
        records = self._slab.results[: self._count].copy()
        lost = isinstance(self._failure, LostFault)
        if lost:
            for pair in self._queues:
                pair.give_up()
        elif self._copy is not None:
            self._take_back(self._copy, records)
        if lost or (records["outcome"] == int(Outcome.TIMEOUT)).any():
            self._keep_values()
        if self._copy is not None and not self._died:
            self._copy.give_back()
        if not lost:  # else what its kernel left in it is as unknown as its queues
            self._pool.give(self._slab)
        self._copy, self._kept = None, NO_SPAN
        self._records = records
        _in_flight.discard(self)

    def _take_back(self, copy: Staged, records: npt.NDArray[Any]) -> None:
        """Copy values back; a device that does not is a failure of the batch, which is over."""
        try:
            copy.take_back(records)
        except RuntimeFault as fault:
            # Its frames hold the copy, which others may have from now on.
            self._failure = self._failure or fault.with_traceback(None)

    def _keep_values(self) -> None:
        """Keep the memory of the values for the queues that died and may still write it."""
        if self._kept.size:
            self._died = dead_pairs(self._queues)
            for pair in self._died:
                pair.keep(self._kept)
