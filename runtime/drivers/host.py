"""The host driver: kernels of a shared library, one thread a queue."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import TIMEOUT_MAX

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Launch, Place
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.drivers.host_stream import Stream as Stream
from xiokv.runtime.drivers.host_threads import Crew
from xiokv.runtime.drivers.side_kernel import HostSideKernel
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.gpu.kernels import kernel_file
from xiokv.runtime.home import Home
from xiokv.runtime.spans import Span

_NANOSECONDS = 1_000_000_000
_TICKS_MAX = 2**63 - 1
_SPEC_BYTES = 65

_Entry = Callable[[abi.Batch, int], None]


class HostLaunch:
    """A batch on the host."""

    def __init__(self, work: Future[None]) -> None:
        """Follow the work that runs it."""
        self._work = work
        self._home = Home("batch")

    @property
    def done(self) -> bool:
        """Tell whether the batch has ended, without waiting."""
        return self._work.done()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; raise what kept the batch from running."""
        if not self._work.done():
            self._home.check()
        wait([self._work], None if timeout is None else min(timeout, TIMEOUT_MAX))
        if not self._work.done():
            return False
        self._work.result()
        return True


class _Run:
    """A kernel and its batch, ready to run on each queue; it keeps the caller's batch alive."""

    def __init__(self, entry: _Entry, batch: abi.Batch, after: Launch | None) -> None:
        self._entry = entry
        self._kept = batch
        self._batch = abi.Batch.from_buffer_copy(batch)
        self._after = after

    def await_turn(self) -> None:
        """Wait for the launch to follow; how it ended is for those who wait for it."""
        if self._after is not None:
            with suppress(Exception):
                self._after.wait()

    def __call__(self, number: int) -> None:
        """Run on one queue; the interpreter's lock is free meanwhile."""
        self.await_turn()
        self._entry(self._batch, number)


class HostDriver:
    """Runs the kernels of a host module.

    Args:
        library: path of the module, which is loaded at once.
    """

    name = "host"
    exchange = None

    def __init__(self, library: Path) -> None:
        """Load the library with all its symbols."""
        try:
            self._library = ctypes.CDLL(str(library))
        except OSError as error:
            raise RuntimeFault(f"{library} cannot be loaded: {error}") from error
        self._crew = Crew()

    def missing(self, symbols: Iterable[str]) -> list[str]:
        """Return those of `symbols` that the module does not have."""
        return [name for name in symbols if not hasattr(self._library, name)]

    def module_abi(self) -> tuple[int, int]:
        """Return (ABI version, layout hash) as read from inside the module."""
        version, layout = (ctypes.c_uint64 * 2).in_dll(self._library, "xiokv_module_abi")
        return version, layout

    def module_spec(self) -> str:
        """Return the spec identity as read from inside the module."""
        spec = (ctypes.c_char * _SPEC_BYTES).in_dll(self._library, "xiokv_module_spec")
        return spec.value.decode(errors="replace")

    def allocate(self, size: int, place: Place = Place.HOST, *, shared: bool = False) -> HostMemory:
        """Return `size` zeroed bytes on a page boundary, on the host wherever they are wanted."""
        return HostMemory(size)

    def register(self, address: int, size: int) -> int:
        """Return the address: all memory of the process is within reach."""
        return address

    def unregister(self, address: int) -> None:
        """Do nothing."""

    def dma_hook(self) -> None:
        """Return None: the CPU reaches all memory."""

    def reaches(self, name: str, span: Span) -> bool:
        """Tell that it does; memory of a GPU is refused."""
        if not span.on_host:
            raise ArgumentFault(
                f"{name} is memory of a GPU, and the module runs on the host: give host memory,"
                " or load a module for the GPU"
            )
        return True

    def ticks(self, seconds: float) -> int:
        """Return seconds as nanoseconds, the ticks of the engine's clock."""
        return min(math.ceil(min(seconds, _TICKS_MAX) * _NANOSECONDS), _TICKS_MAX)

    def stream(self) -> Stream:
        """Return a new stream."""
        return Stream()

    def check_stream(self, stream: object) -> None:
        """Refuse what is no stream of this driver."""
        if not isinstance(stream, Stream):
            raise ArgumentFault(
                f"stream is {stream!r}; the host driver takes a Stream of xiokv.runtime"
            )

    def follow(self, stream: Stream, other: int) -> None:
        """Do nothing: no other library's stream has work on host memory."""

    def launch(
        self, kernel: str, batch: abi.Batch, stream: Stream, after: Launch | None
    ) -> HostLaunch:
        """Start a kernel on the stream's thread and, for further queues, on more.

        It never runs on the calling thread, where it would be deaf to interrupts.
        """
        run = _Run(self._entry(kernel), batch, after)
        work = partial(self._run_all, run, batch.queue_count)
        # A batch that the stream refuses ends in its turn, too: whoever follows it relies
        # on all before it having ended.
        return HostLaunch(stream.submit(work, run.await_turn))

    def side_kernel(self, name: str) -> HostSideKernel:
        """Return a kernel that runs on threads of its own."""
        return HostSideKernel(kernel_file(name, self.name, ""), f"xiokv_kernel_{name}")

    def settle(self, stream: Stream) -> None:
        """Wait for all that the stream was given."""
        stream.settle()

    def _run_all(self, run: _Run, count: int) -> None:
        """Run every queue, on this thread those that get none; so no interrupt comes between."""
        threads = self._crew.take(count - 1)
        parts = [thread.submit(run, number) for number, thread in enumerate(threads, start=1)]
        for number in (0, *range(len(threads) + 1, count)):
            run(number)
        wait(parts)
        self._crew.give_back(threads)

    def _entry(self, kernel: str) -> _Entry:
        try:
            entry = self._library[kernel]
        except AttributeError as error:
            raise RuntimeFault(f"the module has no kernel {kernel}") from error
        entry.argtypes = (ctypes.POINTER(abi.Batch), ctypes.c_uint32)
        entry.restype = None
        return entry
