"""A queue pair: its rings, tables and PRP pool; who owns them, and until when.

In: a controller that creates queues, or pointers to a queue that something else created.
Out: a `QueuePair`. A doorbell is a 32-bit store to its address; a bridge that wants
commands in a ring of its own is not served.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import addressof, memmove, sizeof
from typing import Any, TypedDict

import numpy as np

from xiokv.runtime import abandoned, abi
from xiokv.runtime.addressing import Addressing
from xiokv.runtime.controller import Controller, Limits, Rings
from xiokv.runtime.drivers.base import Driver, Memory, Place
from xiokv.runtime.errors import ArgumentFault, DeadQueueFault, RuntimeFault
from xiokv.runtime.log import log
from xiokv.runtime.memory_mode import HOST_MEMORY, MemoryMode
from xiokv.runtime.queue_owners import owners
from xiokv.runtime.queue_sizes import CQE_BYTES, SQE_BYTES, Sizes, Wish, plan

_QID_MAX = 65535


class RingState(TypedDict):
    """Where a queue pair stands between batches, as its next owner needs it."""

    tail: int
    head: int
    phase: int


class QueuePair:
    """One submission and completion queue, owned by this process until closed or released.

    Attributes:
        record: the queue as the engine sees it.
        limits: what the controller and the namespace allow.
        addressing: how the controller reaches memory.
        pool_bytes: size of the PRP pool.
    """

    def __init__(
        self,
        queue: abi.Queue,
        sizes: Sizes,
        limits: Limits,
        addressing: Addressing,
        delete: Callable[[int], None] | None,
    ) -> None:
        """Describe a queue pair; `create` and `from_pointers` make one."""
        queue.window, queue.prp_pages = sizes.window, sizes.prp_pages
        queue.max_transfer, queue.max_value = sizes.max_transfer, sizes.max_value
        self.record = queue
        self.limits = limits
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
        memory_mode: MemoryMode = HOST_MEMORY,
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
            memory_mode: which of rings and doorbells lie in the memory of a GPU.
        """
        abandoned.close_idle()
        limits = controller.limits(nsid)
        sizes = plan(Wish(depth, depth, window, max_transfer), nsid, limits)
        queue = abi.Queue(sq_depth=depth, cq_depth=depth, cq_phase=1, nsid=nsid)
        pair = cls(queue, sizes, limits, Addressing(), controller.delete_queue)
        try:
            sq = pair._allocate(driver, depth * SQE_BYTES, memory_mode.place(MemoryMode.SQ))
            cq = pair._allocate(driver, depth * CQE_BYTES, memory_mode.place(MemoryMode.CQ))
            pair.prepare(driver)
            controller.connect(driver)
            mode = HOST_MEMORY if driver.exchange is None else memory_mode
            rings = Rings(sq.iova, cq.iova, depth, depth, mode)
            created = controller.create_queue(rings)
        except Exception:
            # Not after an interrupt: the controller may have taken the rings up.
            pair._free()
            raise
        queue.sq, queue.cq, queue.qid = sq.address, cq.address, created.qid
        queue.sq_doorbell, queue.cq_doorbell = created.sq_doorbell, created.cq_doorbell
        owners.put(pair, queue)
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
        abandoned.close_idle()
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
        pair = cls(queue, sizes, limits, Addressing(iova, page_table), None)
        owners.add(pair, queue)
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
        tables = driver.allocate(abi.table_bytes(queue.window), Place.DEVICE)
        self._memory.append(tables)
        # Every slot's CID of the first generation is free.
        tables.view[: queue.window * 2].view(np.uint16)[:] = np.arange(queue.window)
        tables.upload()
        queue.tables = tables.address
        if self.pool_bytes:
            pool = self._allocate(driver, self.pool_bytes)
            queue.prp_pool = pool.address
            queue.prp_iova = self.addressing.contiguous(pool.address, self.pool_bytes, pool.iova)
        self._prepared = True

    def keep(self, *objects: Any) -> None:
        """Keep objects alive that the controller may write until the queue is gone."""
        self._kept.extend(objects)
        owners.keep(self)

    def release(self) -> RingState:
        """Hand back a queue that was taken over, with nothing in flight; return its state.

        After `close` it is handed back already, and the state is what it was then.
        """
        if self._delete is not None:
            raise RuntimeFault(f"queue {self.qid} was created here: close() deletes it")
        if self.state is abi.QueueState.DEAD:
            raise DeadQueueFault(_dead(self.qid))
        if not self._closed:
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
            self._delete(self.qid)
        elif self.state is abi.QueueState.DEAD:
            owners.keep(self)
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

    def give_up(self) -> None:
        """Take no more commands: what the queue's last kernel left in flight nobody knows."""
        self.record.state = abi.QueueState.DEAD

    def _allocate(self, driver: Driver, size: int, place: Place = Place.HOST) -> Memory:
        memory = driver.allocate(size, place, shared=True)
        self._memory.append(memory)
        return memory

    def _forget(self) -> None:
        self.move(abi.Queue())
        self._closed = True
        # Before its memory is free for the rings of another.
        owners.remove(self)
        self._free()

    def _free(self) -> None:
        for memory in self._memory:
            memory.free()
        self._memory.clear()
        self._kept.clear()


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
