"""Records as ctypes classes: inline records become classes of their own, inner ones first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xiokv.codegen.facts import EnumRef, Field, Record, RecordRef, Scalar
from xiokv.codegen.spec.model import PublicRecord


@dataclass(frozen=True, slots=True)
class CtypesField:
    """A member; `bits` is its declared width, 0 for a plain member."""

    name: str
    type: str
    bits: int


@dataclass(frozen=True, slots=True)
class CtypesClass:
    """A class; `anonymous` lists members whose own members are reached without a name."""

    name: str
    base: str
    brief: str
    packed: bool
    anonymous: tuple[str, ...]
    fields: tuple[CtypesField, ...]


def classes(records: Iterable[PublicRecord]) -> Iterator[CtypesClass]:
    """Yield the classes of all records, each after what it refers to."""
    aligns = {record.name: record.layout.align for record in records}
    for record in records:
        yield from _Builder(aligns).build(record.layout, record.name, record.brief)


class _Builder:
    """Builds the classes of one record; `aligns` gives the alignment of every tag."""

    def __init__(self, aligns: dict[str, int]) -> None:
        self._aligns = aligns

    def build(self, layout: Record, name: str, brief: str) -> Iterator[CtypesClass]:
        fields = []
        anonymous = []
        for index, field in enumerate(layout.fields):
            member = field.name or f"unnamed{index}"
            if isinstance(field.type, Record):
                inner = f"_{name.lstrip('_')}_{member}"
                yield from self.build(field.type, inner, f"Member {member} of {name}.")
                if not field.name:
                    anonymous.append(member)
                element = inner
            else:
                element = _element(field.type)
            fields.append(_field(field, member, element))
        yield CtypesClass(
            name=name,
            base="ctypes.Structure" if layout.kind == "struct" else "ctypes.Union",
            brief=brief,
            packed=layout.align < max(map(self._natural, layout.fields), default=1),
            anonymous=tuple(anonymous),
            fields=tuple(fields),
        )

    def _natural(self, field: Field) -> int:
        """Return the alignment that the member's type asks for, in bytes."""
        if isinstance(field.type, RecordRef):
            return self._aligns[field.type.name]
        if isinstance(field.type, Record):
            return field.type.align
        return field.type.bits // 8 if isinstance(field.type, Scalar) else field.width // 8


def _element(kind: Scalar | RecordRef | EnumRef) -> str:
    if isinstance(kind, Scalar):
        return "ctypes.c_" + kind.name.removesuffix("_t")
    return kind.name if isinstance(kind, RecordRef) else "ctypes.c_uint32"


def _field(field: Field, name: str, element: str) -> CtypesField:
    for length in reversed(field.dims):
        element = f"{element} * {length}" if " * " not in element else f"({element}) * {length}"
    return CtypesField(name, element, field.width if field.bitfield else 0)
