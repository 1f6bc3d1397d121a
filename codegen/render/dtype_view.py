"""Records as NumPy dtypes: members with dotted names, formats and byte offsets.

NumPy has no bit-fields: a member that is not a whole number of bytes is left out, and a
record of nothing but such members stands as one unsigned integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xiokv.codegen.facts import Field, Record, RecordRef
from xiokv.codegen.spec.model import PublicRecord

_INTEGER_BYTES = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Member:
    """A member: NumPy format without its dims, and byte offset."""

    name: str
    format: str
    dims: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Dtype:
    """The dtype of one record."""

    name: str
    size: int
    members: tuple[Member, ...]


def dtypes(records: Iterable[PublicRecord]) -> Iterator[Dtype]:
    """Yield a dtype a record."""
    layouts = {record.name: record.layout for record in records}
    for name, layout in layouts.items():
        yield Dtype(name, layout.size, tuple(_members(layout, "", 0, layouts)))


def _members(
    layout: Record, prefix: str, base: int, layouts: dict[str, Record]
) -> Iterator[Member]:
    for field in layout.fields:
        offset = base + field.offset
        inner = _inner(field, layouts)
        path = f"{prefix}{field.name}"
        if inner and not field.dims and not (field.name and _only_bits(inner)):
            yield from _members(inner, f"{path}." if field.name else prefix, offset, layouts)
        elif field.name and field.width % 8 == 0 and offset % 8 == 0:
            yield Member(path, _format(field, inner), field.dims, offset // 8)


def _inner(field: Field, layouts: dict[str, Record]) -> Record | None:
    if isinstance(field.type, RecordRef):
        return layouts[field.type.name]
    return field.type if isinstance(field.type, Record) else None


def _only_bits(layout: Record) -> bool:
    whole = layout.size in _INTEGER_BYTES
    return whole and all(f.bitfield for f in layout.fields)


def _format(field: Field, inner: Record | None) -> str:
    size = field.width // 8
    if size not in _INTEGER_BYTES or (inner and not _only_bits(inner)):
        return f"V{size}"
    return f"<u{size}"
