"""`Passthrough`: a controller whose commands a real device carries out."""

from __future__ import annotations

import ctypes
import math
import os
import weakref
from dataclasses import dataclass, fields
from typing import Any

from xiokv.runtime.arguments import integer, seconds, within
from xiokv.runtime.closing import Closing
from xiokv.runtime.controller import CreatedQueue, Limits, Rings
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.nvme import library

_PAGE_BYTES = 4096
_IDENTIFY = 0x06
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
            command_timeout_ms=0 if command_timeout is None else _milliseconds(command_timeout),
            ioctl=ioctl and ctypes.cast(ioctl, ctypes.c_void_p),
        )
        self._library = library.load()
        self._ioctl = ioctl  # the C side has its address
        self._handle = _open(self._library, self.path, config)
        self._closed = False
        self._home = Home("passthrough")
        weakref.finalize(self, _destroy, self._library, self._handle, self._home)
        self._functions = library.ControllerFunctions()
        self._call("controller", self._functions)
        self.nsid = self._call("nsid")

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
        found = library.ControllerLimits()
        self._ask("limits", integer("nsid", nsid), found)
        return Limits(
            **{field.name: getattr(found, field.name) for field in fields(Limits)},
        )

    def create_queue(self, rings: Rings) -> CreatedQueue:
        """Create a queue pair on the lowest number that is free."""
        wanted = library.Rings(rings.sq_iova, rings.cq_iova, rings.sq_depth, rings.cq_depth)
        made = library.Created()
        self._ask("create_queue", wanted, made)
        return CreatedQueue(made.qid, made.sq_doorbell, made.cq_doorbell)

    def delete_queue(self, qid: int) -> None:
        """Delete a queue pair; it waits for the commands that the driver has."""
        self._functions.call("delete_queue", qid)

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
        self._call("admin", bytes(sqe), _PAGE_BYTES, cqe)
        return cqe.raw

    def counters(self) -> PassthroughCounters:
        """Return the totals since the namespace was opened."""
        totals = library.Totals()
        self._call("count", totals)
        error = os.strerror(totals.last_errno) if totals.last_errno else ""
        return PassthroughCounters(totals.commands, totals.completions, totals.failures, error)

    def close(self) -> None:
        """Delete all queues, wait for the commands that the driver has, and close the device.

        Twice is once. Doorbells stay until nobody holds this object. In a child of fork it
        does nothing.
        """
        if not self._home.is_here:
            return
        if not self._closed:
            self._call("stop")
            self._closed = True

    def _ask(self, function: str, *arguments: Any) -> None:
        self._check_open()
        self._functions.call(function, *arguments)

    def _call(self, function: str, *arguments: Any) -> int:
        self._check_open()
        called = getattr(self._library, f"xiokv_device_{function}")
        return library.check(called(self._handle, *arguments))

    def _check_open(self) -> None:
        self._home.check()
        if self._closed:
            raise RuntimeFault(f"{self.path} is closed")


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


def _open(functions: ctypes.CDLL, path: str, config: library.Config) -> int:
    handle = ctypes.c_void_p()
    library.check(functions.xiokv_device_open(os.fsencode(path), config, ctypes.byref(handle)))
    return int(handle.value or 0)


def _destroy(functions: ctypes.CDLL, handle: int, home: Home) -> None:
    """Close a device, but not in a child of fork, which has no thread to join."""
    if home.is_here:
        functions.xiokv_device_stop(handle)
        functions.xiokv_device_close(handle)
