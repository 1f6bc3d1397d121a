"""The System V x86-64 rules for structs and unions, as GCC and Clang apply them.

In go the members of a record in order, with their types and bit widths, and the packing
in force; out comes the record with every member placed. No C syntax here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xiokv.codegen.parse.tokens import Token
from xiokv.codegen.parse.types import Compound, CType, Member, RecordKind

_BYTE = 8


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A member before layout; `bits` is the width of a bit-field, None for a plain member."""

    name: str
    type: CType
    bits: int | None
    token: Token


@dataclass(frozen=True, slots=True)
class Packing:
    """What limits alignment in a record: ``#pragma pack(limit)``, the packed attribute."""

    limit: int = 0
    attribute: bool = False


def lay_out(
    kind: RecordKind,
    tag: str,
    members: Iterable[Unplaced],
    packing: Packing,
    token: Token,
) -> Compound:
    """Place the members of a record and return it."""
    placer = _Placer(kind == "union", packing)
    placed = tuple(placer.place(member) for member in members)
    size = _up(placer.end, placer.align * _BYTE) // _BYTE
    return Compound(kind, tag, size, placer.align, placed, token)


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


class _Placer:
    """Places members one after the other, or all at the start of a union.

    Attributes:
        end: first bit behind the members placed so far.
        align: alignment of the record so far, in bytes.
    """

    def __init__(self, is_union: bool, packing: Packing) -> None:
        self._is_union = is_union
        self._packing = packing
        self.end = 0
        self.align = 1

    def place(self, member: Unplaced) -> Member:
        """Place one member."""
        start = 0 if self._is_union else self.end
        if member.bits is None:
            offset = _up(start, self._limited(member.type.align) * _BYTE)
            width = member.type.size * _BYTE
            self._raise_alignment(member.type.align)
        else:
            offset = self._bit_offset(start, member.type, member.bits)
            width = member.bits
            # An unnamed bit-field takes room but does not align the record.
            if member.name:
                self._raise_alignment(member.type.align)
        self.end = max(self.end, offset + width)
        return Member(
            member.name, member.type, offset, width, member.bits is not None, member.token
        )

    def _bit_offset(self, start: int, declared: CType, bits: int) -> int:
        unit = declared.size * _BYTE
        if bits == 0:
            # A zero width closes the storage unit, whatever the packing.
            return _up(start, unit)
        packed = self._packing.limit or self._packing.attribute
        if not packed and start // unit != (start + bits - 1) // unit:
            return _up(start, unit)
        return start

    def _limited(self, align: int) -> int:
        if self._packing.attribute:
            return 1
        return min(align, self._packing.limit or align)

    def _raise_alignment(self, align: int) -> None:
        self.align = max(self.align, self._limited(align))
