"""What a module can run on: a target and a number in, a device out that opens a module.

Vendors' bindings are imported only where their target is asked for, or tried.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Protocol

from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_api import GpuApi
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.drivers.host import HostDriver
from xiokv.runtime.errors import ArgumentFault, MissingFault, RuntimeFault
from xiokv.runtime.images import Image
from xiokv.runtime.log import log


class Device(Protocol):
    """A device that runs modules of one target."""

    target: str

    @property
    def architecture(self) -> str:
        """What a module has to be built for."""

    def open(self, image: Image) -> Driver:
        """Load a file of a module."""


class HostDevice:
    """The processor that this process runs on."""

    target = "host"

    def __init__(self, number: int = 0) -> None:
        """Take the one that there is."""
        if number != 0:
            raise ArgumentFault(f"device {number}: the host is device 0, and there is no other")
        self.architecture = platform.machine()

    def open(self, image: Image) -> Driver:
        """Load a shared library."""
        return HostDriver(image.file)


class Gpu:
    """A GPU."""

    def __init__(self, api: GpuApi, number: int) -> None:
        """Open a device of a vendor's library."""
        self.target = api.name
        self._device = GpuDevice(api, number)

    @property
    def architecture(self) -> str:
        """What a module has to be built for."""
        return self._device.architecture

    def open(self, image: Image) -> Driver:
        """Load a code object."""
        try:
            return GpuDriver(self._device, image.file.read_bytes())
        except MissingFault:
            raise
        except RuntimeFault as fault:
            raise RuntimeFault(f"{image.file} cannot be loaded: {fault}") from fault


def _cuda(number: int) -> Gpu:
    from xiokv.runtime.drivers.cuda_api import CudaApi

    return Gpu(CudaApi(), number)


def _hip(number: int) -> Gpu:
    from xiokv.runtime.drivers.hip_api import HipApi

    return Gpu(HipApi(), number)


# In the order in which they are tried where nobody asks for one.
TARGETS: dict[str, Callable[[int], Device]] = {"cuda": _cuda, "hip": _hip, "host": HostDevice}


def open_device(target: str | None, number: int = 0) -> Device:
    """Open a device of a target, or without one of the first target that has any.

    Raises:
        MissingFault: there is no such device, or what reaches it is not installed.
        RuntimeFault: the device is there, and cannot be used; then no other is tried.
    """
    if target is not None:
        return TARGETS[target](number)
    for name in ("cuda", "hip"):
        try:
            return TARGETS[name](number)
        except MissingFault as fault:
            log.debug("no %s: %s", name, fault)
    return HostDevice(number)
