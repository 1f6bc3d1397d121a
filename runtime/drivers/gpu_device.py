"""One GPU, as the calling process opened it: what memory, streams and launches share."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from xiokv.runtime.drivers.gpu_api import GpuApi, Handle
from xiokv.runtime.errors import LostFault, MissingFault, RuntimeFault
from xiokv.runtime.home import Home
from xiokv.runtime.log import log

# A batch of a few keys ends within this time: asked at once, its end is seen at once.
_SPIN_SECONDS = 200e-6
_PAUSE_MIN, _PAUSE_MAX = 20e-6, 1e-3


class GpuDevice:
    """A device of a vendor's library.

    Args:
        api: the library.
        number: which of its devices.

    Attributes:
        architecture: what code has to be built for.

    Raises:
        MissingFault: there is no such device.
    """

    def __init__(self, api: GpuApi, number: int = 0) -> None:
        count = api.device_count()
        if not 0 <= number < count:
            raise MissingFault(f"no device {number}: {api.name} has {count}, from 0 on")
        self.api = api
        self.number = number
        self._home = Home("GPU")
        with api.using(number):
            self.architecture = api.architecture(number)
            self._copies = api.stream_create()
        weakref.finalize(self, _destroy, api, number, self._home, self._copies).atexit = False

    @property
    def is_here(self) -> bool:
        """Whether this is the process that opened it; a child of fork may not touch it."""
        return self._home.is_here

    def using(self) -> AbstractContextManager[None]:
        """Make it the calling thread's device for a while."""
        self._home.check()
        return self.api.using(self.number)

    def copy(self, destination: int, source: int, size: int, stream: int | None) -> None:
        """Copy in the order of a stream, or without one at once."""
        with self.using():
            self.api.copy(destination, source, size, self._copies if stream is None else stream)
            if stream is None:
                self.api.stream_synchronize(self._copies)

    def zero(self, address: int, size: int) -> None:
        """Fill memory of the device with zeroes."""
        with self.using():
            self.api.zero(address, size, self._copies)
            self.api.stream_synchronize(self._copies)

    def follow(self, stream: int, other: int) -> None:
        """Let the later work of a stream wait for the present work of another."""
        if stream == other:
            return
        with self.using():
            event = self.api.event_create()
            try:
                self.api.event_record(event, other)
                self.api.stream_wait(stream, event)
            finally:
                self.api.event_destroy(event)

    def has_come(self, event: Handle) -> bool:
        """Tell whether an event has come.

        Raises:
            LostFault: a kernel before it failed.
        """
        try:
            with self.using():
                return self.api.event_query(event)
        except RuntimeFault as fault:
            raise LostFault(
                f"a kernel failed on its device: {fault}; which of its commands were carried out"
                " nobody knows"
            ) from fault

    def give_back(self, free: Callable[[Any], None], what: Any) -> None:
        """Give back memory or a handle, which a device that has failed does not take."""
        if not self.is_here:
            return
        try:
            with self.using():
                free(what)
        except RuntimeFault as fault:
            log.warning("a device does not take back what it gave: %s", fault)

    def drain(self, stream: int) -> None:
        """Wait for the present work of a stream.

        Raises:
            LostFault: some of it failed.
        """
        with self.using():
            event = self.api.event_create()
            try:
                self.api.event_record(event, stream)
                poll(lambda: self.has_come(event))
            finally:
                self.api.event_destroy(event)

    def wait_out(self, stream: int) -> None:
        """Wait for the present work of a stream, whatever becomes of it."""
        try:
            self.drain(stream)
        except LostFault:
            pass  # A device that has failed runs nothing any more.
        except RuntimeFault:
            # No event was to be had, which says nothing of the work.
            with suppress(RuntimeFault), self.using():
                self.api.stream_synchronize(stream)


def _destroy(api: GpuApi, number: int, home: Home, stream: int) -> None:
    if home.is_here:
        with suppress(RuntimeFault), api.using(number):
            api.stream_destroy(stream)


def poll(ended: Callable[[], bool], timeout: float | None = None) -> bool:
    """Ask again and again, ever less often, so that an interrupt comes through meanwhile.

    Returns:
        Whether it has ended; False only after `timeout` seconds.
    """
    begin = time.monotonic()
    pause = _PAUSE_MIN
    while not ended():
        waited = time.monotonic() - begin
        if timeout is not None and waited >= timeout:
            return False
        if waited > _SPIN_SECONDS:
            time.sleep(pause if timeout is None else min(pause, timeout - waited))
            pause = min(2 * pause, _PAUSE_MAX)
    return True
