"""The 64 bytes of a command as a picture: a row for each dword, the highest bit left."""

from __future__ import annotations

from xiokv.codegen.spec.model import SQE_DWORDS, Command, FieldKind, SqeField
from xiokv_reference import svg
from xiokv_reference.fields import label

_BITS = 32
_BIT, _ROW, _LEFT, _TOP = 22, 22, 56, 20
_WIDTH, _HEIGHT = _LEFT + _BITS * _BIT + 2, _TOP + SQE_DWORDS * _ROW + 2
_MARKED_BITS = (31, 24, 23, 16, 15, 8, 7, 0)

_FILLS = {
    FieldKind.OPCODE: "#c44e52",
    FieldKind.KEY: "#4c72b0",
    FieldKind.KEY_LENGTH: "#4c72b0",
    FieldKind.VALUE_SIZE: "#55a868",
    FieldKind.DATA_POINTER: "#55a868",
    FieldKind.OPTIONS: "#dd8452",
    FieldKind.SEMANTIC: "#8172b3",
    FieldKind.RESERVED: "none",
}
_OTHER = "#8c8c8c"


def picture(command: Command) -> str:
    """Return the picture."""
    marks = [svg.text(_x(bit) + _BIT / 2, _TOP - 6, str(bit)) for bit in _MARKED_BITS]
    rows = [
        svg.text(_LEFT - 6, _y(dword) + _ROW / 2 + 4, f"CDW{dword}", "end")
        for dword in range(SQE_DWORDS)
    ]
    boxes = [_box(command, field) for field in command.fields]
    title = f"The submission queue entry of {command.name}"
    return svg.document(title, _WIDTH, _HEIGHT, marks + rows + boxes)


def _box(command: Command, field: SqeField) -> str:
    place = (_x(field.bits.msb), _y(field.dword), field.bits.width * _BIT, _ROW)
    name = label(command, field)
    shown = name if field.value is None else f"{name} = {field.value:#x}"
    # A name that is cut says more than one with its value cut off.
    content = shown if svg.cut(shown, place[2]) == shown else name
    tip = f"CDW{field.dword}{field.bits} {shown}"
    return svg.box(place, content, _FILLS.get(field.kind, _OTHER), tip)


def _x(bit: int) -> int:
    return _LEFT + (_BITS - 1 - bit) * _BIT


def _y(dword: int) -> int:
    return _TOP + dword * _ROW
