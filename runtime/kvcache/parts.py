"""Blocks larger than a value: blocks in, the values that hold them out.

A block is split into values of `part_bytes`, of which the last may be smaller. Each lies at
its place in the block's slot, so that rejoining is done by where the values land.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kvcache.keyspace import KEY_SIZE, part_key
from xiokv.runtime.kvcache.states import Ints
from xiokv.runtime.kvcache.wanted import Wanted

_PAGE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The values of some blocks, block by block.

    Attributes:
        keys: (m, 16).
        sizes: bytes of each.
        offsets: where each begins.
        firsts: index of the first part of each block.
        blocks: index of the block of each part.
    """

    keys: npt.NDArray[np.uint8]
    sizes: Ints
    offsets: Ints
    firsts: Ints
    blocks: Ints

    def worst(self, values: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return the highest of the parts' values for each block."""
        if len(self.firsts) == len(values):
            return values
        return np.maximum.reduceat(values, self.firsts)

    @property
    def rest(self) -> Ints:
        """Index of each part that is not the first of its block."""
        found: Ints = np.setdiff1d(np.arange(len(self.keys)), self.firsts)
        return found


def split(wanted: Wanted) -> Parts:
    """Return the values that hold blocks."""
    own = np.ascontiguousarray(wanted.digests[:, :KEY_SIZE])
    largest = wanted.part_bytes
    if not largest.any():
        every = np.arange(len(wanted))
        return Parts(own, wanted.sizes, wanted.offsets, every, every)
    counts = np.where(largest > 0, -(-wanted.sizes // np.maximum(largest, 1)), 1)
    firsts = np.cumsum(counts) - counts
    block = np.repeat(np.arange(len(wanted)), counts)
    number = np.arange(len(block)) - firsts[block]
    keys = own[block]
    for index in np.flatnonzero(number).tolist():
        key = part_key(own[block[index]].tobytes(), int(number[index]))
        keys[index] = np.frombuffer(key, np.uint8)
    begins = number * largest[block]
    left = wanted.sizes[block] - begins
    sizes = np.where(largest[block] > 0, np.minimum(left, largest[block]), left)
    return Parts(keys, sizes, wanted.offsets[block] + begins, firsts, block)


def part_bytes_for(value_max: int) -> int:
    """Return the size of parts for a namespace: whole pages where a value holds one."""
    return value_max - value_max % (_PAGE if value_max >= _PAGE else 4)
