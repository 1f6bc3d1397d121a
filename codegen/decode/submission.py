"""A submission queue entry to rows, every bit of it in one of them.

In: a spec and 64 bytes. Out: a `Decoded`. An opcode that the spec does not know, or one of
the admin queue, whose opcodes are others, leaves all but the common parts as raw dwords.
"""

from __future__ import annotations

from collections.abc import Iterator

from xiokv.codegen.bits import Bits
from xiokv.codegen.decode.meanings import (
    RESERVED_ARE_SET,
    Context,
    joined,
    key_image,
    key_text,
    range_of,
    say,
)
from xiokv.codegen.decode.table import Decoded, Row, dword_place, hexadecimal
from xiokv.codegen.facts import Facts
from xiokv.codegen.spec.members import locate
from xiokv.codegen.spec.model import SQE_DWORDS, Command, FieldKind, Spec, SqeField

_DWORD = 32
_RECORD = "xiokv_cmd"
_PRPS = ("dptr.prp.prp1", "dptr.prp.prp2")
_SGL = ("dptr.sgl1.address", "dptr.sgl1.unkeyed.length", "dptr.sgl1.generic.subtype")
_SGL_TYPE = "dptr.sgl1.generic.type"


def command_of(spec: Spec, data: bytes) -> Command | None:
    """Return the command that an entry of an I/O queue is; None where the spec has none."""
    opcode = joined(_entry(data), spec.commands[0].of_kind(FieldKind.OPCODE))
    return next((command for command in spec.commands if command.opcode == opcode), None)


def decode_submission(spec: Spec, data: bytes, *, admin: bool = False) -> Decoded:
    """Return what 64 bytes say; `admin` for an entry of the admin queue."""
    command = None if admin else command_of(spec, data)
    if command is None:
        return _unknown(spec, _entry(data), admin)
    context = Context(spec, command, _entry(data))
    return Decoded("sqe", _title(context), tuple(_rows(context)))


def _entry(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _title(context: Context) -> str:
    command = context.command
    words = [command.name]
    if command.of_kind(FieldKind.KEY):
        words.append(f"key {key_text(key_image(context)[0])}")
    words.append(f"CID {hexadecimal(context.value(FieldKind.CID), 16)}")
    words.append(f"NSID {context.value(FieldKind.NSID)}")
    return ", ".join(words)


def _rows(context: Context) -> Iterator[Row]:
    seen: set[str] = set()
    for field in context.command.fields:
        if field.name in seen:
            continue
        seen.add(field.name)
        parts = tuple(f for f in context.command.fields if f.name == field.name)
        if field.kind is FieldKind.DATA_POINTER:
            yield from _data_pointer(context)
        else:
            yield _row(context, parts)


def _row(context: Context, parts: tuple[SqeField, ...]) -> Row:
    value = joined(context.entry, parts)
    bits = sum(part.bits.width for part in parts)
    said = say(context, parts[0], value)
    is_key = parts[0].kind is FieldKind.KEY
    shown = value.to_bytes(bits // 8, "little").hex() if is_key else hexadecimal(value, bits)
    return Row(parts[0].name, _place(parts), shown, said.meaning, said.faults)


def _place(parts: tuple[SqeField, ...]) -> str:
    if len(parts) == 1:
        return dword_place(range_of(parts[0]))
    return "CDW" + ",".join(_runs(sorted(part.dword for part in parts)))


def _runs(dwords: list[int]) -> Iterator[str]:
    """Yield ranges of numbers that follow each other: 2..3, 14..15."""
    first = dwords[0]
    for dword, after in zip(dwords, [*dwords[1:], -1], strict=True):
        if after != dword + 1:
            yield f"{first}..{dword}" if first != dword else f"{dword}"
            first = after


def _data_pointer(context: Context) -> Iterator[Row]:
    """Yield the parts of the data pointer, in the form that PSDT says."""
    members = _PRPS if context.value(FieldKind.PSDT) == 0 else (*_SGL, _SGL_TYPE)
    layouts = Facts((), (), tuple(record.layout for record in context.spec.records))
    for member in members:
        bits = locate(layouts, f"{_RECORD}.{member}")
        value = hexadecimal(bits.extract(context.entry), bits.width)
        name = member.rpartition(".")[2]
        yield Row(name, dword_place(bits), value, _brief(context.spec, member))


def _brief(spec: Spec, member: str) -> str:
    """Return the sentence about a member of the entry, also within the SGL descriptor."""
    briefs = {record.name: record.briefs for record in spec.records}
    inner = member.removeprefix("dptr.sgl1.")
    return briefs[_RECORD].get(member) or briefs["xiokv_sgl_descriptor"].get(inner, "")


def _unknown(spec: Spec, entry: int, admin: bool) -> Decoded:
    """Return the parts that all commands share, and the other dwords as they are."""
    shared = spec.commands[0]
    opcode = joined(entry, shared.of_kind(FieldKind.OPCODE))
    last = max(field.dword for field in shared.of_kind(FieldKind.NSID))
    rows = [_shared(field, entry) for field in shared.fields if field.dword <= last]
    rows += [_raw(dword, entry) for dword in range(last + 1, SQE_DWORDS)]
    return Decoded("sqe", _unknown_title(spec, opcode, admin), tuple(rows))


def _unknown_title(spec: Spec, opcode: int, admin: bool) -> str:
    if admin:
        return f"admin command, opcode {opcode:#04x}; the spec has commands of I/O queues alone"
    for operation in spec.operations:  # one without a command, which would be known
        if operation.opcode == opcode:
            return (
                f"{operation.name}, opcode {opcode:#04x}, a vendor's command that is off; its"
                " fields are known where xiokv.toml has exec = true under [semantics]"
            )
    known = ", ".join(f"{command.opcode:#04x} {command.name}" for command in spec.commands)
    return f"unknown command, opcode {opcode:#04x}; the spec has {known}"


def _shared(field: SqeField, entry: int) -> Row:
    bits = range_of(field)
    value = bits.extract(entry)
    is_reserved = field.kind is FieldKind.RESERVED
    faults = (RESERVED_ARE_SET,) if is_reserved and value else ()
    meaning = "reserved" if is_reserved else ""
    return Row(field.name, dword_place(bits), hexadecimal(value, bits.width), meaning, faults)


def _raw(dword: int, entry: int) -> Row:
    bits = Bits.at(dword * _DWORD, _DWORD)
    return Row(f"cdw{dword}", dword_place(bits), hexadecimal(bits.extract(entry), _DWORD))
