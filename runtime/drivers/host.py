"""The host driver: kernels of a shared library, one thread a queue."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Launch
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.drivers.host_stream import Stream as Stream
from xiokv.runtime.errors import RuntimeFault

_NANOSECONDS = 1_000_000_000
_TICKS_MAX = 2**63 - 1
_QUEUES_MAX = 65535
_SPEC_BYTES = 65

_Entry = Callable[[abi.Batch, int], None]


class HostLaunch:
    """A batch on the host: the parts of it that threads run."""

    def __init__(self, parts: Sequence[Future[None]]) -> None:
        """Follow the parts."""
        self._parts = parts

    @property
    def done(self) -> bool:
        """Tell whether every part has ended, without waiting."""
        return all(part.done() for part in self._parts)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; raise what kept a part from running."""
        wait(self._parts, timeout)
        if not self.done:
            return False
        for part in self._parts:
            part.result()
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

    def __init__(self, library: Path) -> None:
        """Load the library with all its symbols."""
        try:
            self._library = ctypes.CDLL(str(library))
        except OSError as error:
            raise RuntimeFault(f"{library} cannot be loaded: {error}") from error
        self._threads = _threads()

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

    def allocate(self, size: int) -> HostMemory:
        """Return `size` zeroed bytes on a page boundary; IOVA and address are the same."""
        return HostMemory(size)

    def ticks(self, seconds: float) -> int:
        """Return seconds as nanoseconds, the ticks of the engine's clock."""
        return min(math.ceil(min(seconds, _TICKS_MAX) * _NANOSECONDS), _TICKS_MAX)

    def launch(
        self, kernel: str, batch: abi.Batch, stream: Stream | None, after: Launch | None
    ) -> HostLaunch:
        """Start a kernel, never on the calling thread: an interrupt must find it waiting."""
        run = _Run(self._entry(kernel), batch, after)
        count = batch.queue_count
        if stream is not None:
            # A batch that the stream refuses ends in its turn, too: whoever follows it
            # relies on all before it having ended.
            part = stream.submit(lambda: self._run_all(run, count), run.await_turn)
            return HostLaunch([part])
        return HostLaunch(self._start(run, range(count)))

    def _run_all(self, run: _Run, count: int) -> None:
        """Run every queue; the first on the calling thread."""
        others = HostLaunch(self._start(run, range(1, count)))
        run(0)
        others.wait()

    def _start(self, run: _Run, numbers: Iterable[int]) -> list[Future[None]]:
        """Start a thread a queue; if that fails, leave nothing behind that runs later."""
        try:
            return [self._threads.submit(run, number) for number in numbers]
        except BaseException as error:
            # What found no thread is still queued: drop it, and wait for what runs.
            self._threads.shutdown(cancel_futures=True)
            self._threads = _threads()
            if isinstance(error, RuntimeError):
                raise RuntimeFault(f"cannot start a thread a queue: {error}") from error
            raise

    def _entry(self, kernel: str) -> _Entry:
        try:
            entry = self._library[kernel]
        except AttributeError as error:
            raise RuntimeFault(f"the module has no kernel {kernel}") from error
        entry.argtypes = (ctypes.POINTER(abi.Batch), ctypes.c_uint32)
        entry.restype = None
        return entry


def _threads() -> ThreadPoolExecutor:
    """Return a pool that starts a thread only where none is idle."""
    return ThreadPoolExecutor(_QUEUES_MAX, thread_name_prefix="xiokv-queue")
