"""A stream on the host: pieces of work that run one after the other on a thread."""

from __future__ import annotations

import atexit
import ctypes
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple, TypeVar

from xiokv.runtime.closing import Closing
from xiokv.runtime.drivers import host_library
from xiokv.runtime.drivers.host_launch import HostLaunch
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.log import log

_T = TypeVar("_T")

_LOOK = 500_000_000  # nanoseconds between two looks for an interrupt

_ending = False


class Stream(Closing):
    """Ordered work of the host driver.

    Work is in the thread's list or it is not, whenever an interrupt comes; `settle` waits
    for what is. After a failure nothing later runs, because it may rely on what failed;
    `synchronize` and `close` raise the failure, and with that the stream is usable again.
    """

    def __init__(self) -> None:
        """Start the thread."""
        self._functions = host_library.load()
        self._last: BaseException | None = None  # failure
        self._untold: BaseException | None = None
        self._home = Home("stream")
        self.handle = ctypes.c_void_p()
        host_library.check(self._functions.xiokv_stream_create(ctypes.byref(self.handle)))

    def submit(self, work: Callable[[], _T]) -> Future[_T]:
        """Run `work` after all that was submitted before; return its future."""
        self.check_open()
        number, future = next(_numbers), Future[_T]()
        _works[number] = _Work(self, work, future)
        code = self._functions.xiokv_stream_submit(self.handle, _CARRY_OUT, number)
        if code < 0:
            del _works[number]
        self.check(code)
        return future

    def check_open(self) -> None:
        """Refuse work in a child of fork, and at the end."""
        self._home.check()
        if _ending:
            raise self._closed()

    def check(self, code: int) -> None:
        """Raise what a call says that gave the stream work."""
        if code == host_library.E_HANDLE:
            raise self._closed()
        host_library.check(code)

    def fail(self, failure: BaseException) -> None:
        """Take note of work that failed."""
        self._last = self._untold = failure

    def not_run(self) -> RuntimeFault:
        """Return what to raise for work that a failure kept from running."""
        fault = RuntimeFault(
            f"not run: earlier work in its stream failed ({self._last!r});"
            " synchronize the stream to go on"
        )
        fault.__cause__ = self._last
        return fault

    def settle(self) -> None:
        """Wait for all work, whatever became of it."""
        self._home.check()
        with suppress(RuntimeFault):  # closed, or its last work was not run: all has ended
            HostLaunch(self, 0).wait()

    def synchronize(self) -> None:
        """Wait for all work; raise the first failure since the last call."""
        self.settle()
        self._raise_failure()

    def close(self) -> None:
        """Wait for all work, end the thread, and raise a failure nobody was told of.

        In a child of fork there is neither, and nothing to do.
        """
        if not self._home.is_here:
            return
        self.settle()
        self._functions.xiokv_stream_abandon(self.handle)
        self._raise_failure()

    def _raise_failure(self) -> None:
        self._functions.xiokv_stream_clear_failure(self.handle)
        failure, self._untold = self._untold, None
        if failure is not None:
            raise failure

    @staticmethod
    def _closed() -> RuntimeFault:
        return RuntimeFault("the stream takes no work: it is closed, or Python is about to end")

    def __del__(self) -> None:
        """End the thread; log a failure of a stream that nobody synchronized or closed."""
        home = getattr(self, "_home", None)
        if home is None or not home.is_here:
            return
        self._functions.xiokv_stream_abandon(self.handle)
        if self._untold is not None:
            log.error("work in a stream failed, and nobody waited for it: %r", self._untold)


class _Work(NamedTuple):
    """Work that was submitted and has not begun; its stream stays until it has ended."""

    stream: Stream
    work: Callable[[], Any]
    future: Future[Any]

    def carry_out(self) -> bool:
        """Run it; return whether it failed."""
        self.future.set_running_or_notify_cancel()
        try:
            result = self.work()
        except BaseException as error:
            self.stream.fail(error)
            self.future.set_exception(error)
            return True
        self.future.set_result(result)
        return False


# By what the library is given for it.
_works: dict[int, _Work] = {}
_numbers = count(1)


def _carry_out(number: int, run: int) -> int:
    work = _works.pop(number)
    if run:
        return work.carry_out()
    work.future.set_exception(work.stream.not_run())
    return 0


_CARRY_OUT = host_library.WORK(_carry_out)


def _end() -> None:
    """Let all work end while there is an interpreter for it, and memory that it uses."""
    global _ending
    _ending = True
    if host_library.load.cache_info().currsize:
        quiesce = host_library.load().xiokv_streams_settle
        while quiesce(_LOOK) in (host_library.E_TIMEOUT, host_library.E_INTERRUPTED):
            continue


# Before what weakref.finalize does at exit, whose hook the first of its objects sets up: it
# destroys controllers, on which work may still wait.
weakref.finalize(Stream, int)
atexit.register(_end)
