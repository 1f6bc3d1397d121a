"""Host memory that GPUs were let reach, counted: a library takes the same memory only once."""

from __future__ import annotations

import threading

from xiokv.runtime.drivers.gpu_device import GpuDevice


class Registry:
    """Registrations of this process, by library and address."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], int] = {}
        # The garbage collector removes, too, also while this thread adds.
        self._lock = threading.RLock()

    def add(self, device: GpuDevice, address: int, size: int) -> int:
        """Register memory unless it is already; return its device address."""
        key = device.api.name, address
        with self._lock, device.using():
            if key in self._counts:
                mapped = device.api.pointer(address).address
            else:
                mapped = device.api.host_register(address, size)
            self._counts[key] = self._counts.get(key, 0) + 1
        return mapped

    def remove(self, device: GpuDevice, address: int) -> None:
        """Undo one `add`, with the last the registration."""
        key = device.api.name, address
        with self._lock:
            self._counts[key] -= 1
            if self._counts[key] == 0:
                del self._counts[key]
                with device.using():
                    device.api.host_unregister(address)


registry = Registry()
