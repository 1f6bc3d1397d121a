"""Slots of vLLM's blocks: in the caches, or on the host where the engine does not reach those."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from xiokv.runtime.connectors.blocks import Flags
from xiokv.runtime.connectors.raw import Bytes
from xiokv.runtime.connectors.slots import HostSlots
from xiokv.runtime.kvcache.states import Ints
from xiokv.runtime.kvcache.wanted import one_after_the_other


class Rows(Protocol):
    """The bytes of blocks, by run and block."""

    def read(self, run: int, ids: list[int]) -> Bytes:
        """Return the bytes of blocks of a run on the host: (blocks, bytes)."""

    def write(self, run: int, ids: list[int], content: Bytes) -> None:
        """Replace the bytes of blocks of a run."""


@dataclass(frozen=True, slots=True)
class CacheSlots:
    """Slots in a storage, which may be a GPU's; run by run.

    Attributes:
        memory: the storage.
        offsets: where each begins.
        sizes: bytes of each.
        rows: of the storage.
        ids: the blocks.
        runs: the runs of each.
    """

    memory: Any
    offsets: Ints
    sizes: Ints
    rows: Rows
    ids: Ints
    runs: range

    def read(self, which: Ints) -> Iterable[Any]:
        """Yield the bytes of some slots, gathered run by run."""
        numbers, places = np.divmod(which, max(len(self.ids), 1))
        for number in np.unique(numbers).tolist():
            yield from self.rows.read(
                self.runs[number], self.ids[places[numbers == number]].tolist()
            )

    def land(self, found: Flags) -> None:
        """Do nothing: the bytes are where they belong."""


@dataclass(frozen=True, slots=True)
class HostCopies(HostSlots):
    """Copies on the host of what is in slots of a storage; run by run."""

    rows: Rows
    ids: Ints
    runs: range

    def fill(self) -> None:
        """Copy from the storage."""
        for number, run in enumerate(self.runs):
            self._of(number)[:] = self.rows.read(run, self.ids.tolist())

    def land(self, found: Flags) -> None:
        """Copy to the storage what is right, and nothing else."""
        for number, run in enumerate(self.runs):
            right = np.flatnonzero(found[number * len(self.ids) :][: len(self.ids)])
            if right.size:
                self.rows.write(run, self.ids[right].tolist(), self._of(number)[right])

    def _of(self, number: int) -> Bytes:
        """Return the copies of one run: (blocks, bytes)."""
        first, count = number * len(self.ids), len(self.ids)
        size = int(self.sizes[first])
        step = size + -size % 4
        begin = int(self.offsets[first])
        return self.memory[begin : begin + count * step].reshape(count, step)[:, :size]


def host_copies(rows: Rows, ids: Ints, runs: range, sizes: Ints) -> HostCopies:
    """Return room on the host for copies of slots.

    Args:
        rows: of the storage.
        ids: the blocks.
        runs: the runs of each.
        sizes: bytes of each slot, run by run.
    """
    offsets = one_after_the_other(sizes)
    memory = np.zeros(int((sizes + -sizes % 4).sum()), np.uint8)
    return HostCopies(memory, offsets, sizes, rows, ids, runs)
