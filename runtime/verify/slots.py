"""Where the blocks of a Retrieve go: slot sizes in, a poisoned buffer with guards out.

Slots begin on a page boundary and off it in turn. Before, between and after them lie bytes
that nobody may write.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from xiokv.runtime.abi import PAGE_BYTES
from xiokv.runtime.buffers import ALIGNMENT
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.verify.stamps import POISON

_GUARDS_MAX = 32


class Slots:
    """A buffer of slots, all of it poisoned; a context manager that frees it.

    Attributes:
        starts: where each slot begins in `out`, rising.
        sizes: bytes of each slot.
        out: the whole buffer, slots and guards.
    """

    def __init__(self, driver: Driver, sizes: Sequence[int], random: np.random.Generator) -> None:
        """Lay the slots out; `random` says how far off a page every other slot begins."""
        guards = ALIGNMENT * random.integers(1, _GUARDS_MAX, len(sizes))
        self.sizes = np.array(sizes, np.int64)
        self.starts = np.zeros(len(sizes), np.int64)
        end = 0
        for index, size in enumerate(sizes):
            # Of every pair, the first slot begins on a page and the other soon after it.
            unit = ALIGNMENT if index % 2 else PAGE_BYTES
            start = -(-(end + int(guards[index])) // unit) * unit
            self.starts[index] = start
            end = start + size
        self._memory = driver.allocate(end + PAGE_BYTES)
        self.out: npt.NDArray[np.uint8] = self._memory.view
        self.out[:] = POISON

    def __enter__(self) -> Slots:
        return self

    def __exit__(self, *_: object) -> None:
        """Free the buffer; what a dead queue may still write stays until it is deleted."""
        self.out = np.empty(0, np.uint8)
        self._memory.free()

    def around(self, at: int) -> int:
        """Return which slot lies at a place or last before it; -1 before the first."""
        return int(np.searchsorted(self.starts, at, side="right")) - 1
