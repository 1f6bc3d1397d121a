"""The GPU driver: kernels of a module on one device, a workgroup a queue.

It is the same for every vendor, whose library it reaches through `GpuApi`.
"""

from __future__ import annotations

import math
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Launch, Place
from xiokv.runtime.drivers.gpu_api import Handle, PointerInfo, PointerKind
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.drivers.gpu_launch import GpuLaunch
from xiokv.runtime.drivers.gpu_memory import DeviceMemory, PinnedMemory
from xiokv.runtime.drivers.gpu_registry import registry
from xiokv.runtime.drivers.gpu_stream import GpuStream, handle_of
from xiokv.runtime.drivers.side_kernel import GpuSideKernel
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.gpu.kernels import kernel_file
from xiokv.runtime.spans import Span

if TYPE_CHECKING:
    from xiokv.runtime.emulator.library import DmaHook

_TICKS_MAX = 2**63 - 1
_ABI = struct.Struct("<QQ")
_SPEC_BYTES = 65


class GpuDriver:
    """Runs the kernels of a module on a device.

    Args:
        device: the device, which the image has to be built for.
        image: the module, which is loaded at once.
    """

    def __init__(self, device: GpuDevice, image: bytes) -> None:
        """Load the module."""
        self.name = device.api.name
        self._device = device
        self._image = image  # The library may look into it as long as the module is loaded.
        with device.using(), ExitStack() as owned:
            self._module = device.api.load(image)
            owned.callback(device.give_back, device.api.unload, self._module)
            self._hz = device.api.clock_hz(device.number)
            self.exchange: int = device.api.stream_create()
            owned.callback(device.give_back, device.api.stream_destroy, self.exchange)
            weakref.finalize(self, owned.pop_all().close).atexit = False
        self._functions: dict[str, Handle | None] = {}
        self._running: set[GpuLaunch] = set()
        self._lock = threading.Lock()
        self._hooks: list[weakref.ref[DmaHook]] = []

    def missing(self, symbols: Iterable[str]) -> list[str]:
        """Return those of `symbols` that the module lacks; its kernels are ready from now on."""
        with self._device.using():
            return [
                name
                for name in symbols
                if self._function(name) is None and self._global(name, 1) is None
            ]

    def module_abi(self) -> tuple[int, int]:
        """Return (ABI version, layout hash) as read from inside the module."""
        version, layout = _ABI.unpack(self._identity("xiokv_module_abi", _ABI.size))
        return version, layout

    def module_spec(self) -> str:
        """Return the spec identity as read from inside the module."""
        spec = self._identity("xiokv_module_spec", _SPEC_BYTES)
        return spec.split(b"\0")[0].decode(errors="replace")

    def allocate(
        self, size: int, place: Place = Place.HOST, *, shared: bool = False
    ) -> PinnedMemory | DeviceMemory:
        """Return `size` zeroed bytes on a page boundary.

        Where the CPU reaches it, the IOVA is the CPU's address, else the device's.
        """
        memory: PinnedMemory | DeviceMemory
        if place is Place.HOST:
            memory = PinnedMemory(self._device, size)
        else:
            memory = DeviceMemory(self._device, size, shared)
        self._tell_hooks(memory.iova, size, place is Place.DEVICE)
        return memory

    def register(self, address: int, size: int) -> int:
        """Let the device reach memory of the host; return its address there."""
        return registry.add(self._device, address, size)

    def unregister(self, address: int) -> None:
        """Undo one `register`."""
        registry.remove(self._device, address)

    def dma_hook(self) -> DmaHook | None:
        """Return what reaches the device's memory, where the CPU does not."""
        with self._device.using():
            hook = self._device.api.dma_hook(self._device.number)
        if hook is not None:
            self._hooks = [*filter(_is_alive, self._hooks), weakref.ref(hook)]
        return hook

    def reaches(self, name: str, span: Span) -> bool:
        """Tell whether the controller reaches memory of the caller; pageable it does not."""
        if span.size == 0:
            return True
        with self._device.using():
            first = self._device.api.pointer(span.address)
            last = self._device.api.pointer(span.address + span.size - 1)
        self._check_pointer(name, first)
        self._check_pointer(name, last)
        kinds = {first.kind, last.kind}
        if PointerKind.UNKNOWN in kinds and not span.on_host:
            raise ArgumentFault(f"{name} at {span.address:#x} is memory that {self.name} disowns")
        if PointerKind.UNKNOWN in kinds:
            return False
        self._tell_hooks(span.address, span.size, first.kind is PointerKind.DEVICE)
        return True

    def ticks(self, seconds: float) -> int:
        """Return seconds as ticks of the engine's clock."""
        return min(math.ceil(min(seconds, _TICKS_MAX) * self._hz), _TICKS_MAX)

    def stream(self) -> GpuStream:
        """Return a new stream, which does not wait for the default one."""
        return GpuStream(self._device)

    def check_stream(self, stream: Any) -> None:
        """Refuse what is no stream of the device."""
        handle_of(stream, self._device)

    def follow(self, stream: Any, other: int) -> None:
        """Let the later work of a stream wait for the present work of another."""
        self._device.follow(handle_of(stream, self._device), other)

    def launch(self, kernel: str, batch: abi.Batch, stream: Any, after: Launch | None) -> GpuLaunch:
        """Start a kernel; it waits on the device for the launch before it."""
        function = self._function(kernel)
        if function is None:
            raise RuntimeFault(f"the module has no kernel {kernel}")
        with self._device.using():
            launch = GpuLaunch(self._device, handle_of(stream, self._device), self, batch)
            self._hold(launch)
            try:
                launch.start(function, batch, after)
            except Exception:
                self.settle(stream)
                raise
            for hook in self._living_hooks():
                hook.wake()
        return launch

    def side_kernel(self, name: str) -> GpuSideKernel:
        """Return a kernel that runs on a stream of its own."""
        file = kernel_file(name, self.name, self._device.architecture)
        return GpuSideKernel(self._device, file, f"xiokv_kernel_{name}")

    def settle(self, stream: Any) -> None:
        """Wait for all that the stream was given, whatever became of it."""
        if isinstance(stream, GpuStream) and stream.is_closed:
            handle = stream.number  # Its close has waited.
        else:
            handle = handle_of(stream, self._device)
            self._device.wait_out(handle)
        with self._lock:
            ended = {launch for launch in self._running if launch.stream == handle}
            self._running -= ended
        for launch in ended:
            launch.conclude()

    def _tell_hooks(self, address: int, size: int, is_device: bool) -> None:
        """Say what memory is: at its addresses may have been some of the other kind."""
        for hook in self._living_hooks():
            hook.note(address, size, is_device)

    def _living_hooks(self) -> Iterator[DmaHook]:
        return filter(None, (known() for known in self._hooks))

    def _hold(self, launch: GpuLaunch) -> None:
        """Keep a launch, and what it keeps, until its end; let go of those that have ended."""
        with self._lock:
            self._running = {launch, *(other for other in self._running if not other.done)}

    def _function(self, name: str) -> Handle | None:
        if name not in self._functions:
            with self._device.using():
                self._functions[name] = self._device.api.function(self._module, name)
        return self._functions[name]

    def _global(self, name: str, size: int) -> bytes | None:
        with self._device.using():
            return self._device.api.read_global(self._module, name, size)

    def _identity(self, name: str, size: int) -> bytes:
        content = self._global(name, size)
        if content is None:
            raise RuntimeFault(f"{name} of the module has less than {size} bytes")
        return content

    def _check_pointer(self, name: str, info: PointerInfo) -> None:
        if info.kind is PointerKind.MANAGED:
            raise ArgumentFault(
                f"{name} is managed memory, whose pages move: copy it to memory of the device,"
                " or to page-locked memory"
            )
        if info.kind is PointerKind.DEVICE and info.device != self._device.number:
            raise ArgumentFault(
                f"{name} is on device {info.device}, the module on device {self._device.number}"
            )


def _is_alive(known: weakref.ref[DmaHook]) -> bool:
    return known() is not None
