"""The tables of the wire: commands, completions, statuses and structures.

In: a spec. Out: Markdown, every number of which is the spec's.
"""

from __future__ import annotations

from collections.abc import Iterator

from xiokv.codegen.bits import Bits
from xiokv.codegen.facts import Field, RecordRef, Scalar
from xiokv.codegen.render.completion import completion_parts
from xiokv.codegen.spec.model import Command, PublicEnum, PublicRecord, Spec, SqeField
from xiokv_reference import sqe_picture
from xiokv_reference.fields import label, meaning
from xiokv_reference.markdown import code, plain, table

_STATUS_ENUMS = ("StatusType", "Status", "CommandStatus")


def profile(spec: Spec) -> str:
    """Return which definitions and which profile the page shows."""
    origin = spec.provenance
    names = ", ".join(code(field.name) for field in spec.profile.fields) or "no field"
    return (
        f"Definitions: {origin.repository} at {plain(origin.ref or 'no ref')}, commit"
        f" {code(origin.commit or 'unpinned')}. Profile: {code(spec.profile.name)}, which"
        f" declares {names}.\n"
    )


def commands(spec: Spec) -> str:
    """Return a section for each command: its picture, its fields and its options."""
    return "\n".join(_command(spec, command) for command in spec.commands)


def completion(spec: Spec) -> str:
    """Return every part of a completion queue entry."""
    cpl = next(record for record in spec.records if record.name == "xiokv_cpl")
    status = next(record for record in spec.records if record.name == "xiokv_status")
    briefs = {**cpl.briefs, **status.briefs}
    own_names = {"dw0": "cdw0", "dw1": "cdw1", "phase": "p", "more": "m"}
    rows = (
        (
            str(part.dword),
            code(str(part.bits)),
            code(part.name),
            plain(briefs[own_names.get(part.name, part.name)]),
        )
        for part in sorted(completion_parts(spec), key=lambda part: (part.dword, part.bits.lsb))
    )
    return table(("dword", "bits", "name", "meaning"), rows)


def statuses(spec: Spec) -> str:
    """Return a section for each kind of status code."""
    return "\n".join(_enum(spec.enum(python)) for python in _STATUS_ENUMS)


def records(spec: Spec) -> str:
    """Return a section for each structure."""
    return "\n".join(_record(record) for record in spec.records)


def constants(spec: Spec) -> str:
    """Return every constant."""
    rows = (
        (code(c.name), code(f"{c.value:#x}"), str(c.value), plain(c.brief)) for c in spec.constants
    )
    return table(("constant", "value", "decimal", "meaning"), rows)


def _command(spec: Spec, command: Command) -> str:
    head = (
        f"## {command.name.capitalize()}: opcode {command.opcode:02X}h\n\n{plain(command.brief)}"
        f" C: {code(command.symbol)}. Upstream: {code(command.upstream) or 'none, vendor'}."
        f" Data: {command.direction.replace('_', ' ')}. Key: {command.key_min} to"
        f" {command.key_max} bytes.\n"
    )
    rows = (_field(spec, command, field) for field in command.fields)
    fields = table(("dword", "bits", "field", "value", "meaning"), rows)
    return "\n".join((head, sqe_picture.picture(command), "", fields, _options(command)))


def _field(spec: Spec, command: Command, field: SqeField) -> tuple[str, ...]:
    value = "the caller's" if field.value is None else code(f"{field.value:#x}")
    return (
        str(field.dword),
        code(str(field.bits)),
        code(label(command, field)),
        value,
        plain(meaning(spec, field)),
    )


def _options(command: Command) -> str:
    if not command.options:
        return "It has no options.\n"
    rows = ((code(f"{o.mask:#04x}"), code(o.symbol), plain(o.brief)) for o in command.options)
    return table(("options", "C", "meaning"), rows)


def _enum(enum: PublicEnum) -> str:
    rows = (
        (code(f"{e.value:02X}h"), code(e.short), code(e.name), plain(e.brief))
        for e in enum.enumerators
    )
    text = table(("value", f"Python: {enum.python}", "C", "meaning"), rows)
    return f"## {enum.python}\n\n{plain(enum.brief)}\n\n{text}"


def _record(record: PublicRecord) -> str:
    size = record.layout.size
    unit = "byte" if size == 1 else "bytes"
    head = f"## {record.name}\n\n{plain(record.brief)} {size} {unit}.\n\n"
    return head + table(("bytes", "bits", "member", "type", "meaning"), _members(record))


def _members(record: PublicRecord) -> Iterator[tuple[str, ...]]:
    for path, offset, field in record.layout.walk():
        dims = "".join(f"[{count}]" for count in field.dims)
        bits = str(Bits.at(offset % 8, field.width)) if field.bitfield else ""
        yield (
            _bytes(offset, field),
            code(bits),
            code(path + dims),
            code(_type(field)),
            plain(record.briefs[path]),
        )


def _bytes(offset: int, field: Field) -> str:
    """Return the first and last byte that a member has a part of."""
    count = 1
    for length in field.dims:
        count *= length
    first, last = offset // 8, (offset + count * field.width - 1) // 8
    return str(first) if first >= last else f"{first} to {last}"


def _type(field: Field) -> str:
    if isinstance(field.type, (Scalar, RecordRef)):
        return field.type.name
    return getattr(field.type, "kind", None) or field.type.name
