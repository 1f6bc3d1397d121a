"""Buffers that requests' blocks land in: sizes in, poisoned memory that is used again out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xiokv.runtime.buffer import Buffer
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.verify.stamps import POISON

_SMALLEST = 64 << 10


class Buffers:
    """Memory for one request at a time.

    On the host a request gets a part of one array, which grows; in a GPU it gets a buffer of
    its size class, so that no more is copied to the host to be checked than twice its size.

    Args:
        empty: returns memory for so many bytes: ``module.empty``, or None for NumPy's.

    Attributes:
        before_use: is called when a plan's spans were decided on and nothing was retrieved yet.
    """

    def __init__(self, empty: Callable[[int], Buffer] | None = None) -> None:
        self._empty = empty
        self._kept: dict[int, Any] = {}
        self.before_use: Callable[[], None] = _nothing

    def allocate(self, size: int) -> Any:
        """Return memory of at least so many bytes, in which nothing of an earlier use is."""
        found = self._found(size)
        if isinstance(found, Buffer):
            found.view[:] = POISON
            found.upload()
        else:
            found[:] = POISON
        self.before_use()
        return found

    def undisturbed(self) -> None:
        """Call nothing before use any more."""
        self.before_use = _nothing

    def forget(self) -> None:
        """Keep no memory, since a late command may still write there."""
        self._kept.clear()

    def _found(self, size: int) -> Any:
        largest = max(self._kept, default=0)
        if self._kept and largest >= size and not _is_on_gpu(self._kept[largest]):
            return _part(self._kept[largest], size)
        rounded = max(_SMALLEST, 1 << max(0, size - 1).bit_length())
        if rounded not in self._kept:
            made = self._empty(rounded) if self._empty else np.empty(rounded, np.uint8)
            if not _is_on_gpu(made):
                self._kept.clear()
            self._kept[rounded] = made
        return _part(self._kept[rounded], size)


def _part(memory: Any, size: int) -> Any:
    """Return the first bytes of memory on the host, or a whole buffer in a GPU."""
    if _is_on_gpu(memory):
        return memory
    return (memory.view if isinstance(memory, Buffer) else memory)[:size]


def _is_on_gpu(memory: Any) -> bool:
    return isinstance(memory, Buffer) and memory.place is Place.DEVICE


def _nothing() -> None:
    """Do nothing."""
