"""A set of blocks to store: size and fates in, keys and stamped values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
import numpy.typing as npt

from xiokv.runtime.drivers.base import Driver, Memory
from xiokv.runtime.verify import stamps
from xiokv.runtime.verify.scenarios import Fate

#: Most bytes of values that one round holds, save where one value is larger.
ROUND_BYTES = 8 << 20
_ROUND_BLOCKS = 1024

_KEY_LENGTHS = 13
_INDEX_BYTES = 4
# Values of odd versions begin off a page, those of even ones on it.
_LEAD_BYTES = 20


def round_max(size: int) -> int:
    """Return the most blocks of one round."""
    return max(1, min(_ROUND_BLOCKS, ROUND_BYTES // max(size, 1)))


def key_of(index: int) -> bytes:
    """Return the key of a block: 4 to 16 bytes, most of them with NULs, no two alike."""
    return index.to_bytes(_INDEX_BYTES, "little").ljust(_INDEX_BYTES + index % _KEY_LENGTHS, b"\0")


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of one size, stamped with one version.

    Attributes:
        size: bytes of each value.
        version: number of this writing.
        keys: a key each.
        fates: what becomes of each.
        memory: holds their values, as they are to be stored.
        offsets: where each value begins in `memory`.
    """

    size: int
    version: int
    keys: list[bytes]
    fates: Sequence[Fate]
    memory: Memory
    offsets: npt.NDArray[np.int64]

    @classmethod
    def stamped(
        cls, driver: Driver, size: int, fates: Sequence[Fate], version: int, seed: int
    ) -> Blocks:
        """Return a block for each fate."""
        count, stride = len(fates), stamps.padded(size)
        lead = _LEAD_BYTES * (version % 2)
        memory = driver.allocate(lead + count * stride, shared=True)
        stamps.fill(memory.view[lead:], count, version, seed)
        keys = [key_of(index) for index in range(count)]
        return cls(size, version, keys, fates, memory, lead + stride * np.arange(count))

    def value(self, index: int, size: int) -> npt.NDArray[np.uint8]:
        """Return the first bytes of a value."""
        start = int(self.offsets[index])
        value: npt.NDArray[np.uint8] = self.memory.view[start : start + size]
        return value

    def stored(self) -> Blocks:
        """Return those blocks that are to be stored."""
        chosen = np.array([fate.stored is not None for fate in self.fates], np.bool_)
        return replace(
            self,
            keys=list(compress(self.keys, chosen)),
            fates=list(compress(self.fates, chosen)),
            offsets=self.offsets[chosen],
        )
