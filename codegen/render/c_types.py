"""Views for nvme_kv.h: constants, enums and records as lines of C.

In: a finished spec. Out: frozen dataclasses that the template only loops over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xiokv.codegen import facts
from xiokv.codegen.render.c_members import (
    Member,
    Records,
    children,
    named,
    natural_align,
    spelled,
)
from xiokv.codegen.render.c_text import doc, pack
from xiokv.codegen.spec.model import PublicConstant, PublicEnum, PublicRecord, Spec

_INDENT = 2


@dataclass(frozen=True, slots=True)
class Declaration:
    """One line of C under its comment; `doc` is empty for the end of a block."""

    doc: str
    text: str


@dataclass(frozen=True, slots=True)
class EnumView:
    """An enum: its comment, its tag and its enumerators."""

    doc: str
    name: str
    enumerators: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class RecordView:
    """A struct or union; `pack` is 0 where C's own alignment gives its layout."""

    doc: str
    head: str
    pack: int
    members: tuple[Declaration, ...]
    asserts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TypesView:
    """Everything that nvme_kv.h shows."""

    constants: tuple[Declaration, ...]
    enums: tuple[EnumView, ...]
    records: tuple[RecordView, ...]


def types_view(spec: Spec) -> TypesView:
    """Return the view of the whole header."""
    records = {record.layout.name: record.layout for record in spec.records}
    return TypesView(
        constants=tuple(_constant(constant) for constant in spec.constants),
        enums=tuple(_enum(enum) for enum in spec.enums),
        records=tuple(_record(record, records) for record in spec.records),
    )


def _with_upstream(brief: str, upstream: str) -> str:
    """Return the sentence and the upstream name, unless it says that name already."""
    return f"{brief} SPDK: {upstream}." if upstream not in brief else brief


def _constant(constant: PublicConstant) -> Declaration:
    comment = doc(_with_upstream(constant.brief, constant.upstream))
    value = constant.value if constant.value < 256 else f"{constant.value:#x}"
    return Declaration(comment, f"#define {constant.name} {value}")


def _enum(enum: PublicEnum) -> EnumView:
    last = enum.enumerators[-1]
    entries = tuple(
        Declaration(
            doc(_with_upstream(entry.brief, entry.upstream), indent=_INDENT),
            f"  {entry.name} = {entry.value:#04x}{'' if entry is last else ','}",
        )
        for entry in enum.enumerators
    )
    return EnumView(doc(_with_upstream(enum.brief, enum.upstream)), enum.name, entries)


def _record(record: PublicRecord, records: Records) -> RecordView:
    layout = record.layout
    packed = layout.align < natural_align(layout, records)
    return RecordView(
        doc=doc(_with_upstream(record.brief, record.upstream)),
        head=f"{layout.kind} {layout.name}",
        pack=layout.align if packed else 0,
        members=tuple(_declarations(record, records, children(layout))),
        asserts=tuple(_asserts(layout)),
    )


def _declarations(
    record: PublicRecord, records: Records, members: Iterator[Member]
) -> Iterator[Declaration]:
    for member in members:
        field, indent = member.field, " " * (_INDENT * member.depth)
        comment = doc(f"{_brief(record, member)} {member.place}", indent=len(indent))
        array = "".join(f"[{length or ''}]" for length in field.dims)
        if isinstance(field.type, facts.Record):
            yield Declaration(comment, f"{indent}{_opening(field, field.type)}")
            yield from _declarations(record, records, children(field.type, member))
            yield Declaration("", f"{indent}}}{' ' if field.name else ''}{field.name}{array};")
        else:
            width = f" : {field.width}" if field.bitfield else ""
            declarator = f"{field.name}{array}{width}".strip()
            yield Declaration(comment, f"{indent}{spelled(field, records)} {declarator};")


def _opening(field: facts.Field, inline: facts.Record) -> str:
    """Return the head of an inline record.

    ISO C++ has no untagged types within an unnamed union; compilers accept them after
    `__extension__` without a warning.
    """
    nested = any(isinstance(inner.type, facts.Record) for inner in inline.fields)
    return f"{'__extension__ ' if nested and not field.name else ''}{inline.kind} {{"


def _brief(record: PublicRecord, member: Member) -> str:
    if member.field.name:
        return record.briefs[member.path]
    if isinstance(member.field.type, facts.Record):
        return "Other views of the same bytes."
    return "Padding bits."


def _asserts(layout: facts.Record) -> Iterator[str]:
    tag = f"{layout.kind} {layout.name}"
    yield pack("XIOKV_ASSERT_RECORD(", (tag, str(layout.size), str(layout.align)), ");")
    for member in named(layout):
        place = (str(member.bit // 8), str(member.bytes))
        yield pack("XIOKV_ASSERT_MEMBER(", (tag, member.path, *place), ");")
