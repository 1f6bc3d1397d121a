"""Blocks of a call: digests, sizes and places, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xiokv.runtime.arguments import integer, integers
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.keyspace import DIGEST_SIZE, Digests
from xiokv.runtime.kvcache.states import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Blocks of a call.

    Attributes:
        digests: (n, 32).
        sizes: bytes of each.
        offsets: where each begins in the caller's memory.
        part_bytes: largest value of each; 0 for one that is a single value.
    """

    digests: Digests
    sizes: Ints
    offsets: Ints
    part_bytes: Ints

    def __len__(self) -> int:
        return len(self.digests)

    def chosen(self, which: Ints) -> Wanted:
        """Return some of them."""
        return Wanted(
            self.digests[which], self.sizes[which], self.offsets[which], self.part_bytes[which]
        )

    def packed(self) -> Wanted:
        """Return the same blocks, one after the other in memory of their own."""
        return replace(self, offsets=one_after_the_other(self.sizes))

    @property
    def end(self) -> int:
        """Bytes of the memory that they need."""
        return int((self.offsets + self.sizes).max(initial=0))


def one_after_the_other(sizes: Ints) -> Ints:
    """Return offsets that leave no more between blocks than their alignment needs."""
    padded = sizes + -sizes % 4
    offsets: Ints = np.cumsum(padded) - padded
    return offsets


def wanted_blocks(digests: Any, sizes: Any, offsets: Any = None, part_bytes: Any = 0) -> Wanted:
    """Check what a call says of its blocks.

    Args:
        digests: (n, 32) uint8 array.
        sizes: bytes of each, or one number for all.
        offsets: where each begins; None: one after the other.
        part_bytes: largest value of a block, one number for all or one a block; 0: no limit.

    Raises:
        ArgumentFault: something of it cannot be.
    """
    count = len(checked_digests(digests))
    if np.ndim(sizes) == 0:
        sizes = np.full(count, integer("sizes", sizes))
    sizes = integers("sizes", sizes, count)
    if count and sizes.min() < 1:
        raise ArgumentFault(f"sizes: {sizes.min()} is seen; a block has 1 byte or more")
    offsets = one_after_the_other(sizes) if offsets is None else integers("offsets", offsets, count)
    largest = integers("part_bytes", np.broadcast_to(part_bytes, count), count)
    return Wanted(digests, sizes, offsets, np.where(sizes > largest, largest, 0))


def check_within(name: str, size: int, offsets: Ints, sizes: Ints) -> None:
    """Refuse blocks that leave a buffer.

    Args:
        name: of the argument, for messages.
        size: bytes of the buffer.
        offsets: where each block begins.
        sizes: bytes of each.
    """
    outside = np.flatnonzero((offsets < 0) | (sizes > size) | (offsets > size - sizes))
    if outside.size:
        first = outside[0]
        raise ArgumentFault(
            f"block {first} of {sizes[first]} bytes at offset {offsets[first]} leaves {name}, which"
            f" has {size} bytes"
        )


def checked_digests(digests: Any) -> Digests:
    """Return digests, or refuse what is none."""
    if (
        not isinstance(digests, np.ndarray)
        or digests.dtype != np.uint8
        or digests.shape[1:] != (DIGEST_SIZE,)
    ):
        raise ArgumentFault(
            f"digests are an (n, {DIGEST_SIZE}) uint8 array, as Keyspace.digests returns one"
        )
    return digests
