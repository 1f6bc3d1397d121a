"""A batch on a GPU, from its launch to its end, which an event tells."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Launch
from xiokv.runtime.drivers.gpu_api import Handle
from xiokv.runtime.drivers.gpu_device import GpuDevice, poll
from xiokv.runtime.errors import LostFault, RuntimeFault
from xiokv.runtime.home import Home

_LANES = 256


class GpuLaunch:
    """A batch on a GPU.

    Args:
        device: where it runs.
        stream: handle of its stream.
        kept: what has to live until its end.
    """

    def __init__(self, device: GpuDevice, stream: int, *kept: Any) -> None:
        self.stream = stream
        self._device = device
        self._kept = kept
        self._home = Home("batch")
        self._lock = threading.Lock()
        self._failure: LostFault | None = None
        self._recorded = False
        self._event: Handle | None = device.api.event_create()

    def start(self, function: Handle, batch: abi.Batch, after: Launch | None) -> None:
        """Launch the kernel, a workgroup a queue."""
        api = self._device.api
        if isinstance(after, GpuLaunch):
            after.go_before(self.stream)
        api.launch(function, batch.queue_count, _LANES, self.stream, batch)
        api.event_record(self._event, self.stream)
        self._recorded = True

    def go_before(self, stream: int) -> None:
        """Let the later work of a stream wait for the end."""
        with self._lock:
            if self._event is not None:
                self._device.api.stream_wait(stream, self._event)

    @property
    def done(self) -> bool:
        """Tell whether the kernel has ended, without waiting."""
        if self._event is not None and self._recorded and self._home.is_here:
            with self._lock:
                self._look()
        return self._event is None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; raise what became of the kernel."""
        if self._event is not None:
            self._home.check()
        if not poll(lambda: self.done, timeout):
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def conclude(self) -> None:
        """Take note that it has ended: its stream is known to be empty."""
        with self._lock:
            self._end()

    def _look(self) -> None:
        try:
            ended = self._event is None or self._device.has_come(self._event)
        except LostFault as fault:
            self._failure = fault
            ended = True
        if ended:
            self._end()

    def _end(self) -> None:
        event, self._event = self._event, None
        self._kept = ()
        if event is not None:
            # Not worth a warning: after a failure the library destroys nothing.
            with suppress(RuntimeFault), self._device.using():
                self._device.api.event_destroy(event)
