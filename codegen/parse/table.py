"""A table of constants in C: its source, and its content read out of an object file.

In: constant expressions, and bit-fields of records. Out: one constant object, which opens
with a mark to find it by, holds every value, and then for each bit-field an image of its
record in which that bit-field is all ones.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MARK_BYTES = 32
_VALUE_BYTES = 8


@dataclass(frozen=True, slots=True)
class Check:
    """One number: what it is called, what it should be, what it is."""

    label: str
    expected: int
    seen: int


@dataclass(frozen=True, slots=True)
class Value:
    """A constant expression and the value expected."""

    label: str
    expression: str
    expected: int


@dataclass(frozen=True, slots=True)
class BitField:
    """A bit-field at `path` of a record of `size` bytes: first bit and width expected."""

    record: str
    path: str
    size: int
    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class Table:
    """The table; `mark` is random, so that nothing else in an object file is like it."""

    values: tuple[Value, ...]
    bitfields: tuple[BitField, ...]
    mark: bytes

    def source(self) -> str:
        """Return the definition of the object."""
        records = [f"{field.record} image{n};" for n, field in enumerate(self.bitfields)]
        images = [f".image{n}.{field.path} = -1," for n, field in enumerate(self.bitfields)]
        values = [f"(unsigned long long)({value.expression})," for value in self.values]
        lines = (
            f"struct xiokv_table {{ unsigned char mark[{MARK_BYTES}];",
            f"unsigned long long values[{len(values)}];",
            *records,
            "} __attribute__((packed));",
            "const struct xiokv_table xiokv_table = {",
            f".mark = {{{', '.join(map(str, self.mark))}}},",
            ".values = {",
            *values,
            "},",
            *images,
            "};",
        )
        return "\n".join(lines) + "\n"

    def content(self, object_file: bytes) -> bytes | None:
        """Return what an object file holds behind the mark, or None where it lacks the table."""
        _, mark, content = object_file.partition(self.mark)
        return content if mark else None

    def value_checks(self, content: bytes) -> Iterator[Check]:
        """Yield every value."""
        seen = struct.unpack_from(f"={len(self.values)}Q", content)
        for value, number in zip(self.values, seen, strict=True):
            yield Check(value.label, value.expected % (1 << 64), number)

    def bitfield_checks(self, content: bytes) -> Iterator[Check]:
        """Yield place and width of every bit-field; the records' sizes have to be right."""
        at = len(self.values) * _VALUE_BYTES
        for field in self.bitfields:
            image = int.from_bytes(content[at : at + field.size], "little")
            at += field.size
            label = f"{field.record}.{field.path}"
            yield Check(f"{label} place", field.offset, (image & -image).bit_length() - 1)
            yield Check(f"{label} width", field.width, bin(image).count("1"))
