"""Memory of the GPU driver: page-locked on the host, or in the device.

It begins on a page boundary, which vendors' allocations do not always. It is freed by `free`
alone, and on the host only when nothing in Python views it any more.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.drivers.gpu_stream import handle_of

# What nobody freed, such as memory that a dead queue's controller may still write.
_held: set[object] = set()


class PinnedMemory:
    """Zeroed page-locked memory of the host, mapped into the device."""

    place = Place.HOST

    def __init__(self, device: GpuDevice, size: int) -> None:
        """Allocate `size` bytes."""
        with device.using():
            base, mapped = device.api.host_alloc(size + abi.PAGE_BYTES)
        lead = -base % abi.PAGE_BYTES
        self.size = size
        self.iova = base + lead
        self.address = self.view_address = mapped + lead
        whole = (ctypes.c_uint8 * size).from_address(self.iova)
        ctypes.memset(whole, 0, size)
        self.view: Any = np.ctypeslib.as_array(whole)
        weakref.finalize(whole, device.give_back, device.api.host_free, base).atexit = False
        _held.add(self)

    def upload(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Do nothing: the device reaches the memory itself."""

    def download(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Do nothing: the device reaches the memory itself."""

    def free(self) -> None:
        """Give the memory back, once nothing in Python views it any more."""
        self.view = np.empty(0, np.uint8)
        _held.discard(self)


class DeviceMemory:
    """Zeroed memory of the device, with a shadow on the host where one is asked for."""

    place = Place.DEVICE

    def __init__(self, device: GpuDevice, size: int, shared: bool) -> None:
        """Allocate `size` bytes; `shared` is as in `Driver.allocate`."""
        with device.using():
            base = device.api.device_alloc(size + abi.PAGE_BYTES, shared)
        self.size = size
        self.address = self.iova = base + -base % abi.PAGE_BYTES
        self._device = device
        self._base: int | None = base
        self._shadow: PinnedMemory | None = None
        _held.add(self)
        try:
            if size:
                device.zero(self.address, size)
        except BaseException:
            self.free()
            raise

    @property
    def view(self) -> Any:
        """The shadow's bytes."""
        return self._shadowed().view

    @property
    def view_address(self) -> int:
        """Device address of the shadow."""
        return self._shadowed().address

    def upload(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Copy from the shadow to the device."""
        there, here, size = self._ends(start, size)
        self._device.copy(there, here, size, self._handle(stream))

    def download(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Copy from the device to the shadow."""
        there, here, size = self._ends(start, size)
        self._device.copy(here, there, size, self._handle(stream))

    def free(self) -> None:
        """Give the memory back; a second call does nothing."""
        base, self._base = self._base, None
        if base is None:
            return
        _held.discard(self)
        if self._shadow is not None:
            self._shadow.free()
        self._device.give_back(self._device.api.device_free, base)

    def _shadowed(self) -> PinnedMemory:
        if self._shadow is None:
            self._shadow = PinnedMemory(self._device, self.size)
        return self._shadow

    def _ends(self, start: int, size: int | None) -> tuple[int, int, int]:
        """Return where a part is in the device and in the shadow, and its size."""
        size = self.size - start if size is None else size
        return self.address + start, self._shadowed().iova + start, size

    def _handle(self, stream: Any) -> int | None:
        return None if stream is None else handle_of(stream, self._device)
