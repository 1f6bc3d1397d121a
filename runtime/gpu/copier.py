"""The copier on CUDA: a DMA hook that reaches memory of a device.

In: a device. Out: a hook for a controller that runs on the CPU, with the page-locked memory,
the kernel and the stream that it needs; ``copier.h`` says how it works.
"""

from __future__ import annotations

import ctypes
import weakref
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xiokv.runtime.drivers.cuda_library import LIBRARY
from xiokv.runtime.emulator.library import DmaFlush, DmaHook, DmaRead, DmaWrite
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.gpu import copier_library
from xiokv.runtime.gpu.copier_library import Config, Cuda, Vendor
from xiokv.runtime.gpu.kernels import kernel_file
from xiokv.runtime.home import Home

if TYPE_CHECKING:
    from xiokv.runtime.drivers.cuda_api import CudaApi

_LANES = 256
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Size:
    """How much a copier takes of device and host.

    Attributes:
        channels: rings; threads of the controller share them.
        slots: copies of at most 16 KiB that are on their way in a channel at once.
        groups: workgroups a channel.
        lease: seconds after which the kernel ends, unless there is something to copy; what
            waits for the device, such as freeing memory, waits for two leases at most.
        patience: seconds after which a copy is given up.
    """

    channels: int = 16
    slots: int = 64
    groups: int = 4
    lease: float = 2e-3
    patience: float = 5.0


class CopierHook(DmaHook):
    """A hook whose copies a kernel carries out; keep it as long as a controller has it."""

    def __init__(self, api: CudaApi, device: int, size: Size) -> None:
        """Compile and load the kernel, and allocate all that copies will need."""
        library = copier_library.load()
        image = kernel_file("copier", "cuda", api.architecture(device)).read_bytes()
        with api.using(device):
            parts = _Parts(api, device, image, library, size)
        super().__init__(
            parts.copier,
            DmaRead(("xiokv_copier_read", library)),
            DmaWrite(("xiokv_copier_write", library)),
            DmaFlush(("xiokv_copier_flush", library)),
        )
        self._parts = parts
        self._end = weakref.finalize(self, parts.free)
        # At exit a controller may still be at work.
        self._end.atexit = False

    @property
    def launches(self) -> int:
        """How often the kernel was launched."""
        return self._parts.launches

    def wake(self) -> None:
        """Tell that copies are to be expected; after `close`, do nothing."""
        if self._end.alive:
            self._parts.library.xiokv_copier_wake(self._parts.copier)

    def note(self, address: int, size: int, is_device: bool) -> None:
        """Take note of whether memory is the device's; after `close`, do nothing."""
        if self._end.alive:
            self._parts.library.xiokv_copier_note(self._parts.copier, address, size, is_device)

    def forget(self) -> None:
        """Forget what memory is: some may have been freed; after `close`, do nothing."""
        if self._end.alive:
            self._parts.library.xiokv_copier_forget(self._parts.copier)

    def close(self) -> None:
        """End the kernel and give everything back; no controller has the hook any more."""
        self._end()


class _Parts:
    """What a hook is made of; the device is the calling thread's."""

    def __init__(
        self, api: CudaApi, device: int, image: bytes, library: ctypes.CDLL, size: Size
    ) -> None:
        self._api = api
        self._device = device
        self.library = library
        self._home = Home("copier")
        with ExitStack() as owned:
            module = api.load(image)
            owned.callback(api.unload, module)
            self._stream = api.urgent_stream_create()
            owned.callback(api.stream_destroy, self._stream)
            self._cuda = _cuda(api.context(device), _kernel(api, module), self._stream)
            memory = api.host_alloc(
                library.xiokv_copier_bytes(size.channels, size.slots, size.groups)
            )
            owned.callback(api.host_free, memory[0])
            self.copier = self._create(memory, size)
            self._owned = owned.pop_all()

    @property
    def launches(self) -> int:
        return int(self.library.xiokv_copier_launches(self.copier))

    def free(self) -> None:
        if not self._home.is_here:
            return
        self.library.xiokv_copier_stop(self.copier)
        with suppress(RuntimeFault), self._api.using(self._device):
            self._api.stream_synchronize(self._stream)
            self._owned.close()
        self.library.xiokv_copier_destroy(self.copier)

    def _create(self, memory: tuple[int, int], size: Size) -> int:
        vendor = Vendor()
        self.library.xiokv_copier_cuda_vendor(self._cuda, vendor)
        config = Config(
            channels=size.channels,
            slots=size.slots,
            groups=size.groups,
            memory=memory[0],
            device_memory=memory[1],
            lease=round(size.lease * self._api.clock_hz(self._device)),
            term=round(size.lease * _NANOSECONDS),
            patience=round(size.patience * _NANOSECONDS),
        )
        copier = self.library.xiokv_copier_create(config, vendor)
        if not copier:
            raise RuntimeFault(f"the copier does not take {size}")
        return int(copier)


def _kernel(api: CudaApi, module: Any) -> Any:
    kernel = api.function(module, "xiokv_kernel_copier")
    if kernel is None:
        raise RuntimeFault("the copier's module has no kernel xiokv_kernel_copier")
    return kernel


def _cuda(context: Any, function: Any, stream: int) -> Cuda:
    """Return the driver library's functions as addresses, and what they are called with."""
    library = ctypes.CDLL(LIBRARY)
    names = (
        *("cuCtxGetCurrent", "cuCtxSetCurrent"),
        *("cuLaunchKernel", "cuPointerGetAttributes"),
    )
    addresses = {name: ctypes.cast(getattr(library, name), ctypes.c_void_p) for name in names}
    return Cuda(
        **addresses, context=int(context), function=int(function), stream=stream, lanes=_LANES
    )
