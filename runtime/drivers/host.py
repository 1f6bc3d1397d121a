"""The host driver: kernels of a shared library, one thread a queue."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable
from pathlib import Path

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Launch, Place
from xiokv.runtime.drivers.host_launch import HostLaunch as HostLaunch
from xiokv.runtime.drivers.host_library import HostLibrary
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.drivers.host_stream import Stream as Stream
from xiokv.runtime.drivers.side_kernel import HostSideKernel
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.gpu.kernels import kernel_file
from xiokv.runtime.spans import Span

_NANOSECONDS = 1_000_000_000
_TICKS_MAX = 2**63 - 1
_SPEC_BYTES = 65


class HostDriver:
    """Runs the kernels of a host module.

    Args:
        library: path of the module, which is loaded at once.
    """

    name = "host"
    exchange = None

    def __init__(self, library: Path) -> None:
        """Load the library with all its symbols."""
        self._library = HostLibrary(library)

    def missing(self, symbols: Iterable[str]) -> list[str]:
        """Return those of `symbols` that the module does not have."""
        return [name for name in symbols if not self._library.address(name)]

    def module_abi(self) -> tuple[int, int]:
        """Return (ABI version, layout hash) as read from inside the module."""
        version, layout = (ctypes.c_uint64 * 2).from_address(self._at("xiokv_module_abi"))
        return version, layout

    def module_spec(self) -> str:
        """Return the spec identity as read from inside the module."""
        spec = (ctypes.c_char * _SPEC_BYTES).from_address(self._at("xiokv_module_spec"))
        return spec.value.decode(errors="replace")

    def allocate(self, size: int, place: Place = Place.HOST, *, shared: bool = False) -> HostMemory:
        """Return `size` zeroed bytes on a page boundary, on the host wherever they are wanted."""
        return HostMemory(size, shared=shared)

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
        first = after if isinstance(after, HostLaunch) else None
        return HostLaunch(stream, self._at(kernel), batch, batch.queue_count, first)

    def side_kernel(self, name: str) -> HostSideKernel:
        """Return a kernel that runs on threads of its own."""
        return HostSideKernel(kernel_file(name, self.name, ""), f"xiokv_kernel_{name}")

    def settle(self, stream: Stream) -> None:
        """Wait for all that the stream was given."""
        stream.settle()

    def _at(self, name: str) -> int:
        address = self._library.address(name)
        if not address:
            raise RuntimeFault(f"the module has no kernel {name}")
        return address
