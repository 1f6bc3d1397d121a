"""Bit ranges: the one place in Python that shifts and masks.

A `Bits` names bits ``[msb:lsb]`` of an unsigned word, as the NVMe specifications write
them. `xiokv/kv_bits.h` is its counterpart in C.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Bits:
    """Bits ``[msb:lsb]`` of a word, both ends included."""

    msb: int
    lsb: int

    def __post_init__(self) -> None:
        """Refuse a range that is empty or reversed."""
        if self.lsb < 0 or self.msb < self.lsb:
            raise ValueError(
                f"bits [{self.msb}:{self.lsb}]: the first must not be below the second"
            )

    @classmethod
    def at(cls, lsb: int, width: int) -> Bits:
        """Return the range of `width` bits that starts at bit `lsb`."""
        return cls(lsb + width - 1, lsb)

    @property
    def width(self) -> int:
        """Number of bits."""
        return self.msb - self.lsb + 1

    @property
    def max(self) -> int:
        """Largest value that fits."""
        return (1 << self.width) - 1

    @property
    def mask(self) -> int:
        """Mask of the range, in place in the word."""
        return self.max << self.lsb

    def insert(self, word: int, value: int) -> int:
        """Return `word` with the range set to `value`; ValueError where it does not fit."""
        if not 0 <= value <= self.max:
            raise ValueError(f"value {value:#x} does not fit bits {self} (0..{self.max:#x})")
        return (word & ~self.mask) | (value << self.lsb)

    def extract(self, word: int) -> int:
        """Return the value of the range in `word`."""
        return (word & self.mask) >> self.lsb

    def overlaps(self, other: Bits) -> bool:
        """Tell whether both ranges share a bit."""
        return self.lsb <= other.msb and other.lsb <= self.msb

    def __str__(self) -> str:
        """Return ``[msb:lsb]``, or ``[bit]`` for a single bit."""
        return f"[{self.msb}:{self.lsb}]" if self.width > 1 else f"[{self.lsb}]"
