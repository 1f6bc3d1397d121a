"""Members of a record as C declares them, each with its place in the outermost record.

In: laid-out records. Out: `Member`s, and the alignment that C would choose on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from xiokv.codegen import facts
from xiokv.codegen.bits import Bits

Records = Mapping[str, facts.Record]
"""Records by tag, to find what a `RecordRef` refers to."""

_ENUM_BITS = 32


@dataclass(frozen=True, slots=True)
class Member:
    """A member, where it stands in the outermost record.

    Attributes:
        path: dotted path; that of the parent where the member has no name.
        bit: first bit within the outermost record.
        depth: 1 for a member of the outermost record.
        field: the member as upstream declares it.
    """

    path: str
    bit: int
    depth: int
    field: facts.Field

    @property
    def bytes(self) -> int:
        """Size in bytes, all elements of an array together."""
        return self.field.width // 8 * prod(self.field.dims)

    @property
    def place(self) -> str:
        """Where the member lies, in words."""
        if not self.field.bitfield:
            return f"{_byte_range(self.bit // 8, self.bytes).capitalize()}."
        unit = _scalar_bits(self.field)
        bits = Bits.at(self.bit % unit, self.field.width)
        unit_bytes = _byte_range(self.bit // unit * unit // 8, unit // 8)
        return f"{'Bits' if bits.width > 1 else 'Bit'} {bits} of {unit_bytes}."


def _byte_range(first: int, count: int) -> str:
    return f"bytes {first}..{first + count - 1}" if count > 1 else f"byte {first}"


def _scalar_bits(field: facts.Field) -> int:
    return field.type.bits if isinstance(field.type, facts.Scalar) else _ENUM_BITS


def children(record: facts.Record, parent: Member | None = None) -> Iterator[Member]:
    """Yield the direct members of a record that is itself, or stands in, the outermost one."""
    for field in record.fields:
        base, depth, stem = (parent.bit, parent.depth, parent.path) if parent else (0, 0, "")
        path = ".".join(part for part in (stem, field.name) if part)
        yield Member(path, base + field.offset, depth + 1, field)


def named(record: facts.Record, parent: Member | None = None) -> Iterator[Member]:
    """Yield the members that `offsetof` can name: no bit-field, nothing within an array."""
    for member in children(record, parent):
        if member.field.name and not member.field.bitfield:
            yield member
        if isinstance(member.field.type, facts.Record) and not member.field.dims:
            yield from named(member.field.type, member)


def spelled(field: facts.Field, records: Records) -> str:
    """Return the C type of a member that has a tag or is a scalar."""
    if isinstance(field.type, facts.RecordRef):
        return f"{records[field.type.name].kind} {field.type.name}"
    return f"enum {field.type.name}" if isinstance(field.type, facts.EnumRef) else field.type.name


def natural_align(record: facts.Record, records: Records) -> int:
    """Return the alignment in bytes that C gives a record outside of `#pragma pack`."""
    return max((_field_align(field, records) for field in record.fields), default=1)


def _field_align(field: facts.Field, records: Records) -> int:
    if isinstance(field.type, facts.Record):
        return natural_align(field.type, records)
    if isinstance(field.type, facts.RecordRef):
        return records[field.type.name].align
    return _scalar_bits(field) // 8
