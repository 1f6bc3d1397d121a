"""Kernels that run beside those of a module, one launch after the other.

In: a kernel's file and its entry. Out: launches in an order of their own, which those of a
module neither wait for nor hold up.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from xiokv.runtime.drivers.gpu_api import Handle
from xiokv.runtime.drivers.gpu_device import GpuDevice, poll
from xiokv.runtime.drivers.host_launch import HostLaunch
from xiokv.runtime.drivers.host_library import HostLibrary
from xiokv.runtime.drivers.host_stream import Stream
from xiokv.runtime.errors import RuntimeFault

_LANES = 256

Waiting = Callable[[], None]
"""Waits for the end of a launch, and raises what became of it."""


class SideKernel(Protocol):
    """A kernel with one argument, passed by value.

    Attributes:
        is_wide: whether a workgroup has several waves.
    """

    is_wide: bool

    def launch(self, argument: ctypes.Structure, groups: int) -> Waiting:
        """Start it on some workgroups, after the launch before; return what waits for its end."""

    def close(self) -> None:
        """Give it back; nothing of it runs any more."""


class HostSideKernel:
    """A kernel on threads of the host, one a workgroup."""

    is_wide = False

    def __init__(self, file: Path, entry: str) -> None:
        """Load the library."""
        self._entry = HostLibrary(file).address(entry)
        if not self._entry:
            raise RuntimeFault(f"{file} has no kernel {entry}")
        self._stream = Stream()

    def launch(self, argument: ctypes.Structure, groups: int) -> Waiting:
        """Start it after the launch before."""
        launch = HostLaunch(self._stream, self._entry, argument, groups)

        def waiting() -> None:
            launch.wait()

        return waiting

    def close(self) -> None:
        """End the thread that starts launches."""
        self._stream.close()


class GpuSideKernel:
    """A kernel on a GPU, on a stream whose kernels go before those of others."""

    is_wide = True

    def __init__(self, device: GpuDevice, file: Path, entry: str) -> None:
        """Load the image."""
        self._device = device
        api = device.api
        with device.using(), ExitStack() as owned:
            self._image = file.read_bytes()
            module = api.load(self._image)
            owned.callback(device.give_back, api.unload, module)
            function = api.function(module, entry)
            if function is None:
                raise RuntimeFault(f"{file} has no kernel {entry}")
            self._function: Handle = function
            self._stream = api.urgent_stream_create()
            owned.callback(device.give_back, api.stream_destroy, self._stream)
            self._owned = owned.pop_all()

    def launch(self, argument: ctypes.Structure, groups: int) -> Waiting:
        """Start it in its stream."""
        api = self._device.api
        with self._device.using():
            event = api.event_create()
            try:
                api.launch(self._function, groups, _LANES, self._stream, argument)
                api.event_record(event, self._stream)
            except RuntimeFault:
                # It may run all the same, and nobody will wait for it.
                self._device.wait_out(self._stream)
                self._device.give_back(api.event_destroy, event)
                raise

        def waiting() -> None:
            try:
                poll(lambda: self._device.has_come(event))
            finally:
                self._device.give_back(api.event_destroy, event)

        return waiting

    def close(self) -> None:
        """Destroy stream and module; a second call does nothing."""
        self._owned.close()
