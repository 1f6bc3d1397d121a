"""What every driver provides: memory, launches, streams and a clock."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Protocol

from xiokv.runtime import abi

if TYPE_CHECKING:
    from xiokv.runtime.drivers.side_kernel import SideKernel
    from xiokv.runtime.emulator.library import DmaHook
    from xiokv.runtime.spans import Span


class Place(Enum):
    """Where memory is; the host driver has no device's."""

    #: On the host, page-locked and mapped: host, device and controller reach it.
    HOST = auto()
    #: In the device's own memory.
    DEVICE = auto()


class Memory(Protocol):
    """Memory that the device reaches; freed by `free` or never.

    Attributes:
        place: where it is.
        size: its bytes.
        address: device address.
        iova: address for the controller.
    """

    place: Place
    size: int
    address: int
    iova: int

    @property
    def view(self) -> Any:
        """The bytes on the host, as a writable uint8 array.

        For memory of the device it is a page-locked shadow, made when it is first asked
        for, which only `upload` and `download` bring up to date.
        """

    @property
    def view_address(self) -> int:
        """Device address of `view`: where there is no shadow, `address`."""

    def upload(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Copy from the shadow to the device; where there is no shadow, do nothing.

        Args:
            start: first byte.
            size: bytes; by default all that follow.
            stream: copy in its order and return at once; without one, wait for the copy.
        """

    def download(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Copy from the device to the shadow; arguments as for `upload`."""

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
    """One device.

    Attributes:
        name: its kind, the module's target.
    """

    name: str

    @property
    def exchange(self) -> int | None:
        """Handle of a stream that runs nothing.

        Other libraries let it wait for their work on the device's memory. None where the
        device has no memory of its own.
        """

    def module_abi(self) -> tuple[int, int]:
        """Return (ABI version, layout hash) as read from inside the module."""

    def module_spec(self) -> str:
        """Return the spec identity as read from inside the module."""

    def missing(self, symbols: Iterable[str]) -> list[str]:
        """Return those of `symbols` that the module does not have."""

    def allocate(self, size: int, place: Place = Place.HOST, *, shared: bool = False) -> Memory:
        """Return `size` zeroed bytes on a page boundary.

        Args:
            size: bytes.
            place: where.
            shared: the controller reaches it, too, while kernels run. Memory on the host
                is always so; a device may have to keep it out of its caches.
        """

    def register(self, address: int, size: int) -> int:
        """Let the device reach memory of the host, such as doorbells; return its address there.

        Each call wants an `unregister` before the memory is gone.
        """

    def unregister(self, address: int) -> None:
        """Undo one `register`."""

    def dma_hook(self) -> DmaHook | None:
        """Return what reaches the device's memory for a controller that runs on the CPU.

        None where the CPU reaches all memory by load and store.
        """

    def reaches(self, name: str, span: Span) -> bool:
        """Tell whether the controller reaches memory of the caller where it lies.

        Args:
            name: of the argument, for messages.
            span: the memory.

        Raises:
            ArgumentFault: it is another device's.
        """

    def ticks(self, seconds: float) -> int:
        """Return seconds as ticks of the engine's clock."""

    def stream(self) -> Any:
        """Return a new stream, whose `close` waits for its work."""

    def check_stream(self, stream: Any) -> None:
        """Refuse what is no stream of this driver, with an ArgumentFault."""

    def follow(self, stream: Any, other: int) -> None:
        """Let the later work of a stream wait for the present work of another library's.

        Args:
            stream: as for `launch`.
            other: its handle.
        """

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

    def side_kernel(self, name: str) -> SideKernel:
        """Return a kernel of `xiokv.runtime.gpu`, to run beside those of the module.

        Raises:
            MissingFault: there is no compiler for it.
        """

    def settle(self, stream: Any) -> None:
        """Wait until nothing in a stream runs any more.

        For a `launch` that was interrupted: nobody knows whether its kernel has started.
        """
