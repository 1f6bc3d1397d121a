"""Batches on one set of queues, one after the other: requests in, running batches out."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from xiokv.runtime import listing, payloads
from xiokv.runtime.batch import Request, Run, dead_pairs
from xiokv.runtime.description import Description
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import DeadQueueFault, RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.operation import Operation
from xiokv.runtime.payloads import PayloadCopy
from xiokv.runtime.queues import QueueSet
from xiokv.runtime.semantic import per_key_dwords
from xiokv.runtime.slabs import Pool, Slab
from xiokv.runtime.spans import Span
from xiokv.runtime.staging import Copy, Staged, Staging

if TYPE_CHECKING:
    from xiokv.runtime.module import Module

_CHUNK_MAX = 256

_T = TypeVar("_T")


def chunk_keys(count: int, queues: int) -> int:
    """Return how many keys a queue claims at once: all get as many chunks, nearly as large."""
    rounds = max(1, -(-count // (queues * _CHUNK_MAX)))
    return -(-count // (queues * rounds))


class Submitter:
    """Owns queues and batch memory, and keeps batches in order, whatever their streams.

    Args:
        module: its kernels and its driver.
        open_queues: creates the queues; called again at a reset.
        place: where copies of values and List pages lie.

    Attributes:
        list_page: memory for a List page.
    """

    def __init__(
        self, module: Module, open_queues: Callable[[], QueueSet], place: Place = Place.HOST
    ) -> None:
        self._module = module
        self._open_queues = open_queues
        with ExitStack() as undo:
            self._pool = Pool(module.driver, _dwords(module.description))
            undo.callback(self._pool.free)
            self._staging = Staging(module.driver, place)
            self.list_page = module.driver.allocate(listing.PAGE_BYTES, place, shared=True)
            undo.callback(self.list_page.free)
            self._queues = open_queues()
            undo.pop_all()
        self._running: deque[Run] = deque()
        self._lock = threading.RLock()
        self._closed = False
        self._home = Home("KV")

    @property
    def queues(self) -> QueueSet:
        """The queues; others after a reset."""
        return self._queues

    @property
    def idle(self) -> bool:
        """Whether no batch runs, as far as this process is concerned with them."""
        return self._home.is_here and all(run.done for run in self._running)

    def submit(self, request: Request) -> Run:
        """Launch a batch; wait only where no memory for it is free.

        Raises:
            DeadQueueFault: a queue is dead.
        """
        self._home.check()
        with self._lock:
            self._check_open()
            count = len(request.keys)
            slab = self._room(partial(self._pool.take, count), partial(self._pool.grow, count))
            copy = None
            try:
                copy = self._copy(request)
                run = self._launch(request, slab, copy)
            except Exception:
                self._pool.give(slab)
                if copy is not None:
                    copy.give_back()
                raise
            self._running.append(run)
        return run

    def drain(self) -> None:
        """Wait until no batch runs, also none that an interrupt kept from being noted here."""
        self._home.check()
        with self._lock:
            while self._running:
                self._running[0].finish()
                self._running.popleft()
            self._queues.quiesce()

    def reset(self) -> None:
        """Replace the queues by new ones, and let go of what dead ones held."""
        self._home.check()
        with self._lock:
            self._check_open()
            self.drain()
            self._queues.close()
            self._queues = self._open_queues()

    def confirm_deleted(self) -> None:
        """Take note that the controller has no longer any of the queues."""
        self._home.check()
        with self._lock:
            self.drain()
            for pair in self._queues:
                pair.confirm_deleted()

    def close(self) -> None:
        """Wait, delete the queues, and only then give memory back; again: do nothing.

        A child of fork does nothing either: all of it is its parent's.
        """
        if not self._home.is_here:
            return
        with self._lock:
            if self._closed:
                return
            self.drain()
            self._queues.close()
            self._free()
            self._closed = True

    def _free(self) -> None:
        self._pool.free()
        self._staging.free()
        self.list_page.free()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeFault("this KV is closed; attach again")

    def _launch(self, request: Request, slab: Slab, copy: Staged | None) -> Run:
        queues = self._queues
        _check_alive(queues)
        batch = slab.fill(request.keys, request.values, request.semantic)
        memory = copy.memory if copy else request.values.memory
        if memory.size:
            at = memory.address
            batch.iova = queues.addressing.contiguous(at, memory.size, at)
        batch.options = request.options
        batch.deadline = self._module.driver.ticks(request.timeout)
        batch.chunk = chunk_keys(batch.count, len(queues))
        kernel = self._module.kernel(request.command)
        before = partial(self._prepare, slab, copy, memory)
        start = partial(queues.launch, kernel, batch, request.stream, before)
        return Run(start, request, slab, self._pool, queues, copy)

    def _prepare(self, slab: Slab, copy: Staged | None, memory: Span, stream: Any) -> None:
        """Put into a stream what the kernel relies on."""
        slab.upload(stream)
        if copy is not None:
            copy.upload(stream)
        if memory.ready is not None:
            self._module.driver.follow(stream, memory.ready)

    def _copy(self, request: Request) -> Staged | None:
        """Return a copy of values that the controller does not reach, or the data of an Exec."""
        memory = request.values.memory
        if not request.values.staged:
            return None
        block = self._room(
            partial(self._staging.take, memory.size), partial(self._staging.grow, memory.size)
        )
        if request.payloads is not None:
            return PayloadCopy(self._staging, block, request.payloads)
        return Copy(self._staging, block, memory, back=request.command is Operation.RETRIEVE)

    def _room(self, take: Callable[[], _T | None], grow: Callable[[], None]) -> _T:
        """Return free memory for a batch, after those that have to end for it."""
        self._running = deque(run for run in self._running if not run.done)
        while (taken := take()) is None:
            if self._running:
                self._running[0].finish()
                self._running.popleft()
            else:
                grow()
        return taken


def _dwords(description: Description) -> list[int]:
    """Return the dwords of a batch that may hold another number for each key."""
    own = payloads.PER_KEY_DWORDS if payloads.COMMAND in description.kernels else ()
    return sorted({*per_key_dwords(description.fields), *own})


def _check_alive(queues: QueueSet) -> None:
    if any(pair.closed for pair in queues):
        raise DeadQueueFault("the queues were deleted; KV.reset() makes new ones")
    dead = dead_pairs(queues)
    if dead:
        raise DeadQueueFault(
            f"queue {dead[0].qid} is dead: a command on it timed out; KV.reset() replaces it"
        )
