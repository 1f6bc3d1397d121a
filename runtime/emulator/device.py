"""`Emulator`: a controller in this process, as the runtime and its tests use it."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from types import NoneType
from typing import Any

from xiokv.runtime.arguments import check_options, within
from xiokv.runtime.closing import Closing
from xiokv.runtime.controller import CreatedQueue, Limits, Rings
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.emulator import faults, library, records
from xiokv.runtime.emulator.admin_queue import AdminQueue
from xiokv.runtime.emulator.faults import FaultKind
from xiokv.runtime.emulator.options import Options
from xiokv.runtime.emulator.queue_numbers import QueueNumbers
from xiokv.runtime.emulator.records import Counters, TraceRecord
from xiokv.runtime.emulator.store import Store
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.memory_mode import MemoryMode

_CAP, _CC = 0x00, 0x14
_DOORBELLS = 0x1000
_TRACE_CHUNK = 1024
_U32_MAX = 0xFFFFFFFF


class Emulator(Closing):
    """An NVMe controller with one key-value namespace, NSID 1, in this process's memory.

    A context manager: its threads serve the queues from entry on, and end with it. With
    ``threads=0`` nobody serves them until `step` is called.

    Attributes:
        patience: seconds that a store in a cluster has for a command; 0 for one in memory.
    """

    def __init__(self, **options: Any) -> None:
        """Make the controller; its C++ is compiled on first use.

        Args:
            options: the attributes of `Options`, each with its default.

        Raises:
            ArgumentFault: an option is not allowed.
            MissingFault: there is no C++ compiler, or for a store on Ceph no librados.
            RuntimeFault: a store on Ceph cannot be reached or opened.
        """
        check_options("Emulator", options, [field.name for field in fields(Options)])
        wanted = Options(**options)
        config = wanted.config()
        self._library = library.load()
        pool = wanted.pool
        self._store = Store(self._library, pool)
        self.patience = 0.0 if pool is None else pool.timeout
        try:
            self._handle = library.create(self._library, config, self._store.handle)
        except BaseException:
            self._store.close()
            raise
        self._closed = False
        self._home = Home("controller")
        # By driver: where its device has the registers, and what reaches that device's memory.
        self._drivers: dict[Driver, tuple[int, library.DmaHook | None]] = {}
        weakref.finalize(
            self,
            _destroy,
            *(self._library, self._handle, self._store, self._home),
            *(self._drivers, self.registers),
        )
        self._bar = self.registers
        self._threads = wanted.thread_count
        self._numbers = QueueNumbers(wanted.queues)
        self._lock = threading.Lock()
        self._hook: library.DmaHook | None = None

    def __enter__(self) -> Emulator:
        """Start the threads, if there are to be any."""
        if self._threads:
            self.start()
        return self

    def close(self) -> None:
        """Join the threads and take all queues away; twice is once.

        Memory stays until nobody holds this object: a host that is late may still write
        to a doorbell. In a child of fork there are no threads, and this does nothing.
        """
        if not self._home.is_here:
            return
        with self._lock:
            if self._closed:
                return
            self._call("stop")
            self._call("reset")
            self._numbers.lose_all()
            self._closed = True
            self._store.close()

    # Controller

    def limits(self, nsid: int) -> Limits:
        """Return the limits for a namespace; refuse one that is not key-value."""
        nsid = within("nsid", nsid, 0, _U32_MAX)
        return self._admin.limits(nsid, self._register(_CAP, ctypes.c_uint64), self._cc())

    def connect(self, driver: Driver) -> None:
        """Let a driver's device reach the doorbells, and reach that device's memory.

        Raises:
            ArgumentFault: that of another driver is still in use.
        """
        with self._lock:
            if driver not in self._drivers:
                hook = driver.dma_hook()
                bar = driver.register(self.registers, self.registers_size)
                self._drivers[driver] = bar, hook
            self._bar, hook = self._drivers[driver]
            if hook is not None and hook is not self._hook:
                self._reach_by(hook)
            if self._hook is not None:
                self._hook.forget()

    def create_queue(self, rings: Rings) -> CreatedQueue:
        """Create a queue pair on the lowest number that is free."""
        self._check_reach(rings.memory_mode)
        with self._lock:
            qid = self._numbers.next_free()
            self._admin.create_queue(qid, rings)
            self._numbers.take(qid)
        stride = 4 << (self._register(_CAP, ctypes.c_uint64) >> 32 & 0xF)
        doorbell = self._bar + _DOORBELLS + 2 * qid * stride
        return CreatedQueue(qid, doorbell, doorbell + stride)

    def delete_queue(self, qid: int) -> None:
        """Delete a queue pair; on return none of its memory is touched."""
        with self._lock:
            if self._numbers.give_up(qid):
                self._admin.delete_queue(qid)

    def _reach_by(self, hook: library.DmaHook) -> None:
        if self._call("set_dma", hook) != 0:
            raise ArgumentFault(
                "this controller has queues already, and would reach the memory of another"
                " module's device: close what is attached first, or make a controller for each"
            )
        self._hook = hook

    def _check_reach(self, mode: MemoryMode) -> None:
        """Refuse rings that the hook does not reach, and doorbells outside the registers."""
        missed = mode & MemoryMode.DOORBELL
        if self._hook is not None and not self._hook.flags & library.DMA_RINGS:
            missed = mode & ~MemoryMode.DATA
        if missed:
            parts = " and ".join(str(part.name) for part in MemoryMode if part & missed)
            raise ArgumentFault(
                f"memory_mode {int(mode)}: a controller on the CPU does not serve {parts} in the"
                " memory of this GPU; attach to runtime.Relay(controller, module), which does"
            )

    @property
    def _admin(self) -> AdminQueue:
        # Made anew for each use: kept, it would hold this object as long as itself.
        return AdminQueue(self.admin)

    # What a host reaches

    @property
    def registers(self) -> int:
        """Address of BAR 0."""
        return int(self._call("registers"))

    @property
    def registers_size(self) -> int:
        """Bytes of BAR 0."""
        return int(self._call("registers_size"))

    def admin(self, sqe: bytes) -> bytes:
        """Carry out an admin command given as 64 bytes; return its completion."""
        if len(sqe) != library.SQE_BYTES:
            raise ArgumentFault(f"an SQE has {library.SQE_BYTES} bytes, this has {len(sqe)}")
        cqe = ctypes.create_string_buffer(library.CQE_BYTES)
        if self._call("admin", bytes(sqe), cqe) != 0:
            raise RuntimeFault("the controller is disabled: set CC.EN, or call reset()")
        return cqe.raw

    # Service

    def start(self) -> None:
        """Start the worker threads."""
        if self._call("start") != 0:
            raise RuntimeFault("the system gives no thread for the controller, or not on its core")

    def stop(self) -> None:
        """Join the worker threads; queues keep their state."""
        self._call("stop")

    def step(self, qid: int) -> bool:
        """Do one small thing on a queue that no thread serves; return whether there was one."""
        return bool(self._call("step", within("qid", qid, 0, _U32_MAX)))

    def reset(self) -> None:
        """Reset the controller: queues are gone, values and faults stay."""
        with self._lock:
            self._call("reset")
            self._numbers.lose_all()

    def kill(self, qid: int = 0) -> None:
        """Serve a queue no more, or all and those to come for 0, until a reset."""
        self._call("kill", within("qid", qid, 0, _U32_MAX))

    # Faults and records

    def fault(
        self,
        kind: FaultKind | str,
        *,
        amount: int = 0,
        qid: int = 0,
        probability: float = 1.0,
        nth: int = 0,
        count: int = 0,
        opcode: int = 0,
        key: bytes = b"",
        sct: int = 0,
        sc: int = 0,
        dnr: bool = False,
    ) -> None:
        """Inject a fault.

        Args:
            kind: what happens, as `FaultKind` says.
            amount: window, units of time, size or identifier, by kind.
            qid: the queue, present or to come; 0 for every one.
            probability: how likely a matching command is struck.
            nth: strike only a queue's nth matching command, from 1; 0 for all.
            count: most strikes a queue; 0 for no limit.
            opcode: strike only this opcode; 0 for all.
            key: strike only this key; empty for all.
            sct: status code type of FaultKind.STATUS.
            sc: status code of FaultKind.STATUS.
            dnr: the Do Not Retry bit of FaultKind.STATUS.
        """
        fault = faults.fault(
            kind,
            probability=probability,
            key=key,
            status=(sct, sc, dnr),
            amount=amount,
            qid=qid,
            nth=nth,
            count=count,
            opcode=opcode,
        )
        if self._call("fault", fault) != 0:
            raise ArgumentFault(f"{kind!r} does not go with these arguments: {faults.RULES}")

    def clear_faults(self) -> None:
        """Remove every fault; what they held back goes on."""
        self._call("clear_faults")

    def trace_start(self, capacity: int = 65536) -> None:
        """Record entries from now on, at most `capacity` that wait to be read."""
        self._call("trace_start", within("capacity", capacity, 0, (1 << 64) - 1))

    def trace(self) -> list[TraceRecord]:
        """Take the records out of the trace, oldest first."""
        chunk = (library.TraceEntry * _TRACE_CHUNK)()
        taken: list[TraceRecord] = []
        while count := self._call("trace_read", chunk, _TRACE_CHUNK):
            taken += [records.trace_record(chunk[i]) for i in range(count)]
        return taken

    def counters(self) -> Counters:
        """Return the totals since the controller was made."""
        totals = library.Totals()
        self._call("counters", totals)
        return records.counters(totals)

    def set_dma(self, hook: library.DmaHook | None) -> None:
        """Reach the host's memory by a hook, or by plain addresses for None.

        The hook's functions are called by worker threads; the controller keeps it alive.
        """
        if not isinstance(hook, (library.DmaHook, NoneType)) or self._call("set_dma", hook) != 0:
            raise ArgumentFault("a DMA hook needs read and write, and no queues on the controller")
        self._hook = hook

    def _call(self, function: str, *arguments: Any) -> Any:
        self._home.check()
        if self._closed:
            raise RuntimeFault("the controller is closed")
        return getattr(self._library, f"xiokv_emu_{function}")(self._handle, *arguments)

    def _register(self, offset: int, kind: type[Any]) -> int:
        return int(kind.from_address(self.registers + offset).value)

    def _cc(self) -> int:
        return self._register(_CC, ctypes.c_uint32)


def _destroy(
    functions: ctypes.CDLL,
    handle: int,
    store: Store,
    home: Home,
    drivers: Iterable[Driver],
    registers: int,
) -> None:
    """Free a controller, but not in a child of fork, which has no thread to join."""
    if not home.is_here:
        return
    for driver in drivers:
        with suppress(RuntimeFault):
            driver.unregister(registers)
    functions.xiokv_emu_destroy(handle)
    store.close()
