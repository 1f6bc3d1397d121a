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
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime import abi
from xiokv.runtime.buffers import Values
from xiokv.runtime.drivers.base import Driver, Place
from xiokv.runtime.keys import Keys
from xiokv.runtime.results import RECORD
from xiokv.runtime.semantic import SemanticBits

FIRST_KEYS = 4096
SLABS_MIN, SLABS_MAX = 2, 16
POOL_BYTES = 64 << 20

# So few keys a kernel reads from the host sooner than they are copied to it.
IN_PLACE_MAX = 256

_STATE_BYTES = ctypes.sizeof(abi.BatchState)
_STOP_BYTES = ctypes.sizeof(abi.Stop)
_KEY_BYTES = 16 + 8 + 4 + 1


def key_bytes(dwords: Sequence[int]) -> int:
    """Return the bytes of a slab for each key."""
    return _input_bytes(dwords) + RECORD.itemsize


def _input_bytes(dwords: Sequence[int]) -> int:
    return _KEY_BYTES + 4 * len(dwords)


class Slab:
    """Memory for one batch of up to `capacity` keys.

    What the engine reads lies in the device's memory where it has any, after the state that
    the queues share; it is written on the host and copied there, all in one piece. Stop flag
    and results lie on the host.

    Args:
        driver: whose memory it is.
        capacity: most keys.
        dwords: those that semantic fields may fill a key.

    Attributes:
        results: a `RECORD` a key.
    """

    def __init__(self, driver: Driver, capacity: int, dwords: Sequence[int]) -> None:
        inputs = _STATE_BYTES + capacity * _input_bytes(dwords)
        with ExitStack() as undo:
            self._inputs = driver.allocate(inputs, Place.DEVICE)
            undo.callback(self._inputs.free)
            self._outputs = driver.allocate(_STOP_BYTES + capacity * RECORD.itemsize)
            undo.callback(self._outputs.free)
            self._written = self._inputs.view
            self._base = self._inputs.view_address
            undo.pop_all()
        self._stop = self._outputs.view[:_STOP_BYTES].view("<u4")
        self.results: npt.NDArray[Any] = self._outputs.view[_STOP_BYTES:].view(RECORD)
        self._end = _STATE_BYTES

    def fill(self, keys: Keys, values: Values, semantic: Sequence[SemanticBits]) -> abi.Batch:
        """Take in a batch; return what describes its keys and values to the engine."""
        count = len(keys)
        self._stop[:] = 0
        self.results[:count] = 0
        self._base = self._inputs.view_address if count <= IN_PLACE_MAX else self._inputs.address
        self._end = _STATE_BYTES
        # By falling alignment, so that each begins where the one before ends.
        return abi.Batch(
            stop=self._outputs.address,
            state=self._inputs.address,
            results=self._outputs.address + _STOP_BYTES,
            keys=self._put(keys.rows, "u1"),
            offsets=self._put(values.offsets, "<u8"),
            sizes=self._put(values.sizes, "<u4"),
            stride=values.stride,
            iova=values.memory.address,
            count=count,
            key_length=keys.length,
            value_size=values.size,
            semantic=tuple(
                abi.Semantic(self._put(bits.per_key, "<u4"), bits.mask, bits.value)
                for bits in semantic
            ),
            key_lengths=self._put(keys.lengths, "u1"),
        )

    def upload(self, stream: Any) -> None:
        """Bring what was taken in to where the engine reads it, in the order of a stream."""
        if self._base == self._inputs.address:
            self._inputs.upload(_STATE_BYTES, self._end - _STATE_BYTES, stream)

    def stop(self) -> None:
        """Raise the stop flag of the batch in here."""
        self._stop[0] = 1

    def free(self) -> None:
        """Give the memory back, also where a result of the last batch is still held."""
        self._stop = self.results = self._written = np.empty(0, np.uint8)
        self._inputs.free()
        self._outputs.free()

    def _put(self, column: npt.NDArray[Any] | None, kind: str) -> int:
        """Append a column; return its address, or 0 where there is none."""
        if column is None:
            return 0
        begin, self._end = self._end, self._end + column.size * np.dtype(kind).itemsize
        self._written[begin : self._end].view(kind)[:] = column.reshape(-1)
        return self._base + begin


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
        try:
            for _ in range(min(max(number, SLABS_MIN), SLABS_MAX)):
                self._free.append(Slab(self._driver, self._capacity, self._dwords))
        except BaseException:
            self.free()
            raise

    def free(self) -> None:
        """Give all slabs back; none is in use."""
        while self._free:
            self._free.pop().free()
