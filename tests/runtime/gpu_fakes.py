"""A vendor's library that takes notes, for tests of the GPU driver without a GPU."""

from __future__ import annotations

import ctypes
import gc
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from xiokv.runtime import abi
from xiokv.runtime.drivers.gpu_api import PointerInfo, PointerKind
from xiokv.runtime.emulator.library import DmaHook
from xiokv.runtime.errors import RuntimeFault

SPEC = "5" * 64
GLOBALS = {
    "xiokv_module_abi": struct.pack("<QQ", abi.VERSION, abi.layout_hash()),
    "xiokv_module_spec": SPEC.encode() + b"\0",
}
SKEW = 64  # Allocations begin so far past a page boundary.


def attempt(work: Callable[[], object]) -> bool:
    """Return whether no call was refused; where one was, nothing holds what was made by then."""
    try:
        work()
    except RuntimeFault as fault:
        if not str(fault).endswith("refused"):
            raise
    else:
        return True
    gc.collect()
    return False


class Api:
    """A library whose devices are memory of this process, and whose kernels end when told.

    Attributes:
        calls: (name, arguments) of every call that changes something.
        device: the current one.
        ended: whether the kernels launched so far have ended.
        fails: why the next look at a kernel fails.
        broken: why every call fails that changes something.
        hook: what reaches its memory; None where the CPU does.
        granted: how many more calls that acquire or copy something succeed; None for all.
    """

    name = "hip"

    def __init__(self, devices: int = 1) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.device = 0
        self.ended = True
        self.fails = ""
        self.broken = ""
        self.granted: int | None = None
        self.hook: DmaHook | None = None
        self._open: list[object] = []
        self._devices = devices
        self._memory: dict[int, tuple[PointerKind, int, Any]] = {}
        self._handles = 100

    def names(self) -> list[str]:
        return [name for name, *_ in self.calls]

    @property
    def in_use(self) -> list[int]:
        return sorted(self._memory)

    @property
    def handles(self) -> int:
        """Streams, events and modules that were given out and are not back."""
        return len(self._open)

    @property
    def is_empty(self) -> bool:
        """Whether all that was given out is back: memory, streams, events and modules."""
        return not self._memory and not self._open

    def _note(self, name: str, *arguments: Any) -> None:
        if self.broken:
            raise RuntimeFault(f"{name}: {self.broken}")
        self.calls.append((name, *arguments))

    def _grant(self, name: str) -> None:
        if self.granted == 0:
            raise RuntimeFault(f"{name} refused")
        if self.granted is not None:
            self.granted -= 1

    def _handle(self, name: str) -> int:
        self._grant(name)
        self._handles += 1
        self._note(name, self._handles)
        self._open.append(self._handles)
        return self._handles

    def _take_back(self, name: str, what: object) -> None:
        self._note(name, what)
        self._open.remove(what)

    # Devices

    def device_count(self) -> int:
        return self._devices

    @contextmanager
    def using(self, device: int) -> Iterator[None]:
        former, self.device = self.device, device
        try:
            yield
        finally:
            self.device = former

    def architecture(self, device: int) -> str:
        return "gfx942:sramecc+:xnack-"

    def device_name(self, device: int) -> str:
        return f"device {device}"

    def clock_hz(self, device: int) -> int:
        return 100_000_000

    def wave(self, device: int) -> int:
        return 64

    def dma_hook(self, device: int) -> DmaHook | None:
        return self.hook

    # Modules

    def load(self, image: bytes) -> bytes:
        self._grant("load")
        self._open.append(image)
        return image

    def unload(self, module: bytes) -> None:
        self._take_back("unload", module)

    def function(self, module: bytes, name: str) -> str | None:
        return name if name.startswith("xiokv_batch_") else None

    def read_global(self, module: bytes, name: str, size: int) -> bytes | None:
        content = GLOBALS.get(name, b"")
        return content[:size] if size <= len(content) else None

    # Memory

    def _allocate(self, kind: PointerKind, size: int) -> int:
        self._grant("allocate")
        buffer = ctypes.create_string_buffer(b"\xa5" * (size + 8192))
        address = (ctypes.addressof(buffer) + 4095) // 4096 * 4096 + SKEW
        self._memory[address] = (kind, size, (buffer, self.device))
        return address

    def _free(self, address: int) -> None:
        del self._memory[address]

    def host_alloc(self, size: int) -> tuple[int, int]:
        self._note("host_alloc", size)
        address = self._allocate(PointerKind.PINNED, size)
        return address, address

    def host_free(self, address: int) -> None:
        self._note("host_free", address)
        self._free(address)

    def device_alloc(self, size: int, shared: bool) -> int:
        self._note("device_alloc", size, shared)
        return self._allocate(PointerKind.DEVICE, size)

    def device_free(self, address: int) -> None:
        self._note("device_free", address)
        self._free(address)

    def host_register(self, address: int, size: int) -> int:
        self._grant("host_register")
        self._note("host_register", address, size)
        self._memory[address] = (PointerKind.PINNED, size, (None, self.device))
        return address

    def host_unregister(self, address: int) -> None:
        self._note("host_unregister", address)
        self._free(address)

    def manage(self, size: int) -> int:
        """Return managed memory."""
        return self._allocate(PointerKind.MANAGED, size)

    def pointer(self, address: int) -> PointerInfo:
        for start, (kind, size, (_, device)) in self._memory.items():
            if start <= address < start + size:
                return PointerInfo(kind, device, address)
        return PointerInfo(PointerKind.UNKNOWN, 0, 0)

    def copy(self, destination: int, source: int, size: int, stream: int) -> None:
        self._grant("copy")
        self._note("copy", destination, source, size, stream)
        ctypes.memmove(destination, source, size)

    def zero(self, address: int, size: int, stream: int) -> None:
        self._grant("zero")
        ctypes.memset(address, 0, size)

    # Streams and events

    def stream_create(self) -> int:
        return self._handle("stream_create")

    def urgent_stream_create(self) -> int:
        return self._handle("urgent_stream_create")

    def stream_destroy(self, stream: int) -> None:
        self._take_back("stream_destroy", stream)

    def stream_synchronize(self, stream: int) -> None:
        self._note("stream_synchronize", stream)

    def stream_wait(self, stream: int, event: int) -> None:
        self._note("stream_wait", stream, event)

    def event_create(self, timing: bool = False) -> int:
        return self._handle("event_create")

    def event_record(self, event: int, stream: int) -> None:
        self._grant("event_record")
        self._note("event_record", event, stream)

    def event_query(self, event: int) -> bool:
        if self.fails:
            raise RuntimeFault(self.fails)
        return self.ended

    def event_seconds(self, start: int, end: int) -> float:
        return 0.0

    def event_destroy(self, event: int) -> None:
        self._take_back("event_destroy", event)

    # Launches

    on_launch: Callable[[str, Any], None] = staticmethod(lambda kernel, batch: None)

    def launch(self, function: str, groups: int, lanes: int, stream: int, argument: Any) -> None:
        self._note("launch", function, groups, lanes, stream)
        self.on_launch(function, argument)
