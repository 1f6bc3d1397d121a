"""Views for the accessors of semantic fields: one that places a value, one that reads it.

In: a finished spec. Out: comments, heads and expressions, which the template puts around
the fixed bodies. A field of several commands lies at the same place in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.bits import Bits
from xiokv.codegen.render.c_text import Function, assign, doc, signature
from xiokv.codegen.render.text import description
from xiokv.codegen.spec.model import FieldKind, SemanticField, Spec


@dataclass(frozen=True, slots=True)
class AccessorView:
    """The two functions of one field.

    Attributes:
        set: head of the function that places a value in the raw reserved bits.
        get: head of the function that reads it from an entry.
        bits: where the field lies in its dword.
        place: statement that places `value`.
        opcode: expression of the entry's opcode.
        symbols: opcodes of the commands that carry the field.
        read: expression of the field's value.
    """

    set: Function
    get: Function
    bits: Bits
    place: str
    opcode: str
    symbols: tuple[str, ...]
    read: str


def accessor_views(spec: Spec) -> tuple[AccessorView, ...]:
    """Return the view of every field that the profile declares."""
    return tuple(_view(field, spec) for field in spec.profile.fields)


def _view(field: SemanticField, spec: Spec) -> AccessorView:
    word, ends = f"cdw{field.dword}", f"{field.bits.msb}, {field.bits.lsb}"
    (opcode,) = spec.commands[0].of_kind(FieldKind.OPCODE)
    placed = f"xiokv_bits_set(reserved->{word}, (uint32_t)value, {ends})"
    return AccessorView(
        set=_set(field),
        get=_get(field),
        bits=field.bits,
        place=assign(f"reserved->{word}", placed),
        opcode=f"xiokv_bits_get(sqe->dw[{opcode.dword}], {opcode.bits.msb}, {opcode.bits.lsb})",
        symbols=tuple(spec.command(name).symbol for name in field.commands),
        read=f"xiokv_bits_get(sqe->dw[{field.dword}], {ends})",
    )


def _set(field: SemanticField) -> Function:
    comment = doc(
        f"Place semantic field {field.name}, CDW{field.dword}{field.bits}, for a raw encoder.",
        description(field),
        "@param reserved Where it goes; other bits stay, all of them when refused.",
        "@param value The value.",
        "@return XIOKV_E_OK, or XIOKV_E_SEMANTIC for one too wide for its bits.",
    )
    parameters = ("struct xiokv_reserved *reserved", "uint64_t value")
    return Function(comment, signature("int", f"xiokv_set_{field.name}", parameters))


def _get(field: SemanticField) -> Function:
    comment = doc(
        f"Read semantic field {field.name}, CDW{field.dword}{field.bits}, of an entry.",
        description(field),
        "@param sqe The entry.",
        f"@return Its value; 0 for an entry that is none of {', '.join(field.commands)}.",
    )
    parameters = ("const struct xiokv_sqe *sqe",)
    return Function(comment, signature("uint32_t", f"xiokv_get_{field.name}", parameters))
