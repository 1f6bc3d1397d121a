"""Bits: ranges of a word against the same done bit by bit."""

from __future__ import annotations

from itertools import product

import pytest

from xiokv.codegen.bits import Bits

RANGES = [Bits(msb, lsb) for msb in range(5) for lsb in range(msb + 1)]


def _places(bits: Bits) -> set[int]:
    return set(range(bits.lsb, bits.msb + 1))


@pytest.mark.parametrize(("one", "other"), list(product(RANGES, RANGES)))
def test_ranges_overlap_where_they_share_a_bit(one: Bits, other: Bits) -> None:
    assert one.overlaps(other) == bool(_places(one) & _places(other))


@pytest.mark.parametrize("bits", RANGES)
def test_what_is_inserted_is_extracted_and_other_bits_stay(bits: Bits) -> None:
    for word, value in product((0, 0b10101, 0b11111), range(bits.max + 1)):
        after = bits.insert(word, value)
        assert bits.extract(after) == value
        assert after & ~bits.mask == word & ~bits.mask


@pytest.mark.parametrize("bits", RANGES)
def test_mask_and_width_are_those_of_its_places(bits: Bits) -> None:
    assert bits.mask == sum(1 << place for place in _places(bits))
    assert bits.width == len(_places(bits))
    assert Bits.at(bits.lsb, bits.width) == bits


@pytest.mark.parametrize("value", [-1, 8, 1 << 40])
def test_a_value_too_wide_is_refused_and_not_cut(value: int) -> None:
    with pytest.raises(ValueError, match=r"does not fit bits \[6:4\] \(0\.\.0x7\)"):
        Bits(6, 4).insert(0, value)


@pytest.mark.parametrize(("msb", "lsb"), [(0, 1), (3, -1), (-1, -1)])
def test_a_range_that_is_none_is_refused(msb: int, lsb: int) -> None:
    with pytest.raises(ValueError, match="the first must not be below the second"):
        Bits(msb, lsb)
