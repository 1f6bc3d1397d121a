"""Proves a spec: names, opcodes and options are unique, every bit is covered once."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from xiokv.codegen.errors import Problems, XiokvError
from xiokv.codegen.semantics.words import CPP_KEYWORDS
from xiokv.codegen.spec import names
from xiokv.codegen.spec.model import SQE_BYTES, Command, FieldKind, Spec, SqeField

# What the hand-written headers and templates name of the facts.
NEEDED = (
    "XIOKV_KEY_MAX_LEN",
    "XIOKV_KEY_MIN_LEN",
    "XIOKV_OPC_RETRIEVE",
    "XIOKV_OPC_STORE",
    "XIOKV_SCT_COMMAND_SPECIFIC",
    "XIOKV_SCT_GENERIC",
    "XIOKV_SC_INVALID_VALUE_SIZE",
    "XIOKV_SC_KEY_DOES_NOT_EXIST",
    "XIOKV_SC_KEY_EXISTS",
    "XIOKV_SC_SUCCESS",
)


def validate(spec: Spec) -> None:
    """Raise one error that lists every fault; return where there is none."""
    problems = Problems()
    with problems.collect():
        _check_names(spec)
    for find_all in (_needed_faults, _opcode_faults, _python_faults, _cpp_faults):
        for fault in find_all(spec):
            problems.add(XiokvError(fault))
    for command in spec.commands:
        faults = (_coverage_faults, _option_faults, _key_faults)
        for fault in (fault for find in faults for fault in find(command)):
            problems.add(XiokvError(f"{command.name}: {fault}"))
    problems.raise_if_any()


def _check_names(spec: Spec) -> None:
    values = [(c.name, c.upstream) for c in spec.constants]
    values += [(e.name, e.upstream) for enum in spec.enums for e in enum.enumerators]
    names.check_unique(values)
    tags = [(e.name, e.upstream) for e in spec.enums]
    tags += [(r.name, r.upstream) for r in spec.records]
    names.check_unique(tags)


def _needed_faults(spec: Spec) -> Iterator[str]:
    known = {constant.name for constant in spec.constants}
    known |= {enumerator.name for enum in spec.enums for enumerator in enum.enumerators}
    for name in NEEDED:
        if name not in known:
            yield (
                f"the spec file has no name that becomes {name}, which headers need; this upstream"
                " is too old or too new for this version of xiokv"
            )


def _opcode_faults(spec: Spec) -> Iterator[str]:
    first: dict[int, Command] = {}
    for command in spec.commands:
        other = first.setdefault(command.opcode, command)
        if other is not command:
            yield (
                f"commands {other.name} ({other.symbol}) and {command.name} ({command.symbol})"
                f" have the same opcode {command.opcode:#04x}"
            )
    for operation in spec.operations:
        owner = first.get(operation.opcode)
        if owner and owner.name != operation.name:
            yield (
                f"command {owner.name} ({owner.symbol}) has the opcode of the vendor's"
                f" {operation.name}, {operation.opcode:#04x}"
            )


def _python_faults(spec: Spec) -> Iterator[str]:
    for enum in spec.enums:
        for enumerator in enum.enumerators:
            if not enumerator.short.isidentifier() or keyword.iskeyword(enumerator.short):
                yield f"{enumerator.upstream}: {enumerator.short!r} cannot be a name in Python"


def _cpp_faults(spec: Spec) -> Iterator[str]:
    for record in spec.records:
        for path, _, field in record.layout.walk():
            if field.name in CPP_KEYWORDS:
                yield f"{record.upstream}.{path}: {field.name!r} cannot be a name in C++"


def _coverage_faults(command: Command) -> Iterator[str]:
    owner: dict[int, SqeField] = {}
    for field in command.fields:
        for bit in range(field.offset, field.offset + field.bits.width):
            other = owner.setdefault(bit, field)
            if other is not field:
                yield f"bit {bit} of the entry belongs to {other.name} and to {field.name}"
                break
    missing = SQE_BYTES * 8 - len(owner)
    if missing:
        yield f"{missing} bits of the entry belong to no field"


def _option_faults(command: Command) -> Iterator[str]:
    room = sum(field.bits.max for field in command.of_kind(FieldKind.OPTIONS))
    seen = 0
    for option in command.options:
        if option.mask.bit_count() != 1 or option.mask > room:
            yield f"option {option.upstream} = {option.mask:#x} is not one bit of the options byte"
        if seen & option.mask:
            yield f"option {option.upstream} shares bit {option.mask:#x} with another option"
        seen |= option.mask


def _key_faults(command: Command) -> Iterator[str]:
    room = sum(field.bits.width for field in command.of_kind(FieldKind.KEY)) // 8
    if command.key_in_data:
        return
    if not 0 <= command.key_min <= command.key_max <= room:
        yield (
            f"key length {command.key_min} to {command.key_max} does not fit"
            f" the {room} bytes of the key field"
        )
