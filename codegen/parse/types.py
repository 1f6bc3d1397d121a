"""C types as far as layout goes: a size, an alignment, and the members of a record.

Sizes and alignments are in bytes, places of members in bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xiokv.codegen.parse.tokens import Token

RecordKind = Literal["struct", "union"]


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type of `size` bytes; `rank` orders types of one size (long, long long)."""

    size: int
    signed: bool
    rank: int = 0

    @property
    def align(self) -> int:
        """Alignment, which is the size on x86-64."""
        return self.size

    @property
    def bits(self) -> int:
        """Width of a value."""
        return self.size * 8


@dataclass(frozen=True, slots=True)
class Boolean:
    """``_Bool``: a byte, of which a bit-field may take one bit."""

    size: int = 1
    align: int = 1


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that only takes room: a pointer, a floating-point number."""

    label: str
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class EnumType:
    """An enum; `tag` is empty for one without a name."""

    tag: str
    underlying: Integer

    @property
    def size(self) -> int:
        """Size of the integer type behind it."""
        return self.underlying.size

    @property
    def align(self) -> int:
        """Alignment of the integer type behind it."""
        return self.underlying.align


@dataclass(frozen=True, slots=True)
class Array:
    """An array; `length` is 0 for a flexible one."""

    element: CType
    length: int

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return self.element.size * self.length

    @property
    def align(self) -> int:
        """Alignment of an element."""
        return self.element.align


@dataclass(frozen=True, slots=True)
class Member:
    """A placed member: `width` is that of the bit-field, or of the whole type."""

    name: str
    type: CType
    offset: int
    width: int
    bitfield: bool
    token: Token


@dataclass(frozen=True, slots=True)
class Compound:
    """A laid out struct or union; `tag` is empty for one without a name."""

    kind: RecordKind
    tag: str
    size: int
    align: int
    members: tuple[Member, ...]
    token: Token

    def find(self, name: str) -> tuple[int, Member] | None:
        """Return (bit offset, member) by name, looking into unnamed members as C does."""
        for member in self.members:
            if member.name == name:
                return member.offset, member
            if not member.name and isinstance(member.type, Compound):
                inner = member.type.find(name)
                if inner is not None:
                    return member.offset + inner[0], inner[1]
        return None


CType = Integer | Boolean | Opaque | EnumType | Array | Compound

_BASE: dict[str, Integer | Boolean | Opaque] = {
    "_Bool": Boolean(),
    "char": Integer(1, signed=True),
    "char signed": Integer(1, signed=True),
    "char unsigned": Integer(1, signed=False),
    "short": Integer(2, signed=True),
    "short unsigned": Integer(2, signed=False),
    "int": Integer(4, signed=True),
    "unsigned": Integer(4, signed=False),
    "long": Integer(8, signed=True),
    "long unsigned": Integer(8, signed=False),
    "long long": Integer(8, signed=True, rank=1),
    "long long unsigned": Integer(8, signed=False, rank=1),
    "float": Opaque("float", 4, 4),
    "double": Opaque("double", 8, 8),
    "double long": Opaque("long double", 16, 16),
    "void": Opaque("void", 1, 1),
}

INT = Integer(4, signed=True)
UNSIGNED_INT = Integer(4, signed=False)
LONG = Integer(8, signed=True)
UNSIGNED_LONG = Integer(8, signed=False)
POINTER = Opaque("pointer", 8, 8)


def base_type(words: Sequence[str]) -> Integer | Boolean | Opaque | None:
    """Return the type that a set of keywords such as ``unsigned long int`` names, if any."""
    others = sorted(words)
    if len(others) > 1 and "int" in others:
        others.remove("int")
    if "signed" in others and "char" not in others:
        others.remove("signed")
    return _BASE.get(" ".join(others) or "int")
