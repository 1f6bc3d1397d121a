"""Lays the fields of one command out in the 64-byte entry and names what is left over.

In: the facts, the hand-written rules and the semantic fields of a profile. Out: the
`SqeField` tuple of a command, reserved bits included, ordered by dword and bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import Problems, UsageError, XiokvError
from xiokv.codegen.facts import Facts
from xiokv.codegen.semantics.commands import ENTRY_PARTS, CommandRules, CommandSet
from xiokv.codegen.spec.members import locate
from xiokv.codegen.spec.model import (
    SQE_DWORDS,
    FieldKind,
    ReservedPlace,
    SemanticField,
    SqeField,
)

_DWORD = 32
_KEY_SOURCE = "semantics/commands.toml [key]"

# Parts whose content never varies: no fused operations, PRPs only, no metadata.
_FIXED = {FieldKind.FUSE: 0, FieldKind.PSDT: 0, FieldKind.METADATA_POINTER: 0}


def used_fields(
    facts: Facts, rules: CommandSet, command: CommandRules, opcode: int
) -> tuple[SqeField, ...]:
    """Return the fields that the command itself uses."""
    unused = set()
    if command.direction == "none":
        unused.add("dptr")
    if not command.value_size:
        unused.add("value_size")
    if not command.options:
        unused.add("options")
    parts = [name for name in ENTRY_PARTS if name not in unused]
    shared = shared_fields(facts, rules, parts, opcode)
    return _ordered([*_key_fields(rules.key.dwords), *shared])


def shared_fields(
    facts: Facts, rules: CommandSet, parts: Iterable[str], opcode: int
) -> tuple[SqeField, ...]:
    """Return the fields of parts of the entry, by their names in commands.toml."""
    fields: list[SqeField] = []
    for name in parts:
        kind, path = ENTRY_PARTS[name], rules.entry[name]
        value = opcode if kind is FieldKind.OPCODE else _FIXED.get(kind)
        fields += _split(name, kind, locate(facts, path), value, path)
    return _ordered(fields)


def with_semantics(
    used: tuple[SqeField, ...],
    command: str,
    semantic: Iterable[SemanticField],
    places: tuple[ReservedPlace, ...],
) -> tuple[SqeField, ...]:
    """Add the semantic fields that name the command, and reserve every bit left over.

    Raises:
        UsageError: a semantic field lies where it may not; both fields are named.
    """
    fields = list(used)
    problems = Problems()
    for declared in semantic:
        if command in declared.commands:
            field = _semantic_field(declared)
            with problems.collect():
                _check_place(field, command, fields, places)
            fields.append(field)
    problems.raise_if_any()
    return _ordered([*fields, *_reserved(fields, places)])


def _key_fields(dwords: tuple[int, ...]) -> Iterator[SqeField]:
    whole = Bits.at(0, _DWORD)
    for part, dword in enumerate(dwords):
        yield SqeField("key", FieldKind.KEY, dword, whole, part=part, source=_KEY_SOURCE)


def _split(
    name: str, kind: FieldKind, bits: Bits, value: int | None, source: str
) -> Iterator[SqeField]:
    """Yield one field for each dword that the range touches."""
    if bits.lsb % _DWORD and bits.lsb // _DWORD != bits.msb // _DWORD:
        raise XiokvError(f"{source}: bits {bits} of the entry span dwords and start within one")
    for part, dword in enumerate(range(bits.lsb // _DWORD, bits.msb // _DWORD + 1)):
        first = max(bits.lsb - dword * _DWORD, 0)
        last = min(bits.msb - dword * _DWORD, _DWORD - 1)
        yield SqeField(name, kind, dword, Bits(last, first), value, part, source)


def _semantic_field(field: SemanticField) -> SqeField:
    return SqeField(field.name, FieldKind.SEMANTIC, field.dword, field.bits, source=field.source)


def _check_place(
    field: SqeField, command: str, others: list[SqeField], places: tuple[ReservedPlace, ...]
) -> None:
    for other in others:
        if other.name == field.name:
            raise UsageError(
                f"{field.source}: field {field.name!r} has the name of a field of {command};"
                " choose another name"
            )
        if other.dword == field.dword and other.bits.overlaps(field.bits):
            raise UsageError(
                f"{field.source}: field {field.name!r}, {_place(field)}, overlaps"
                f" {other.name!r}, {_place(other)}, of {command} ({other.source});"
                f" {_allowed(places)}"
            )
    if not any(_holds(place, field) for place in places):
        raise UsageError(
            f"{field.source}: field {field.name!r}, {_place(field)}, is out of the reserved"
            f" places; {_allowed(places)}"
        )


def _holds(place: ReservedPlace, field: SqeField) -> bool:
    return (
        place.dword == field.dword
        and place.bits.lsb <= field.bits.lsb
        and field.bits.msb <= place.bits.msb
    )


def _place(item: SqeField | ReservedPlace) -> str:
    return f"CDW{item.dword}{item.bits}"


def _allowed(places: tuple[ReservedPlace, ...]) -> str:
    return f"a semantic field may lie in {', '.join(map(_place, places))}"


def _reserved(fields: list[SqeField], places: tuple[ReservedPlace, ...]) -> Iterator[SqeField]:
    """Yield reserved fields for the bits that no field has, cut where a place begins."""
    for dword in range(SQE_DWORDS):
        taken = [f.bits for f in fields if f.dword == dword]
        named = {p.bits: p.name for p in places if p.dword == dword}
        cuts = {edge for bits in named for edge in (bits.lsb, bits.msb + 1)}
        for bits in _gaps(taken, cuts):
            whole = named.get(bits) or (f"rsvd_cdw{dword}" if bits.width == _DWORD else None)
            name = whole or f"rsvd_cdw{dword}_{bits.lsb}"
            yield SqeField(name, FieldKind.RESERVED, dword, bits, value=0)


def _gaps(taken: list[Bits], cuts: set[int]) -> Iterator[Bits]:
    start: int | None = None
    for bit in range(_DWORD + 1):
        free = bit < _DWORD and not any(bits.lsb <= bit <= bits.msb for bits in taken)
        if start is not None and (not free or bit in cuts):
            yield Bits(bit - 1, start)
            start = None
        if free and start is None:
            start = bit


def _ordered(fields: list[SqeField]) -> tuple[SqeField, ...]:
    return tuple(sorted(fields, key=lambda field: field.offset))
