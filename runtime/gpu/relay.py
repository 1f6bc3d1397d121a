"""`Relay`: a controller on the CPU for queues that lie in a GPU's memory.

In: a controller, and the module whose queues it is to serve. Out: a controller that takes
rings and doorbells in the GPU's memory. Each queue has a shadow on the host, which the
controller serves; a kernel on the GPU carries submissions to it and completions back.
"""

from __future__ import annotations

import ctypes
import threading
from contextlib import ExitStack
from ctypes import sizeof
from typing import TYPE_CHECKING

from xiokv.runtime.closing import Closing
from xiokv.runtime.controller import Controller, CreatedQueue, Limits, Rings, patience_of
from xiokv.runtime.drivers.base import Driver, Memory
from xiokv.runtime.drivers.side_kernel import Waiting
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.gpu.keeper import Keeper
from xiokv.runtime.home import Home
from xiokv.runtime.memory_mode import MemoryMode
from xiokv.runtime.queue_sizes import CQE_BYTES, SQE_BYTES

if TYPE_CHECKING:
    from xiokv.runtime.module import Module

QUEUES_MAX = 256
LEASE_SECONDS = 50e-3

_LINE_BYTES = 64
_STOP_BYTES = 64


class _Record(ctypes.Structure):
    """struct xiokv_relay_queue."""

    _fields_ = (
        *(
            (name, ctypes.c_uint64)
            for name in (
                "sq",
                "cq",
                "sq_doorbell",
                "cq_doorbell",
                "shadow_sq",
                "shadow_cq",
                "shadow_sq_doorbell",
                "shadow_cq_doorbell",
            )
        ),
        *(
            (name, ctypes.c_uint32)
            for name in ("sq_depth", "cq_depth", "tail", "head", "position", "phase")
        ),
    )


class _Launch(ctypes.Structure):
    """struct xiokv_relay_launch."""

    _fields_ = (
        ("stop", ctypes.c_uint64),
        ("queues", ctypes.c_uint64),
        ("lease", ctypes.c_uint64),
        ("groups", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


class _Shadow:
    """A queue's rings on the host, and the doorbells that the engine rings."""

    def __init__(self) -> None:
        self._memory: list[Memory] = []

    def allocate(self, driver: Driver, rings: Rings) -> None:
        """Get the memory; `free` gives back what there is of it."""
        place = rings.memory_mode.place(MemoryMode.DOORBELL)
        self._memory.append(driver.allocate(rings.sq_depth * SQE_BYTES))
        self._memory.append(driver.allocate(rings.cq_depth * CQE_BYTES))
        self._memory.append(driver.allocate(2 * _LINE_BYTES, place, shared=True))

    def rings(self, rings: Rings) -> Rings:
        """Return the rings for the controller."""
        sq, cq, _ = self._memory
        return Rings(sq.iova, cq.iova, rings.sq_depth, rings.cq_depth)

    def record(self, rings: Rings, created: CreatedQueue) -> _Record:
        """Return what the kernel is told of the queue."""
        sq, cq, doorbells = self._memory
        return _Record(
            # All memory that a driver allocates has one address for device and controller.
            sq=rings.sq_iova,
            cq=rings.cq_iova,
            sq_doorbell=doorbells.address,
            cq_doorbell=doorbells.address + _LINE_BYTES,
            shadow_sq=sq.address,
            shadow_cq=cq.address,
            shadow_sq_doorbell=created.sq_doorbell,
            shadow_cq_doorbell=created.cq_doorbell,
            sq_depth=rings.sq_depth,
            cq_depth=rings.cq_depth,
            phase=1,
        )

    def free(self) -> None:
        """Give the memory back."""
        for memory in self._memory:
            memory.free()


class Relay(Closing):
    """A controller that serves queues in a GPU's memory through another.

    Each bit of a queue's memory mode is served, and all values of it. The kernel runs as long
    as there are queues; it occupies a workgroup a queue.
    """

    def __init__(self, controller: Controller, module: Module) -> None:
        """Load the kernel.

        Args:
            controller: what serves the shadows; it reaches the host's memory.
            module: whose queues are served.

        Raises:
            MissingFault: there is no compiler for the kernel.
        """
        self._controller = controller
        self._driver = module.driver
        self._home = Home("relay")
        self._shadows: dict[int, tuple[int, _Shadow]] = {}
        # What the controller has no longer, and the kernel still has.
        self._deleted: set[int] = set()
        self._lock = threading.Lock()
        self._is_closed = False
        with ExitStack() as owned:
            self._kernel = self._driver.side_kernel("relay")
            owned.callback(self._kernel.close)
            self._table = self._driver.allocate(_STOP_BYTES + QUEUES_MAX * sizeof(_Record))
            owned.callback(self._free_table)
            self._stop = self._table.view[:4].view("<u4")
            self._keeper = Keeper(self._launch, self._halt)
            owned.callback(self._keeper.close)
            self._owned = owned.pop_all()

    @property
    def patience(self) -> float:
        """Seconds after which the controller ends a command itself; 0 for never."""
        return patience_of(self._controller)

    def limits(self, nsid: int) -> Limits:
        """Return the limits for a namespace."""
        return self._controller.limits(nsid)

    def connect(self, driver: Driver) -> None:
        """Let the controller reach the module's device; refuse another driver."""
        if driver is not self._driver:
            raise ArgumentFault("this relay is for queues of another module: make one for this")
        self._controller.connect(driver)

    def create_queue(self, rings: Rings) -> CreatedQueue:
        """Create a queue pair, its shadow on the controller."""
        self._home.check()
        with self._lock:
            self._check_open()
            slot = self._free_slot()
            shadow = _Shadow()
            try:
                shadow.allocate(self._driver, rings)
                created = self._controller.create_queue(shadow.rings(rings))
            except Exception:
                # Not after an interrupt: the controller may have taken the shadow up.
                shadow.free()
                raise
            self._drop(created.qid)
            record = shadow.record(rings, created)
            self._shadows[created.qid] = slot, shadow
            self._put(slot, record)
        return CreatedQueue(created.qid, record.sq_doorbell, record.cq_doorbell)

    def delete_queue(self, qid: int) -> None:
        """Delete a queue pair; on return neither controller nor kernel touch its memory.

        After `close` there is none, and nothing to do.
        """
        self._home.check()
        with self._lock:
            if self._is_closed:
                return
            self._delete(qid)

    def close(self) -> None:
        """Delete the queues that are left and end the kernel; a second call does nothing.

        Nor does a child of fork: all of it is its parent's.
        """
        if not self._home.is_here:
            return
        with self._lock:
            if self._is_closed:
                return
            for qid in list(self._shadows):
                self._delete(qid)
            self._is_closed = True
        self._owned.close()

    def _free_table(self) -> None:
        self._stop = None  # A view keeps memory.
        self._table.free()

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeFault("the relay is closed")
        if self._keeper.failure is not None:
            raise RuntimeFault(f"the relay's kernel failed: {self._keeper.failure}")

    def _free_slot(self) -> int:
        taken = {slot for slot, _ in self._shadows.values()}
        for slot in range(QUEUES_MAX):
            if slot not in taken:
                return slot
        raise ArgumentFault(f"a relay serves at most {QUEUES_MAX} queues")

    def _delete(self, qid: int) -> None:
        """Delete a queue; where that is interrupted, a second call goes on."""
        if qid not in self._deleted:
            self._controller.delete_queue(qid)
            self._deleted.add(qid)
        self._drop(qid)

    def _drop(self, qid: int) -> None:
        """Forget a queue that the controller has no longer."""
        if qid in self._shadows:
            slot, shadow = self._shadows[qid]
            self._put(slot, _Record())
            del self._shadows[qid]
            shadow.free()
        self._deleted.discard(qid)

    def _put(self, slot: int, record: _Record) -> None:
        """Change the table while the kernel does not look at it."""
        start = _STOP_BYTES + slot * sizeof(_Record)
        with self._keeper.paused():
            ctypes.memmove(
                self._table.view[start:].ctypes.data, ctypes.addressof(record), sizeof(record)
            )

    def _launch(self) -> Waiting | None:
        """Launch the kernel for a lease, for all slots up to the last that is taken."""
        slots = [slot for slot, _ in list(self._shadows.values())]
        if not slots:
            return None
        launch = _Launch(
            stop=self._table.address,
            queues=self._table.address + _STOP_BYTES,
            lease=self._driver.ticks(LEASE_SECONDS),
            groups=1 if self._kernel.is_wide else 2,
        )
        return self._kernel.launch(launch, (max(slots) + 1) * launch.groups)

    def _halt(self, is_over: bool) -> None:
        self._stop[0] = is_over
