"""Copies of values in memory that the controller reaches, for callers whose memory it does not.

One block is used again and again, by one batch at a time. It grows only while no batch runs,
because on some devices an allocation waits for running kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy.typing as npt

from xiokv.runtime.buffer import Buffer
from xiokv.runtime.drivers.base import Driver, Place
from xiokv.runtime.spans import Span


class Staging:
    """The block, free or in use.

    Args:
        driver: whose memory it is.
        place: where it lies.
    """

    def __init__(self, driver: Driver, place: Place) -> None:
        self._driver = driver
        self._place = place
        self._free: Buffer | None = None

    def take(self, size: int) -> Buffer | None:
        """Return the block, or None where it is in use or smaller."""
        block = self._free
        if block is None or block.nbytes < size:
            return None
        self._free = None
        return block

    def give(self, block: Buffer) -> None:
        """Take the block back."""
        self._free = block

    def grow(self, size: int) -> None:
        """Replace the block, which is not in use, by one of `size` bytes or more."""
        self.free()
        size = 1 << max(size - 1, 1).bit_length()
        self._free = Buffer(self._driver.allocate(size, self._place, shared=True))

    def free(self) -> None:
        """Let go of the block, unless it is in use."""
        self._free = None


class Staged(ABC):
    """What one batch has in the block.

    Args:
        staging: where the block comes from.
        block: it.
        size: bytes of it that the batch uses.
    """

    def __init__(self, staging: Staging, block: Buffer, size: int) -> None:
        self._staging = staging
        self._block = block
        self._size = size

    @property
    def memory(self) -> Span:
        """Where it lies."""
        return Span(self._block.iova, self._size, self._block)

    def upload(self, stream: Any) -> None:
        """Bring it to where it lies before what comes later in the stream."""
        self._block.upload(0, self._size, stream)

    @abstractmethod
    def take_back(self, records: npt.NDArray[Any]) -> None:
        """Copy to the caller's memory what the batch filled, as its records say."""

    def give_back(self) -> None:
        """Let other batches use the block; the controller touches it no more."""
        self._staging.give(self._block)


class Copy(Staged):
    """The values of one batch in the block.

    Args:
        staging: where the block comes from.
        block: it.
        span: the caller's memory.
        back: whether the batch fills it, so that it is copied back at the end.
    """

    def __init__(self, staging: Staging, block: Buffer, span: Span, back: bool) -> None:
        super().__init__(staging, block, span.size)
        self._span = span
        self._back = back
        # For a Retrieve, too: what no value covers stays as it is.
        block.view[: span.size] = span.view

    def take_back(self, records: npt.NDArray[Any]) -> None:
        """Copy to the caller's memory what the batch filled: all of it, whatever the records."""
        if self._back:
            self._block.download(0, self._size)
            self._span.view[:] = self._block.view[: self._size]
