"""Memory that batches need beside their values, allocated ahead and used again.

A slab holds what the engine reads and writes for one batch: stop flag, state, keys,
lengths, sizes, offsets, results; 37 bytes a key, and 4 for each dword that semantic fields
fill a key. A pool has 2 to 16 slabs of one size,
as 64 MiB allow. It allocates at attach, and later only while no batch runs, because on
some devices an allocation waits for running kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime import abi
from xiokv.runtime.buffers import Values
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.keys import Keys
from xiokv.runtime.results import RECORD
from xiokv.runtime.semantic import DWORDS, Place

FIRST_KEYS = 4096
SLABS_MIN, SLABS_MAX = 2, 16
POOL_BYTES = 64 << 20

_HEAD_BYTES = ctypes.sizeof(abi.Stop) + ctypes.sizeof(abi.BatchState)


def columns(dwords: Sequence[int]) -> list[tuple[str, npt.DTypeLike, int]]:
    """Return name, type and width of what there is for each key, by falling alignment."""
    return [
        ("keys", "u1", 16),
        ("offsets", "<u8", 1),
        ("results", RECORD, 1),
        ("sizes", "<u4", 1),
        *((f"cdw{dword}", "<u4", 1) for dword in dwords),
        ("lengths", "u1", 1),
    ]


def key_bytes(dwords: Sequence[int]) -> int:
    """Return the bytes of a slab for each key."""
    return sum(np.dtype(kind).itemsize * width for _, kind, width in columns(dwords))


class Slab:
    """Memory for one batch of up to `capacity` keys.

    Args:
        driver: whose memory it is.
        capacity: most keys.
        dwords: those that semantic fields may fill a key.

    Attributes:
        results: a `RECORD` a key.
    """

    def __init__(self, driver: Driver, capacity: int, dwords: Sequence[int]) -> None:
        self._memory = driver.allocate(_HEAD_BYTES + capacity * key_bytes(dwords))
        self._head = self._memory.view[:_HEAD_BYTES].view("<u4")
        self._columns: dict[str, npt.NDArray[Any]] = {}
        self._addresses: dict[str, int] = {}
        at = _HEAD_BYTES
        for name, kind, width in columns(dwords):
            end = at + capacity * width * np.dtype(kind).itemsize
            column = self._memory.view[at:end].view(kind)
            self._columns[name] = column.reshape(-1, width) if width > 1 else column
            self._addresses[name] = self._memory.address + at
            at = end
        self.results = self._columns["results"]

    def fill(self, keys: Keys, values: Values, semantic: Sequence[Place]) -> abi.Batch:
        """Take in a batch; return what describes its keys and values to the engine."""
        count = len(keys)
        self._head[:] = 0
        self.results[:count] = 0
        self._columns["keys"][:count] = keys.rows
        return abi.Batch(
            stop=self._memory.address,
            state=self._memory.address + ctypes.sizeof(abi.Stop),
            keys=self._addresses["keys"],
            results=self._addresses["results"],
            key_lengths=self._put("lengths", keys.lengths),
            sizes=self._put("sizes", values.sizes),
            offsets=self._put("offsets", values.offsets),
            stride=values.stride,
            iova=values.iova,
            count=count,
            key_length=keys.length,
            value_size=values.size,
            semantic=tuple(
                abi.Semantic(self._put(f"cdw{dword}", place.per_key), place.mask, place.value)
                for dword, place in zip(DWORDS, semantic, strict=True)
            ),
        )

    def stop(self) -> None:
        """Raise the stop flag of the batch in here."""
        self._head[0] = 1

    def free(self) -> None:
        """Give the memory back."""
        self._memory.free()

    def _put(self, name: str, column: npt.NDArray[Any] | None) -> int:
        """Copy a column in; return its address, or 0 where there is none."""
        if column is None:
            return 0
        self._columns[name][: len(column)] = column
        return self._addresses[name]


class Pool:
    """Slabs of one size, free or in use."""

    def __init__(self, driver: Driver, dwords: Sequence[int] = ()) -> None:
        self._driver = driver
        self._dwords = dwords
        self._capacity = 0
        self._free: list[Slab] = []
        self.grow(FIRST_KEYS)

    def take(self, count: int) -> Slab | None:
        """Return a free slab that holds `count` keys, or None."""
        return self._free.pop() if self._free and count <= self._capacity else None

    def give(self, slab: Slab) -> None:
        """Take a slab back."""
        self._free.append(slab)

    def grow(self, count: int) -> None:
        """Replace all slabs, none of which is in use, by some that hold `count` keys."""
        self.free()
        self._capacity = 1 << max(count - 1, 1).bit_length()
        number = POOL_BYTES // (self._capacity * key_bytes(self._dwords))
        for _ in range(min(max(number, SLABS_MIN), SLABS_MAX)):
            self._free.append(Slab(self._driver, self._capacity, self._dwords))

    def free(self) -> None:
        """Give all slabs back; none is in use."""
        while self._free:
            self._free.pop().free()
