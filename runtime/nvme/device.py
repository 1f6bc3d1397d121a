"""`Passthrough`: a controller whose commands a real device carries out."""

from __future__ import annotations

import ctypes
import math
import os
import threading
import weakref
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from xiokv.runtime.arguments import integer, seconds, within
from xiokv.runtime.closing import Closing
from xiokv.runtime.controller import CreatedQueue, Limits, Rings
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.emulator.admin_queue import AdminQueue
from xiokv.runtime.emulator.queue_numbers import QueueNumbers
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.nvme import library
from xiokv.runtime.nvme.opened import namespace_id, open_namespace

_PAGE_BYTES = 4096
_IDENTIFY = 0x06
# Queues are this process's: as deep as any, with pages of 4096 bytes.
_CAP, _CC = 0xFFFF, 0
_DOORBELL_STRIDE = 64
_ERROR_BYTES = 256
_MILLISECONDS_MAX = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class PassthroughCounters:
    """What went through.

    Attributes:
        commands: entries fetched.
        completions: completions posted.
        failures: calls that the system refused; their commands end in SCT 0, SC 06h.
        last_error: of the last of them, or nothing.
    """

    commands: int
    completions: int
    failures: int
    last_error: str


class Passthrough(Closing):
    """A key-value namespace as a controller, NSID 1, by the Linux NVMe driver.

    Queue pairs lie in this process; threads hand their commands to the driver, one call a
    command, and post completions as calls return. It works with the host module.

    Attributes:
        path: the device.
        nsid: its NSID on the device.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int = 32,
        queues: int = 16,
        command_timeout: float | None = None,
        ioctl: Any = None,
    ) -> None:
        """Open the namespace and start the threads.

        Args:
            path: its character device, such as ``/dev/ng0n1``.
            threads: commands in flight at the device, 1 to 1024.
            queues: most queue pairs, 1 to 1024.
            command_timeout: seconds after which the driver aborts a command; by default what
                the system has (30). Then it may reset the controller.
            ioctl: a ctypes function in place of ioctl(2), for tests.

        Raises:
            ArgumentFault: an argument is not allowed, or the namespace is not key-value, or
                in use.
            MissingFault: there is no such device, or no C++ compiler.
            RuntimeFault: it may not be opened.
        """
        self.path = _path(path)
        config = library.Config(
            struct_size=ctypes.sizeof(library.Config),
            threads=within("threads", threads, 1, library.THREADS_MAX),
            queues=within("queues", queues, 1, library.QUEUES_MAX),
            timeout_ms=0 if command_timeout is None else _milliseconds(command_timeout),
            ioctl=ioctl and ctypes.cast(ioctl, ctypes.c_void_p),
        )
        self._library = library.load()
        self._ioctl = ioctl  # the C side has its address
        self._numbers = QueueNumbers(config.queues)
        self._lock = threading.Lock()
        self._home = Home("passthrough")
        self._closed = False
        config.fd = open_namespace(self.path)
        # Of what ends with this object the last that is named here comes first.
        self._close_file = weakref.finalize(self, os.close, config.fd)
        with ExitStack() as undo:
            undo.callback(self._close_file)
            self.nsid = config.nsid = namespace_id(self.path, config.fd, ioctl)
            self._handle = self._create(config)
            weakref.finalize(self, _destroy, self._library, self._handle, self._home)
            undo.callback(self._call, "stop")
            admin = AdminQueue(self.admin)
            self._limits = admin.limits(self.nsid, _CAP, _CC, queues_max=config.queues)
            undo.pop_all()

    # Controller

    def connect(self, driver: Driver) -> None:
        """Take the host's driver; the system does not reach a GPU's memory for a process."""
        if driver.name != "host":
            raise ArgumentFault(
                f"{self.path} is reached by calls of this process, which a module for"
                f' {driver.name} cannot make: runtime.load("host") has one that can'
            )

    def limits(self, nsid: int) -> Limits:
        """Return the limits of the namespace, which is 1 here or its own number."""
        if integer("nsid", nsid) not in (1, self.nsid):
            raise ArgumentFault(
                f"nsid {nsid}: {self.path} is namespace {self.nsid}; 1 stands for it"
            )
        return self._limits

    def create_queue(self, rings: Rings) -> CreatedQueue:
        """Create a queue pair on the lowest number that is free."""
        with self._lock:
            qid = self._numbers.next_free()
            made = library.Queue(
                sq=rings.sq_iova,
                cq=rings.cq_iova,
                qid=qid,
                sq_depth=rings.sq_depth,
                cq_depth=rings.cq_depth,
            )
            if self._call("create_queue", made) != 0:
                raise ArgumentFault(
                    f"queue pair {qid} of {rings.sq_depth} and {rings.cq_depth} entries: 2 to"
                    " 65536 are allowed"
                )
            self._numbers.take(qid)
        doorbell = int(self._call("doorbells")) + 2 * qid * _DOORBELL_STRIDE
        return CreatedQueue(qid, doorbell, doorbell + _DOORBELL_STRIDE)

    def delete_queue(self, qid: int) -> None:
        """Delete a queue pair; it waits for the commands that the driver has."""
        with self._lock:
            if self._numbers.give_up(qid):
                self._call("delete_queue", qid)

    # Beside

    def admin(self, sqe: bytes) -> bytes:
        """Carry out an Identify given as 64 bytes; return its completion.

        Its data has 4096 bytes. How much data other admin commands have is not known here.
        """
        if len(sqe) != library.SQE_BYTES:
            raise ArgumentFault(f"an SQE has {library.SQE_BYTES} bytes, this has {len(sqe)}")
        if sqe[0] != _IDENTIFY:
            raise ArgumentFault(f"admin opcode {sqe[0]:02X}h: only Identify (06h) is passed on")
        cqe = ctypes.create_string_buffer(library.CQE_BYTES)
        with self._lock:
            fault = self._call("admin", bytes(sqe), _PAGE_BYTES, cqe)
        if fault:
            raise RuntimeFault(f"{self.path} takes no admin command: {os.strerror(fault)}")
        return cqe.raw

    def counters(self) -> PassthroughCounters:
        """Return the totals since the namespace was opened."""
        totals = library.Totals()
        self._call("counters", totals)
        error = os.strerror(totals.last_errno) if totals.last_errno else ""
        return PassthroughCounters(totals.commands, totals.completions, totals.failures, error)

    def close(self) -> None:
        """Delete all queues, wait for the commands that the driver has, and close the device.

        Twice is once. Doorbells stay until nobody holds this object. In a child of fork it
        does nothing.
        """
        if not self._home.is_here:
            return
        with self._lock:
            if self._closed:
                return
            self._call("stop")
            self._numbers.lose_all()
            self._closed = True
            self._close_file()

    def _create(self, config: library.Config) -> int:
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        handle = self._library.xiokv_pass_create(config, error, len(error))
        if not handle:
            raise RuntimeFault(error.value.decode(errors="replace"))
        return int(handle)

    def _call(self, function: str, *arguments: Any) -> Any:
        self._home.check()
        if self._closed:
            raise RuntimeFault(f"{self.path} is closed")
        return getattr(self._library, f"xiokv_pass_{function}")(self._handle, *arguments)


def passthrough(path: str | os.PathLike[str], **options: Any) -> Passthrough:
    """Return a real key-value namespace as a controller: see `Passthrough`."""
    return Passthrough(path, **options)


def _path(given: object) -> str:
    try:
        path = os.fsdecode(given)  # type: ignore[arg-type]
    except TypeError:
        path = ""
    if not path or "\0" in path:
        raise ArgumentFault(f"path is {given!r}; allowed is that of a device, such as /dev/ng0n1")
    return path


def _milliseconds(command_timeout: object) -> int:
    """Return a time as the driver takes it, to which 0 means its own."""
    time = math.ceil(1000 * seconds("command_timeout", command_timeout))
    if time > _MILLISECONDS_MAX:
        raise ArgumentFault(
            f"command_timeout {command_timeout}: at most {_MILLISECONDS_MAX // 1000} seconds are"
            " allowed"
        )
    return time


def _destroy(functions: ctypes.CDLL, handle: int, home: Home) -> None:
    """Free a controller, but not in a child of fork, which has no thread to join."""
    if home.is_here:
        functions.xiokv_pass_destroy(handle)
