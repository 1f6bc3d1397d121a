"""What every driver provides: memory, launches, streams and a clock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from xiokv.runtime import abi


class Memory(Protocol):
    """Memory that host, device and controller reach; freed by `free` or never.

    Attributes:
        address: device address.
        iova: address for the controller.
        view: the bytes on the host, as a writable uint8 array.
    """

    address: int
    iova: int
    view: Any

    def free(self) -> None:
        """Give the memory back; a second call does nothing."""


class Launch(Protocol):
    """A batch that has been handed to the device."""

    @property
    def done(self) -> bool:
        """Tell whether the kernel has ended, without waiting."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; return `done`."""


class Driver(Protocol):
    """One kind of device."""

    name: str

    def module_abi(self) -> tuple[int, int]:
        """Return (ABI version, layout hash) as read from inside the module."""

    def module_spec(self) -> str:
        """Return the spec identity as read from inside the module."""

    def missing(self, symbols: Iterable[str]) -> list[str]:
        """Return those of `symbols` that the module does not have."""

    def allocate(self, size: int) -> Memory:
        """Return `size` zeroed bytes on a page boundary."""

    def ticks(self, seconds: float) -> int:
        """Return seconds as ticks of the engine's clock."""

    def stream(self) -> Any:
        """Return a new stream, whose `close` waits for its work."""

    def check_stream(self, stream: Any) -> None:
        """Refuse what is no stream of this driver, with an ArgumentFault."""

    def launch(self, kernel: str, batch: abi.Batch, stream: Any, after: Launch | None) -> Launch:
        """Start a kernel on `batch.queue_count` queues.

        Args:
            kernel: name of the entry in the module.
            batch: read before the launch returns. The driver holds the object itself until
                the end, so that whatever hangs on it (``batch.kept = arrays``) lives as
                long as the kernel, even where the caller was interrupted.
            stream: order among other work.
            after: a launch that has to end first, in whatever stream it is.
        """

    def settle(self, stream: Any) -> None:
        """Wait until nothing in a stream runs any more.

        For a `launch` that was interrupted: nobody knows whether its kernel has started.
        """
