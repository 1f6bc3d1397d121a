"""A kernel that runs on threads of the host: a launch in, its end out.

What a kernel works on is kept until its end, also where nobody holds the launch any more.
"""

from __future__ import annotations

import ctypes
from threading import TIMEOUT_MAX
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from xiokv.runtime.drivers import host_library
from xiokv.runtime.home import Home
from xiokv.runtime.log import log

if TYPE_CHECKING:
    from xiokv.runtime.drivers.host_stream import Stream

_NANOSECONDS = 1_000_000_000
# A signal may come just before a wait begins, which then does not notice it.
_LOOK = _NANOSECONDS // 2

# Launches that nobody holds: what they work on, until the next launch after their end.
_dropped: list[tuple[int, Any]] = []


class HostLaunch:
    """A launch in a stream.

    Args:
        stream: in whose order it runs.
        entry: address of the kernel.
        argument: what each run is given; read at once, and held until the end.
        count: how many runs there are, side by side.
        after: what has to end first.
    """

    def __init__(
        self,
        stream: Stream,
        entry: int,
        argument: ctypes.Structure | None = None,
        count: int = 0,
        after: HostLaunch | None = None,
    ) -> None:
        """Start it."""
        _free_ended()
        stream.check_open()
        self._functions = host_library.load()
        self._handle = ctypes.c_void_p()
        self._stream = stream
        self._kept = argument
        self._count = count
        self._ended = False
        self._home = Home("batch")
        stream.check(
            self._functions.xiokv_launch_start(
                stream.handle,
                entry,
                None if argument is None else ctypes.byref(argument),
                0 if argument is None else ctypes.sizeof(argument),
                count,
                None if after is None else after._handle,
                ctypes.byref(self._handle),
            )
        )

    @property
    def done(self) -> bool:
        """Tell whether it has ended, without waiting."""
        return self._ended or self._functions.xiokv_launch_done(self._handle) == 1

    @property
    def seconds(self) -> float:
        """How long the kernel ran, once it has ended."""
        return self._times()[0] / _NANOSECONDS

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; raise what kept it from running."""
        if not self.done:
            self._home.check()
            if not self._wait(timeout):
                return False
        if not self._ended:
            self._ended, self._kept = True, None
            self._warn()
        if self._functions.xiokv_launch_wait(self._handle, 0) == host_library.E_STREAM:
            raise self._stream.not_run()
        return True

    def _wait(self, timeout: float | None) -> bool:
        """Wait piece by piece, so that signals are heard of in between."""
        wait = self._functions.xiokv_launch_wait
        waiting = (host_library.E_TIMEOUT, host_library.E_INTERRUPTED)
        if timeout is None:
            while wait(self._handle, _LOOK) in waiting:
                continue
            return True
        end = monotonic_ns() + round(min(timeout, TIMEOUT_MAX) * _NANOSECONDS)
        while (left := end - monotonic_ns()) > 0:
            if wait(self._handle, min(left, _LOOK)) not in waiting:
                return True
        return wait(self._handle, 0) not in waiting

    def _times(self) -> tuple[int, int]:
        nanoseconds, sharing = ctypes.c_int64(), ctypes.c_uint32()
        host_library.check(
            self._functions.xiokv_launch_times(
                self._handle, ctypes.byref(nanoseconds), ctypes.byref(sharing)
            )
        )
        return nanoseconds.value, sharing.value

    def _warn(self) -> None:
        sharing = self._times()[1]
        if sharing:
            log.warning(
                "%d of %d queues share a thread: the system gives no more", sharing, self._count
            )

    def __del__(self) -> None:
        """Free the handle; what still runs keeps what it works on."""
        handle = getattr(self, "_handle", None)
        if not handle or not self._home.is_here:
            return
        if self._kept is None or self._functions.xiokv_launch_done(handle) == 1:
            self._functions.xiokv_launch_free(handle)
        else:
            _dropped.append((handle.value, self._kept))


def _free_ended() -> None:
    """Free dropped launches that have ended."""
    if not _dropped:
        return
    functions = host_library.load()
    for _ in range(len(_dropped)):
        try:
            handle, kept = _dropped.pop(0)
        except IndexError:  # another thread was faster
            return
        code = functions.xiokv_launch_done(handle)
        if code == 0:
            _dropped.append((handle, kept))
        elif code == 1:
            functions.xiokv_launch_free(handle)
