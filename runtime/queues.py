"""The queue pairs of one attach: the array that a launch works on.

In: queue pairs, created here or taken over. Out: launches that follow one another, and a
close that waits for the last.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from ctypes import sizeof
from typing import Any

from xiokv.runtime import abi
from xiokv.runtime.addressing import Addressing
from xiokv.runtime.closing import Closing
from xiokv.runtime.controller import Controller, Limits
from xiokv.runtime.drivers.base import Driver, Launch, Place
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.memory_mode import memory_modes
from xiokv.runtime.queue_pair import QueuePair as QueuePair
from xiokv.runtime.queue_pair import RingState as RingState


class QueueSet(Closing):
    """The queue pairs of one attach, side by side in memory as a launch needs them."""

    def __init__(self, driver: Driver, pairs: Sequence[QueuePair]) -> None:
        """Move the pairs' state into one array; the set closes them."""
        if not pairs:
            raise ArgumentFault("no queue: one at least is needed")
        for pair in pairs:
            _check_like(pairs[0], pair)
        for pair in pairs:
            pair.prepare(driver)
        self.pairs = tuple(pairs)
        self._driver = driver
        self._launching: Any = None
        self._last: Launch | None = None
        self._lock = threading.Lock()
        self._array = driver.allocate(len(pairs) * sizeof(abi.Queue), Place.DEVICE)
        with ExitStack() as undo:
            undo.callback(self._array.free)
            self._stream = driver.stream()
            undo.callback(self._stream.close)
            for number, pair in enumerate(pairs):
                self._place(pair, number * sizeof(abi.Queue))
            self._array.upload()
            undo.pop_all()

    @classmethod
    def create(
        cls,
        controller: Controller,
        driver: Driver,
        queues: int,
        *,
        nsid: int = 1,
        memory_mode: Any = 0,
        **options: Any,
    ) -> QueueSet:
        """Create `queues` queue pairs; `options` are those of `QueuePair.create`.

        A memory mode may also be given for each queue.
        """
        most = controller.limits(nsid).queues_max
        if not 1 <= queues <= most:
            raise ArgumentFault(f"queues {queues}: 1 to {most} is what the controller has")
        modes = memory_modes(memory_mode, queues)
        pairs: list[QueuePair] = []
        try:
            for mode in modes:
                pair = QueuePair.create(controller, driver, nsid=nsid, memory_mode=mode, **options)
                pairs.append(pair)
            return cls(driver, pairs)
        except BaseException:
            for pair in pairs:
                _failure_to_close(pair)
            raise

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[QueuePair]:
        return iter(self.pairs)

    @property
    def address(self) -> int:
        """Device address of the queues' records, for kernels that are not of the module."""
        return self._array.address

    @property
    def first_ring(self) -> int:
        """Device address of the first queue's free ring, for such kernels too."""
        return int(self.pairs[0].record.tables)

    @property
    def limits(self) -> Limits:
        """What controller and namespace allow."""
        return self.pairs[0].limits

    @property
    def max_transfer(self) -> int:
        """Largest buffer of one command in bytes, on whichever queue it goes."""
        return min(int(pair.record.max_transfer) for pair in self.pairs)

    @property
    def addressing(self) -> Addressing:
        """How the controller reaches memory."""
        return self.pairs[0].addressing

    @property
    def pool_bytes(self) -> int:
        """Bytes of all PRP pools."""
        return sum(pair.pool_bytes for pair in self.pairs)

    def launch(
        self,
        kernel: str,
        batch: abi.Batch,
        stream: Any = None,
        before: Callable[[Any], None] | None = None,
    ) -> Launch:
        """Start a batch on all queues, after the one before it, whatever its stream.

        Args:
            kernel: its entry.
            batch: what it works on, but for the queues.
            stream: where to run it; by default in a stream of the set's own.
            before: gets the stream, to put in what has to be done before.
        """
        gone = [pair.qid for pair in self.pairs if pair.closed]
        if gone:
            raise RuntimeFault(f"queue {gone[0]} is closed; attach again")
        if stream is not None:
            self._driver.check_stream(stream)
        batch.queues = self.address
        batch.first_ring = self.first_ring
        batch.queue_count = len(self.pairs)
        with self._lock:
            self._settle()
            self._launching = self._stream if stream is None else stream
            try:
                if before is not None:
                    before(self._launching)
                self._last = self._driver.launch(kernel, batch, self._launching, self._last)
            except Exception:
                # The caller takes back the memory that the stream has been told of.
                self._settle()
                raise
            self._launching = None
            return self._last

    def _place(self, pair: QueuePair, offset: int) -> None:
        """Keep a pair's state in the array.

        Where that is a device's, Python sees its shadow, and the engine writes there, too.
        """
        pair.move(abi.Queue.from_buffer(self._array.view, offset))
        shadow = self._array.view_address
        pair.record.mirror = 0 if shadow == self._array.address else shadow + offset

    def quiesce(self) -> None:
        """Wait until no batch runs on the queues."""
        with self._lock:
            self._settle()
            if self._last is not None:
                # How it ended is for those who wait for it.
                with suppress(Exception):
                    self._last.wait()

    def _settle(self) -> None:
        """Wait for a launch that was interrupted between its start and the note of it."""
        if self._launching is not None:
            self._driver.settle(self._launching)
            self._launching = None

    def close(self) -> None:
        """Wait for the last batch, then close every queue; a second call does nothing.

        All queues are tried; the first error is raised, and a later call tries again.
        """
        self.quiesce()
        errors = [error for pair in self.pairs if (error := _failure_to_close(pair))]
        if errors:
            raise errors[0]
        # What its kernels failed by was told to who waited for them.
        with suppress(RuntimeFault):
            self._stream.close()
        if all(pair.closed for pair in self.pairs):
            self._array.free()


def _check_like(first: QueuePair, pair: QueuePair) -> None:
    """Refuse a queue that is closed, or that leads elsewhere than the first does."""
    if pair.closed:
        raise ArgumentFault(f"queue {pair.qid} is closed")
    if (pair.record.nsid, pair.limits, pair.addressing) != (
        first.record.nsid,
        first.limits,
        first.addressing,
    ):
        raise ArgumentFault(
            f"queues {first.qid} and {pair.qid} differ in namespace, limits or addressing;"
            " a set takes queues that are alike"
        )


def _failure_to_close(pair: QueuePair) -> Exception | None:
    try:
        pair.close()
    except Exception as error:
        return error
    return None
