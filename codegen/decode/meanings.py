"""What the content of an SQE's field says in words, and what is wrong with it.

In: a command, the entry as one number, a field and its value. Out: words and faults, a
function for each kind of field. Kinds without one are shown with their number alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xiokv.codegen.bits import Bits
from xiokv.codegen.spec.model import Command, FieldKind, Spec, SqeField

RESERVED_ARE_SET = "reserved bits are set"

_EXEC_PREFIX = 2  # bytes of the key's length, with which the data of Exec begin
_ALL_NAMESPACES = "XIOKV_GLOBAL_NS_TAG"
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


@dataclass(frozen=True, slots=True)
class Context:
    """An entry and the command that it is."""

    spec: Spec
    command: Command
    entry: int

    def value(self, kind: FieldKind) -> int:
        """Return the content of all parts of one kind, the first part lowest."""
        return joined(self.entry, self.command.of_kind(kind))


@dataclass(frozen=True, slots=True)
class Said:
    """Words about a field's content, and faults."""

    meaning: str
    faults: tuple[str, ...] = ()


def say(context: Context, field: SqeField, value: int) -> Said:
    """Return what a field's content means."""
    tell = _MEANINGS.get(field.kind, _plain)
    said = tell(context, field, value)
    if field.value is None or value == field.value or field.kind is FieldKind.RESERVED:
        return said
    return Said(said.meaning, (*said.faults, f"xiokv always writes {field.value:#x} here"))


def joined(entry: int, parts: tuple[SqeField, ...]) -> int:
    """Return the value that parts in several dwords make together."""
    value, at = 0, 0
    for part in sorted(parts, key=lambda field: field.part):
        value |= range_of(part).extract(entry) << at
        at += part.bits.width
    return value


def range_of(field: SqeField) -> Bits:
    """Return the bits of a field within the whole entry."""
    return Bits.at(field.offset, field.bits.width)


def in_units(size: int) -> str:
    """Return a number of bytes, also in the largest unit that divides it."""
    for unit, name in _UNITS:
        if size and size % unit == 0:
            return f"{size} bytes ({size // unit} {name})"
    return "1 byte" if size == 1 else f"{size} bytes"


def _plain(context: Context, field: SqeField, value: int) -> Said:
    return Said(str(value))


def _opcode(context: Context, field: SqeField, value: int) -> Said:
    return Said(f"{context.command.name}: {context.command.brief}")


def _fuse(context: Context, field: SqeField, value: int) -> Said:
    return Said("a command of its own" if value == 0 else "one of a fused pair")


def _psdt(context: Context, field: SqeField, value: int) -> Said:
    return Said("the data pointer is PRPs" if value == 0 else "the data pointer is an SGL")


def _nsid(context: Context, field: SqeField, value: int) -> Said:
    if value == 0:
        return Said("no namespace", ("a namespace is 1 or more",))
    if value == context.spec.constant(_ALL_NAMESPACES).value:
        return Said("all namespaces", ("Key-Value commands do not support it",))
    return Said(f"namespace {value}")


def _key_length(context: Context, field: SqeField, value: int) -> Said:
    low, high = context.command.key_min, context.command.key_max
    if low <= value <= high:
        return Said(in_units(value) if value else "no key: from the first one")
    return Said(in_units(value), (f"allowed are {low} to {high}",))


def _key(context: Context, field: SqeField, value: int) -> Said:
    key, rest = key_image(context)
    faults = (f"bytes after the key are not zero: {rest.hex()}",) if any(rest) else ()
    return Said(key_text(key), faults)


def key_image(context: Context) -> tuple[bytes, bytes]:
    """Return the key, as long as the entry says, and the bytes after it."""
    parts = context.command.of_kind(FieldKind.KEY)
    image = joined(context.entry, parts).to_bytes(sum(f.bits.width for f in parts) // 8, "little")
    length = context.value(FieldKind.KEY_LENGTH)
    return image[:length], image[length:]


def key_text(key: bytes) -> str:
    """Return a key as a Python literal where it is printable, else as digits."""
    if not key:
        return "empty"
    if all(0x20 <= byte < 0x7F for byte in key):
        return f"{key!r}, {in_units(len(key))}"
    return f"{key.hex()}h, {in_units(len(key))}"


def _value_size(context: Context, field: SqeField, value: int) -> Said:
    what = "value" if context.command.direction == "host_to_device" else "host buffer"
    return Said(f"{what} of {in_units(value)}")


def _options(context: Context, field: SqeField, value: int) -> Said:
    names = [option.name for option in context.command.options if option.mask & value]
    unknown = value & ~sum(option.mask for option in context.command.options)
    faults = (f"{context.command.name} has no option {unknown:#04x}",) if unknown else ()
    return Said(", ".join(names) or "none", faults)


def _payload_length(context: Context, field: SqeField, value: int) -> Said:
    least = _EXEC_PREFIX + context.command.key_min
    faults = (f"a payload has {least} bytes or more",) if value < least else ()
    return Said(f"payload of {in_units(value)}: length of the key, key, input", faults)


def _input_length(context: Context, field: SqeField, value: int) -> Said:
    return Said(f"input of {in_units(value)}, which follows the key in the data")


def _output_size(context: Context, field: SqeField, value: int) -> Said:
    return Said(f"host buffer of {in_units(value)}" if value else "no output is wanted")


def _operation(context: Context, field: SqeField, value: int) -> Said:
    return Said(f"operation {value}, as the controller numbers them")


def _metadata_pointer(context: Context, field: SqeField, value: int) -> Said:
    return Said("no metadata" if value == 0 else "metadata")


def _semantic(context: Context, field: SqeField, value: int) -> Said:
    declared = next(f for f in context.spec.profile.fields if f.name == field.name)
    number = f"{value} {declared.unit}".rstrip()
    return Said(": ".join(filter(None, (number, declared.meaning))))


def _reserved(context: Context, field: SqeField, value: int) -> Said:
    return Said("reserved", (RESERVED_ARE_SET,) if value else ())


_MEANINGS: Mapping[FieldKind, Callable[[Context, SqeField, int], Said]] = {
    FieldKind.OPCODE: _opcode,
    FieldKind.FUSE: _fuse,
    FieldKind.PSDT: _psdt,
    FieldKind.NSID: _nsid,
    FieldKind.KEY: _key,
    FieldKind.KEY_LENGTH: _key_length,
    FieldKind.VALUE_SIZE: _value_size,
    FieldKind.OPTIONS: _options,
    FieldKind.PAYLOAD_LENGTH: _payload_length,
    FieldKind.INPUT_LENGTH: _input_length,
    FieldKind.OUTPUT_SIZE: _output_size,
    FieldKind.OPERATION: _operation,
    FieldKind.METADATA_POINTER: _metadata_pointer,
    FieldKind.SEMANTIC: _semantic,
    FieldKind.RESERVED: _reserved,
}
