"""What has to come back: keys, sizes and seed in; outcomes, lengths and bytes out."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from xiokv.runtime import Outcome

SLOT = 64
POISON = 0xA5
LENGTHS = 61  # 1 to this: a prime, so that no power of two brings a length back

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]


class Expected:
    """What has to come back for each key, in the order in which batches ask.

    Some keys are missing, and some slots are too small. All arrays hold it twice, so that a
    batch may begin at any key and go round.
    """

    def __init__(self, count: int, seed: int) -> None:
        """Make keys and values up."""
        random = np.random.default_rng(seed)
        number = np.arange(count, dtype=np.uint32)
        keys = random.integers(0, 256, (count, 16), np.uint8)
        keys[:, :4] = number.view(np.uint8).reshape(count, 4)
        lengths = (1 + (number * 37 + seed % LENGTHS) % LENGTHS).astype(np.uint32)
        self.stored = random.random(count) >= 1 / 64
        sizes = np.where(random.random(count) < 1 / 16, lengths // 2, SLOT)
        outcomes = np.where(sizes < lengths, Outcome.TRUNCATED, Outcome.OK)
        outcomes[~self.stored] = Outcome.MISSING
        landed = np.where(self.stored, np.minimum(lengths, sizes), 0)
        self.values = _stamps(number, lengths)
        slots = np.where(np.arange(SLOT) < landed[:, np.newaxis], self.values, POISON)
        twice = partial(np.tile, reps=2)
        self.count, self.lengths = count, lengths
        self.keys = np.concatenate([keys, keys])
        self.sizes = twice(sizes.astype(np.int64))
        self.outcomes = twice(outcomes.astype(np.uint8))
        self.value_sizes = twice(np.where(self.stored, lengths, 0).astype(np.uint32))
        self.landed = twice(landed.astype(np.int64))
        self.slots = words(np.concatenate([slots, slots]).astype(np.uint8))


def _stamps(number: npt.NDArray[np.uint32], lengths: npt.NDArray[np.uint32]) -> Bytes:
    """Return a slot of bytes for each key that its number, its length and the place decide."""
    places = np.arange(SLOT // 4, dtype=np.uint32)
    words = (number * np.uint32(2654435761) ^ lengths * np.uint32(0x85EBCA77))[:, np.newaxis]
    words = words + (places + np.uint32(1)) * np.uint32(0x9E3779B1)
    words ^= words >> np.uint32(15)
    words *= np.uint32(0x2C1B3C6D)
    stamps: Bytes = words.view(np.uint8)
    return stamps


def words(slots: Bytes) -> Words:
    """Return slots as rows of words, which are compared faster than bytes."""
    return slots.reshape(-1).view(np.uint64).reshape(-1, SLOT // 8)
