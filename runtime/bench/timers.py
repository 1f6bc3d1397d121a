"""How long a kernel takes: by the events of its device, or on the host by a monotonic clock.

In: a module, a kernel of it and a batch. Out: seconds of that kernel alone. What Python
does is outside: on a device the kernel is held back until all that times it is in the
stream; on the host threads wait at a line.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Protocol

from xiokv.runtime import abi
from xiokv.runtime.bench import cpu
from xiokv.runtime.drivers.base import Launch
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.module import Module

# A kernel whose commands fail has given up by then.
_PATIENCE = 60.0
_GATE_SECONDS = 2.0


class Timer(Protocol):
    """Times kernels of one target."""

    def seconds(
        self, module: Module, kernel: str, batch: abi.Batch, cpus: Sequence[int] = ()
    ) -> float:
        """Run a kernel once, given its entry; `cpus` are for its threads, where it has any."""

    def close(self) -> None:
        """Give everything back."""


class HostTimer:
    """Times kernels on threads."""

    def seconds(
        self, module: Module, kernel: str, batch: abi.Batch, cpus: Sequence[int] = ()
    ) -> float:
        """Run a kernel once, a thread a queue."""
        return cpu.race(cpu.function(module.path, kernel), batch, cpus)

    def close(self) -> None:
        """Do nothing."""


class DeviceTimer:
    """Times kernels on a GPU, between two events of one stream.

    Args:
        baselines: the module that has the gate.

    Attributes:
        device: where they run.
    """

    def __init__(self, baselines: Module) -> None:
        driver = baselines.driver
        self._baselines = baselines
        self._stream = driver.stream()
        self.device: GpuDevice = self._stream.device
        self._gate = driver.allocate(ctypes.sizeof(abi.Stop))
        self._deadline = driver.ticks(_GATE_SECONDS)
        with self.device.using():
            self._begin = self.device.api.event_create(timing=True)
            self._end = self.device.api.event_create(timing=True)

    def seconds(
        self, module: Module, kernel: str, batch: abi.Batch, cpus: Sequence[int] = ()
    ) -> float:
        """Run a kernel once behind the gate."""
        return self.between(lambda: module.driver.launch(kernel, batch, self._stream, None))

    def between(self, work: Callable[[], Launch | None]) -> float:
        """Return the device's seconds for what `work` puts into the stream."""
        api, stream = self.device.api, self._stream.handle
        self._gate.view[:] = 0
        gate = abi.Batch(stop=self._gate.address, queue_count=1, deadline=self._deadline)
        with self.device.using():
            self._baselines.driver.launch("xiokv_batch_gate", gate, self._stream, None)
            api.event_record(self._begin, stream)
            launch = work()
            api.event_record(self._end, stream)
            self._gate.view[0] = 1
            if launch is not None and not launch.wait(_PATIENCE):
                raise RuntimeFault(f"a kernel has not ended after {_PATIENCE:.0f} seconds")
            self._stream.synchronize()
            return float(api.event_seconds(self._begin, self._end))

    @property
    def handle(self) -> int:
        """The vendor's handle of the stream."""
        return int(self._stream.handle)

    @property
    def described(self) -> dict[str, str]:
        """What the device is."""
        api, number = self.device.api, self.device.number
        with self.device.using():
            return {
                "device": api.device_name(number),
                "architecture": self.device.architecture,
            }

    def close(self) -> None:
        """Destroy the stream and the events."""
        self._stream.close()
        with self.device.using():
            self.device.api.event_destroy(self._begin)
            self.device.api.event_destroy(self._end)
        self._gate.free()
