"""Bytes of replayed blocks: donor, block and shard in, stamped bytes out.

They are made when they are stored, and once more when they are compared, so that none are
kept. Each word says which block it is of and where in it it belongs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.verify import stamps

Bytes = npt.NDArray[np.uint8]

# Stamping is fastest where it stays in the processor's caches.
_CHUNK = 256 << 10
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Payloads:
    """The bytes of all donors of a replay.

    Attributes:
        seed: of the stamps.
        sizes: bytes of each shard's blocks.
    """

    seed: int
    sizes: tuple[int, ...]

    @property
    def row_bytes(self) -> int:
        """Bytes of all shards of one block of tokens, each at a multiple of 4."""
        return sum(map(_padded, self.sizes))

    def of(self, donor: str, rows: Range) -> Bytes:
        """Return blocks as `Storage.publish` takes them: by rows and then by shards."""
        out = np.zeros((len(rows), self.row_bytes), np.uint8)
        start = 0
        for shard, size in enumerate(self.sizes):
            for first, blocks in self.blocks(donor, shard, rows):
                at = first - rows.start
                out[at : at + len(blocks), start : start + size] = blocks
            start += _padded(size)
        return out.reshape(-1)

    def blocks(self, donor: str, shard: int, rows: Range) -> Iterator[tuple[int, Bytes]]:
        """Yield blocks of one shard, a few at a time.

        Yields:
            The row of the first, and the blocks: (n, bytes). They are written over when the
            next are asked for.
        """
        size = self.sizes[shard]
        padded = stamps.padded(size)
        most = max(1, _CHUNK // padded)
        memory = np.empty(min(most, len(rows)) * padded, np.uint8)
        for first in range(rows.start, rows.end, most):
            count = min(most, rows.end - first)
            keys = self.numbers(donor, shard, range(first, first + count))
            part = memory[: count * padded]
            stamps.fill(part, count, _VERSION, self.seed, keys)
            yield first, part.reshape(count, padded)[:, :size]

    def numbers(self, donor: str, shard: int, rows: Sequence[int]) -> npt.NDArray[np.uint32]:
        """Return what the stamps of blocks have for their keys."""
        name = hashlib.blake2b(donor.encode(), digest_size=4).digest()
        counted = np.asarray(rows, np.uint64) * len(self.sizes) + shard
        return (counted + int.from_bytes(name, "little")).astype(np.uint32)


def _padded(size: int) -> int:
    return size + -size % 4
