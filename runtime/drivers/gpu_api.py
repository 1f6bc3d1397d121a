"""What the GPU driver needs of a vendor's library, one method a call or two.

Handles of modules, functions and events are the vendor's own objects; streams and addresses
are integers. A method that the library refuses raises a RuntimeFault of one line, such as
``hipMalloc: hipErrorOutOfMemory (2): out of memory``. Unless it says otherwise a method works
on the calling thread's current device, which `GpuApi.using` sets.
"""

from __future__ import annotations

import ctypes
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from xiokv.runtime.emulator.library import DmaHook

Handle = Any


class PointerKind(Enum):
    """What kind of memory an address lies in."""

    PINNED = auto()
    DEVICE = auto()
    MANAGED = auto()
    #: Memory that the library does not know: pageable, on the host.
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class PointerInfo:
    """What a vendor's library says of an address.

    Attributes:
        kind: kind of memory.
        device: number of the device that it belongs to; of no meaning for UNKNOWN.
        address: the same byte's device address; 0 for UNKNOWN.
    """

    kind: PointerKind
    device: int
    address: int


class GpuApi(Protocol):
    """A vendor's library.

    Attributes:
        name: the target, "hip" or "cuda".
    """

    name: str

    # Devices

    def device_count(self) -> int:
        """Return the number of devices; raise a MissingFault where there is none."""

    def using(self, device: int) -> AbstractContextManager[None]:
        """Make a device the calling thread's current one; at the end, the former again."""

    def architecture(self, device: int) -> str:
        """Return what code has to be built for, such as ``gfx942:sramecc+:xnack-`` or ``sm_90``."""

    def device_name(self, device: int) -> str:
        """Return the device's name as its maker gave it."""

    def clock_hz(self, device: int) -> int:
        """Return the rate of the engine's clock."""

    def dma_hook(self, device: int) -> DmaHook | None:
        """Return a new hook that reaches the device's memory; None where the CPU does."""

    # Modules

    def load(self, image: bytes) -> Handle:
        """Load a module, all of it."""

    def unload(self, module: Handle) -> None:
        """Unload a module."""

    def function(self, module: Handle, name: str) -> Handle | None:
        """Return a kernel, ready to be launched, or None where there is none of that name."""

    def read_global(self, module: Handle, name: str, size: int) -> bytes | None:
        """Return the first bytes of a variable, or None where there is none that large."""

    # Memory

    def host_alloc(self, size: int) -> tuple[int, int]:
        """Allocate page-locked memory that every device reaches.

        Returns:
            Its address on the host, and the device's.
        """

    def host_free(self, address: int) -> None:
        """Free memory of `host_alloc`, by its address on the host."""

    def device_alloc(self, size: int, shared: bool) -> int:
        """Allocate memory of the device; where it is shared, others write it meanwhile."""

    def device_free(self, address: int) -> None:
        """Free memory of `device_alloc`."""

    def host_register(self, address: int, size: int) -> int:
        """Lock memory of the host in place and map it; return its device address."""

    def host_unregister(self, address: int) -> None:
        """Undo `host_register`."""

    def pointer(self, address: int) -> PointerInfo:
        """Tell what an address leads to, on the host or on a device."""

    def copy(self, destination: int, source: int, size: int, stream: int) -> None:
        """Start a copy in a stream, between page-locked memory and the device or within it."""

    def zero(self, address: int, size: int, stream: int) -> None:
        """Start to fill memory of the device with zeroes."""

    # Streams and events

    def stream_create(self) -> int:
        """Return a new stream that does not wait for the default one."""

    def urgent_stream_create(self) -> int:
        """Return a new stream whose kernels go before those of ordinary ones.

        Nor does it share a queue of the hardware with these, behind whose kernels its own
        would have to wait.
        """

    def stream_destroy(self, stream: int) -> None:
        """Destroy a stream whose work has ended."""

    def stream_synchronize(self, stream: int) -> None:
        """Wait for the work of a stream; only for work that is short."""

    def stream_wait(self, stream: int, event: Handle) -> None:
        """Let the later work of a stream wait for an event."""

    def event_create(self, timing: bool = False) -> Handle:
        """Return a new event."""

    def event_record(self, event: Handle, stream: int) -> None:
        """Let an event come when the present work of a stream has ended."""

    def event_query(self, event: Handle) -> bool:
        """Tell whether an event has come; raise where work before it failed."""

    def event_seconds(self, start: Handle, end: Handle) -> float:
        """Return the time between two events with timing."""

    def event_destroy(self, event: Handle) -> None:
        """Destroy an event; one that is still to come may be."""

    # Launches

    def launch(
        self, function: Handle, groups: int, lanes: int, stream: int, argument: ctypes.Structure
    ) -> None:
        """Launch a kernel with one argument, passed by value: its bytes are read at once."""
