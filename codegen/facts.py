"""The facts taken from the upstream header: what the spec file (IR) holds.

Only upstream facts live here, under upstream names: no choices of this project, no
semantics, no places in a text (a definition that merely moves to another line is the
same fact). `xiokv.codegen.ir` reads and writes them; `xiokv.codegen.parse` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer macro, evaluated."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class Enumerator:
    """One name of an enum."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum, its enumerators in upstream order."""

    name: str
    enumerators: tuple[Enumerator, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """An integer type under its <stdint.h> name, such as ``uint16_t``."""

    name: str
    bits: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class RecordRef:
    """A use of a record by its tag."""

    name: str


@dataclass(frozen=True, slots=True)
class EnumRef:
    """A use of an enum by its tag, as the type of a field."""

    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """One member of a record.

    Attributes:
        name: member name; empty for an unnamed member (anonymous record, padding bits).
        type: type of one element; an inline `Record` where upstream gives it no tag.
        offset: first bit, counted from the start of the enclosing record.
        width: bits of one element.
        dims: array lengths, outermost first; empty for a plain member, 0 for a
            flexible array.
        bitfield: declared with a width of its own.
    """

    name: str
    type: Scalar | RecordRef | EnumRef | Record
    offset: int
    width: int
    dims: tuple[int, ...] = ()
    bitfield: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A struct or a union, laid out by the System V x86-64 rules.

    Attributes:
        name: tag; empty for an inline record.
        kind: ``struct`` or ``union``.
        size: bytes, tail padding included.
        align: alignment in bytes; 1 where ``#pragma pack(1)`` is in force.
        fields: members in upstream order.
        partial: a union of which only the members that concern KV were taken.
    """

    name: str
    kind: Literal["struct", "union"]
    size: int
    align: int
    fields: tuple[Field, ...]
    partial: bool = False

    def walk(self, prefix: str = "", base: int = 0) -> Iterator[tuple[str, int, Field]]:
        """Yield (dotted path, absolute bit offset, field) for members, inline records entered."""
        for field in self.fields:
            path = f"{prefix}{field.name}"
            offset = base + field.offset
            if field.name:
                yield path, offset, field
            if isinstance(field.type, Record):
                yield from field.type.walk(f"{path}." if field.name else prefix, offset)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything taken from upstream, each group sorted by name."""

    constants: tuple[Constant, ...]
    enums: tuple[Enum, ...]
    records: tuple[Record, ...]

    def constant(self, name: str) -> Constant | None:
        """Return the constant of that upstream name, or None."""
        return next((c for c in self.constants if c.name == name), None)

    def enum(self, name: str) -> Enum | None:
        """Return the enum of that upstream tag, or None."""
        return next((e for e in self.enums if e.name == name), None)

    def record(self, name: str) -> Record | None:
        """Return the record of that upstream tag, or None."""
        return next((r for r in self.records if r.name == name), None)
