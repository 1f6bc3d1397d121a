"""Streams of a GPU: the driver's own, and those of other libraries by their handles."""

from __future__ import annotations

from typing import Any

from xiokv.runtime.closing import Closing
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.errors import ArgumentFault, RuntimeFault

# Vendors' own classes, which int() turns into a handle.
_VENDORS = ("ihipStream_t", "CUstream", "cudaStream_t")


class GpuStream(Closing):
    """Ordered work on a device, which does not wait for the default stream.

    Attributes:
        device: whose stream it is.
        is_closed: whether it takes no work any more.
        number: the vendor's handle, also of one that is closed.
    """

    def __init__(self, device: GpuDevice) -> None:
        """Create a stream."""
        self.device = device
        self.is_closed = False
        with device.using():
            self.number = device.api.stream_create()

    @property
    def handle(self) -> int:
        """The vendor's handle, of a stream that takes work."""
        if self.is_closed:
            raise RuntimeFault("the stream takes no work: it is closed")
        return self.number

    def synchronize(self) -> None:
        """Wait for all work; raise where it failed."""
        self.device.drain(self.handle)

    def close(self) -> None:
        """Wait for all work, and destroy the stream; a second call does nothing.

        In a child of fork there is none.
        """
        if self.is_closed or not self.device.is_here:
            return
        try:
            self.device.drain(self.number)
        finally:
            self.is_closed = True
            self.device.give_back(self.device.api.stream_destroy, self.number)


def handle_of(stream: Any, device: GpuDevice) -> int:
    """Return the handle of a stream, whichever library's it is.

    Raises:
        ArgumentFault: it is none, or one of another device.
    """
    if isinstance(stream, GpuStream):
        if (stream.device.api.name, stream.device.number) != (device.api.name, device.number):
            raise ArgumentFault(
                f"stream is one of {stream.device.api.name} device {stream.device.number}, the"
                f" module is on {device.api.name} device {device.number}"
            )
        return stream.handle
    handle = _foreign(stream)
    if handle is None or handle < 0:
        raise ArgumentFault(
            f"stream is {stream!r}; the {device.api.name} driver takes a stream of its own,"
            " a handle as an integer, and the streams of PyTorch, of hip-python and of what"
            " has __cuda_stream__"
        )
    return handle


def _foreign(stream: Any) -> int | None:
    """Return the handle of another library's stream, or None where it is no stream."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if type(stream).__name__ in _VENDORS:
        return int(stream)
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # (version, handle): a method, and in its first form an attribute.
        return int((protocol() if callable(protocol) else protocol)[1])
    handle = getattr(stream, "cuda_stream", None)
    return handle if isinstance(handle, int) else None
