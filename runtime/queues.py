"""Queue pairs: rings, tables and PRP pools; who owns them, and until when.

In: a controller that creates queues, or pointers to queues that something else created.
Out: `QueuePair`, and `QueueSet`, the array that a launch works on. A doorbell is a 32-bit
store to its address; a bridge that wants commands in a ring of its own is not served.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ctypes import addressof, memmove, sizeof
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypedDict

import numpy as np

from xiokv.runtime import abi
from xiokv.runtime.controller import Controller, Limits, Rings
from xiokv.runtime.drivers.base import Driver, Launch, Memory
from xiokv.runtime.errors import ArgumentFault, DeadQueueFault, RuntimeFault
from xiokv.runtime.log import log
from xiokv.runtime.queue_sizes import CQE_BYTES, SQE_BYTES, Sizes, Wish, plan

_QID_MAX = 65535


class RingState(TypedDict):
    """Where a queue pair stands between batches, as its next owner needs it."""

    tail: int
    head: int
    phase: int


@dataclass(frozen=True, slots=True)
class Addressing:
    """How a controller reaches memory; by its own address where both are None.

    Attributes:
        iova: (address, bytes) to the IOVA of memory that is contiguous for the controller.
        page_table: (address, bytes) to the IOVA of every page, the first page included
            where the address lies within it.
    """

    iova: Callable[[int, int], int] | None = None
    page_table: Callable[[int, int], Sequence[int]] | None = None

    def contiguous(self, memory: Memory, size: int) -> int:
        """Return the IOVA of memory that must be contiguous for the controller."""
        if self.iova is not None:
            return self.iova(memory.address, size)
        if self.page_table is None:
            return memory.iova
        pages = self.page_table(memory.address, size)
        if any(page != pages[0] + i * abi.PAGE_BYTES for i, page in enumerate(pages)):
            raise RuntimeFault(
                f"the PRP pool of {size} bytes is not contiguous for the controller; give"
                " iova= for such memory, or a smaller window or max_transfer"
            )
        return pages[0]


class _Owners:
    """The queue pairs that this process owns, by the addresses of ring and doorbell.

    It also keeps them alive: one that was never closed may still be written to.
    """

    def __init__(self) -> None:
        self._owned: dict[int, QueuePair] = {}
        self._lock = threading.Lock()

    def add(self, pair: QueuePair, queue: abi.Queue) -> None:
        """Take note of an owner; refuse a second one."""
        places = (queue.sq, queue.sq_doorbell)
        with self._lock:
            if any(place in self._owned for place in places):
                raise ArgumentFault(
                    f"queue {queue.qid} (SQ at {queue.sq:#x}) is owned by another QueuePair of"
                    " this process; release or close that one first"
                )
            self._owned.update(dict.fromkeys(places, pair))

    def remove(self, pair: QueuePair) -> None:
        """Forget an owner."""
        with self._lock:
            self._owned = {at: owner for at, owner in self._owned.items() if owner is not pair}


_owners = _Owners()


class QueuePair:
    """One submission and completion queue, owned by this process until closed or released."""

    def __init__(
        self,
        queue: abi.Queue,
        sizes: Sizes,
        addressing: Addressing,
        delete: Callable[[], None] | None,
    ) -> None:
        """Describe a queue pair; `create` and `from_pointers` make one."""
        queue.window, queue.prp_pages = sizes.window, sizes.prp_pages
        queue.max_transfer, queue.max_value = sizes.max_transfer, sizes.max_value
        self.record = queue
        self.addressing = addressing
        self.pool_bytes = sizes.pool_bytes
        self._delete = delete
        self._memory: list[Memory] = []
        self._kept: list[Any] = []
        self._closed = False
        self._prepared = False

    @classmethod
    def create(
        cls,
        controller: Controller,
        driver: Driver,
        *,
        nsid: int = 1,
        depth: int = 1024,
        window: int | None = None,
        max_transfer: int | None = None,
    ) -> QueuePair:
        """Create a queue pair on a controller.

        Args:
            controller: where.
            driver: whose memory holds rings, tables and PRP pool.
            nsid: namespace of every command.
            depth: entries of both rings, 2 to the controller's MQES + 1.
            window: command slots, 1 to 65535; by default 1023, or what the rings hold.
            max_transfer: largest buffer of one command in bytes; by default the largest
                that the limits and a PRP pool of 256 MiB allow.
        """
        sizes = plan(Wish(depth, depth, window, max_transfer), nsid, controller.limits(nsid))
        queue = abi.Queue(sq_depth=depth, cq_depth=depth, cq_phase=1, nsid=nsid)
        pair = cls(queue, sizes, Addressing(), lambda: controller.delete_queue(queue.qid))
        try:
            sq = pair._allocate(driver, depth * SQE_BYTES)
            cq = pair._allocate(driver, depth * CQE_BYTES)
            pair.prepare(driver)
            created = controller.create_queue(Rings(sq.iova, cq.iova, depth, depth))
        except Exception:
            # Not after an interrupt: the controller may have taken the rings up.
            pair._free()
            raise
        queue.sq, queue.cq, queue.qid = sq.address, cq.address, created.qid
        queue.sq_doorbell, queue.cq_doorbell = created.sq_doorbell, created.cq_doorbell
        _owners.add(pair, queue)
        return pair

    @classmethod
    def from_pointers(
        cls,
        sq: int,
        cq: int,
        sq_doorbell: int,
        cq_doorbell: int,
        qid: int,
        sq_depth: int,
        cq_depth: int,
        tail: int,
        head: int,
        phase: int,
        nsid: int,
        limits: Limits,
        iova: Callable[[int, int], int] | None = None,
        page_table: Callable[[int, int], Sequence[int]] | None = None,
        *,
        window: int | None = None,
        max_transfer: int | None = None,
    ) -> QueuePair:
        """Take over a queue pair that something else created, with nothing in flight.

        Args:
            sq: device address of the submission ring.
            cq: device address of the completion ring.
            sq_doorbell: device address of the SQ tail doorbell, a 32-bit word.
            cq_doorbell: device address of the CQ head doorbell.
            qid: number that completions name as SQID.
            sq_depth: entries of the submission ring.
            cq_depth: entries of the completion ring.
            tail: next SQ slot to fill.
            head: next CQ slot to take.
            phase: phase of a new entry at `head`, 0 or 1.
            nsid: namespace of every command.
            limits: what the controller and the namespace allow.
            iova: see `Addressing`.
            page_table: see `Addressing`; give one of both at most.
            window: as for `create`.
            max_transfer: as for `create`.
        """
        sizes = plan(Wish(sq_depth, cq_depth, window, max_transfer), nsid, limits)
        queue = abi.Queue(sq=sq, cq=cq, sq_doorbell=sq_doorbell, cq_doorbell=cq_doorbell)
        queue.qid, queue.nsid = qid, nsid
        queue.sq_depth, queue.cq_depth = sq_depth, cq_depth
        queue.sq_tail, queue.cq_head, queue.cq_phase = tail, head, phase
        _check_places(sq=(sq, SQE_BYTES), cq=(cq, CQE_BYTES))
        _check_places(sq_doorbell=(sq_doorbell, 4), cq_doorbell=(cq_doorbell, 4))
        _check_below(qid=(qid, 1, _QID_MAX + 1), phase=(phase, 0, 2))
        _check_below(tail=(tail, 0, sq_depth), head=(head, 0, cq_depth))
        if iova is not None and page_table is not None:
            raise ArgumentFault("iova and page_table: give one of both")
        pair = cls(queue, sizes, Addressing(iova, page_table), None)
        _owners.add(pair, queue)
        return pair

    @property
    def qid(self) -> int:
        """Number of the queue."""
        return int(self.record.qid)

    @property
    def state(self) -> abi.QueueState:
        """Whether the queue takes commands."""
        return abi.QueueState(self.record.state)

    @property
    def report(self) -> dict[str, int]:
        """Counters of the queue since it was created or taken over."""
        return {name: getattr(self.record.report, name) for name, *_ in abi.QueueReport._fields_}

    @property
    def ring_state(self) -> RingState:
        """Where the queue stands; between batches only."""
        queue = self.record
        return {"tail": queue.sq_tail, "head": queue.cq_head, "phase": queue.cq_phase}

    @property
    def closed(self) -> bool:
        """Whether the queue was closed or released."""
        return self._closed

    def prepare(self, driver: Driver) -> None:
        """Give the queue its tables and its PRP pool, once."""
        if self._prepared:
            return
        queue = self.record
        tables = self._allocate(driver, abi.table_bytes(queue.window))
        # Every slot's CID of the first generation is free.
        tables.view[: queue.window * 2].view(np.uint16)[:] = np.arange(queue.window)
        queue.tables = tables.address
        if self.pool_bytes:
            pool = self._allocate(driver, self.pool_bytes)
            queue.prp_pool = pool.address
            queue.prp_iova = self.addressing.contiguous(pool, self.pool_bytes)
        self._prepared = True

    def keep(self, *objects: Any) -> None:
        """Keep objects alive that the controller may write until the queue is gone."""
        self._kept.extend(objects)

    def release(self) -> RingState:
        """Hand a queue that was taken over back, with nothing in flight."""
        if self._delete is not None:
            raise RuntimeFault(f"queue {self.qid} was created here: close() deletes it")
        if self._closed:
            raise RuntimeFault(f"queue {self.qid} was given back already")
        if self.state is abi.QueueState.DEAD:
            raise DeadQueueFault(_dead(self.qid))
        self._forget()
        return self.ring_state

    def close(self) -> None:
        """Delete a queue created here, give back one taken over; a second call does nothing.

        Memory of a dead queue is freed only once the controller has deleted the queue. If
        it does not, the error goes to the caller, and a later call tries again.
        """
        if self._closed:
            return
        if self._delete is not None:
            self._delete()
        elif self.state is abi.QueueState.DEAD:
            log.warning(_dead(self.qid))
            return
        self._forget()

    def confirm_deleted(self) -> None:
        """Say that the queue was deleted or its controller reset: its memory is freed."""
        if not self._closed:
            self._forget()

    def move(self, record: abi.Queue) -> None:
        """Keep the queue's state in another place from now on."""
        memmove(addressof(record), addressof(self.record), sizeof(record))
        self.record = record

    def _allocate(self, driver: Driver, size: int) -> Memory:
        memory = driver.allocate(size)
        self._memory.append(memory)
        return memory

    def _forget(self) -> None:
        self.move(abi.Queue())
        self._closed = True
        self._free()
        _owners.remove(self)

    def _free(self) -> None:
        for memory in self._memory:
            memory.free()
        self._memory.clear()
        self._kept.clear()


class QueueSet:
    """The queue pairs of one attach, side by side in memory as a launch needs them."""

    def __init__(self, driver: Driver, pairs: Sequence[QueuePair]) -> None:
        """Move the pairs' state into one array; the set closes them."""
        if not pairs:
            raise ArgumentFault("no queue: one at least is needed")
        for pair in pairs:
            if pair.closed:
                raise ArgumentFault(f"queue {pair.qid} is closed")
            pair.prepare(driver)
        self.pairs = tuple(pairs)
        self._driver = driver
        self._last: Launch | None = None
        self._lock = threading.Lock()
        self._array = driver.allocate(len(pairs) * sizeof(abi.Queue))
        for number, pair in enumerate(pairs):
            pair.move(abi.Queue.from_buffer(self._array.view, number * sizeof(abi.Queue)))

    @classmethod
    def create(
        cls, controller: Controller, driver: Driver, queues: int, *, nsid: int = 1, **options: Any
    ) -> QueueSet:
        """Create `queues` queue pairs; `options` are those of `QueuePair.create`."""
        most = controller.limits(nsid).queues_max
        if not 1 <= queues <= most:
            raise ArgumentFault(f"queues {queues}: 1 to {most} is what the controller has")
        pairs: list[QueuePair] = []
        try:
            for _ in range(queues):
                pairs.append(QueuePair.create(controller, driver, nsid=nsid, **options))
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
    def pool_bytes(self) -> int:
        """Bytes of all PRP pools."""
        return sum(pair.pool_bytes for pair in self.pairs)

    def launch(self, kernel: str, batch: abi.Batch, stream: Any = None) -> Launch:
        """Start a batch on all queues, after the one before it, whatever its stream."""
        batch.queues = self._array.address
        batch.queue_count = len(self.pairs)
        with self._lock:
            self._last = self._driver.launch(kernel, batch, stream, self._last)
            return self._last

    def quiesce(self) -> None:
        """Wait until no batch runs on the queues."""
        # How the last batch ended is for those who wait for it.
        with self._lock, suppress(Exception):
            if self._last is not None:
                self._last.wait()

    def close(self) -> None:
        """Wait for the last batch, then close every queue; a second call does nothing.

        All queues are tried; the first error is raised, and a later call tries again.
        """
        self.quiesce()
        errors = [error for pair in self.pairs if (error := _failure_to_close(pair))]
        if errors:
            raise errors[0]
        if all(pair.closed for pair in self.pairs):
            self._array.free()

    def __enter__(self) -> QueueSet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _failure_to_close(pair: QueuePair) -> Exception | None:
    try:
        pair.close()
    except Exception as error:
        return error
    return None


def _dead(qid: int) -> str:
    return (
        f"queue {qid} is dead: its commands may still be carried out, so its memory is kept;"
        " delete the queue or reset the controller, then call confirm_deleted()"
    )


def _check_places(**places: tuple[int, int]) -> None:
    for name, (address, alignment) in places.items():
        if address <= 0 or address % alignment or address >> 64:
            raise ArgumentFault(
                f"{name} {address:#x}: an address that is a multiple of {alignment} is needed"
            )


def _check_below(**values: tuple[int, int, int]) -> None:
    for name, (value, least, end) in values.items():
        if not least <= value < end:
            raise ArgumentFault(f"{name} {value}: {least} to {end - 1} is allowed")
