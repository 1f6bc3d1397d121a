"""NVMe Key-Value commands in Python: enums, layouts, an encoder and decoders.

One self-contained file that needs the standard library alone; only `dtype` imports NumPy.
It follows the same spec as the generated C headers: `SPEC_SHA256` names it.
"""

from __future__ import annotations

import ctypes  # noqa: F401 - used by the layouts further down
import enum
import operator
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

_NSID_MAX = 0xFFFFFFFE  # FFFFFFFFh, all namespaces, is not supported by these commands
_DWORD_MAX = 0xFFFFFFFF
_KEY_BYTES = 16
_COMMAND_ENUMS = ("Operation", "Opcode")  # by name: those of another twin serve, too
_SQE = struct.Struct("<16I")
_CQE = struct.Struct("<4I")

# Some controllers report these with status code type 1 instead of 0; both mean the same.
_KV_STATUS_CODES = range(0x85, 0x8A)


class _Field(NamedTuple):
    """Bits of one dword; `value` is always there, None where the caller's value goes."""

    name: str
    kind: str
    dword: int
    msb: int
    lsb: int
    part: int = 0
    value: int | None = None

    @property
    def max(self) -> int:
        return (1 << (self.msb - self.lsb + 1)) - 1

    def insert(self, value: int) -> int:
        return ((value >> 32 * self.part) & self.max) << self.lsb

    def extract(self, dwords: tuple[int, ...]) -> int:
        return ((dwords[self.dword] >> self.lsb) & self.max) << 32 * self.part

    def __str__(self) -> str:
        return f"{self.name} (CDW{self.dword}[{self.msb}:{self.lsb}])"


class _Layout(NamedTuple):
    """One command. `options` maps its option names to bits."""

    name: str
    opcode: int
    key_min: int
    key_max: int
    takes_value_size: bool
    options: Mapping[str, int]
    fields: tuple[_Field, ...]

    @property
    def option_mask(self) -> int:
        return sum(self.options.values())

    def of_kind(self, kind: str) -> dict[str, _Field]:
        return {field.name: field for field in self.fields if field.kind == kind}


# Filled in further down, from the spec. Commands with a form of their own have functions of
# their own, encode_<name> and decode_<name>.
_OWN_FORM: dict[int, tuple[str, Callable[[bytes], Command]]] = {}
_COMMANDS: dict[int, _Layout] = {}
_COMPLETION: dict[str, _Field] = {}
_DTYPES: dict[str, dict[str, Any]] = {}

#: Name of a status by its status code type and status code.
STATUS: dict[tuple[int, int], str] = {}


@dataclass(frozen=True)
class Command:
    """A decoded submission queue entry.

    `semantic` holds the fields that the profile declares for the command, `faults` one
    sentence for everything that the command may not contain.
    """

    name: str
    opcode: int
    fuse: int
    psdt: int
    cid: int
    nsid: int
    mptr: int
    prp1: int
    prp2: int
    key: bytes
    key_length: int
    value_size: int
    options: int
    semantic: dict[str, int]
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Completion:
    """A decoded completion queue entry; `name` says what SCT and SC mean."""

    dw0: int
    dw1: int
    sqhd: int
    sqid: int
    cid: int
    phase: int
    sc: int
    sct: int
    crd: int
    more: int
    dnr: int
    name: str


def encode(
    command: int | str | enum.Enum,
    /,
    *,
    nsid: int,
    key: bytes | bytearray | memoryview,
    value_size: int = 0,
    options: int = 0,
    **semantic: int,
) -> bytes:
    """Return the 64 bytes of a command, with CID, PSDT and the data pointer zero.

    Args:
        command: an `Operation`, an `Opcode`, or the command's name.
        nsid: 1 to FFFFFFFEh.
        key: 1 to 16 bytes; for List the start key, which may be empty.
        value_size: size of the value, or of the host buffer, in bytes.
        options: bits of `StoreOption` or `RetrieveOption`.
        semantic: the fields that the profile declares for the command; 0 by default.

    Raises:
        ValueError: a value is not allowed; the message says which ones are.
        TypeError: the key is no bytes, a number no integer, or an enum not that of commands.
    """
    layout = _layout(command)
    content = _key_content(layout, key)
    values = {
        "cid": 0,
        "dptr": 0,
        "nsid": _integer("nsid", nsid, 1, _NSID_MAX),
        "key": int.from_bytes(content, "little"),
        "key_length": len(content),
        "value_size": _value_size(layout, value_size),
        "options": _options(layout, options),
        **_semantic(layout, semantic),
    }
    dwords = [0] * 16
    for field in layout.fields:
        value = values[field.name] if field.value is None else field.value
        dwords[field.dword] |= field.insert(value)
    return _SQE.pack(*dwords)


def decode_command(entry: bytes | bytearray | memoryview) -> Command:
    """Return the fields of a 64-byte submission queue entry.

    Raises:
        ValueError: the entry has another size, or its opcode is none of the commands.
    """
    dwords = _unpack(_SQE, entry, "a submission queue entry")
    if own := _OWN_FORM.get(dwords[0] & 0xFF):
        return own[1](bytes(entry))
    layout = _layout(dwords[0] & 0xFF)
    fields = {field.name: 0 for field in layout.fields}
    for field in layout.fields:
        fields[field.name] |= field.extract(dwords)
    dptr = fields.get("dptr", 0)
    stored = fields["key"].to_bytes(_KEY_BYTES, "little")
    return Command(
        name=layout.name,
        opcode=layout.opcode,
        prp1=dptr & 0xFFFFFFFFFFFFFFFF,
        prp2=dptr >> 64,
        key=stored[: fields["key_length"]],
        value_size=fields.get("value_size", 0),
        options=fields.get("options", 0),
        semantic={name: fields[name] for name in layout.of_kind("semantic")},
        faults=tuple(_faults(layout, dwords, fields, stored)),
        **{name: fields[name] for name in ("fuse", "psdt", "cid", "nsid", "mptr", "key_length")},
    )


def decode_completion(entry: bytes | bytearray | memoryview) -> Completion:
    """Return the fields of a 16-byte completion queue entry.

    Raises:
        ValueError: the entry has another size.
    """
    dwords = _unpack(_CQE, entry, "a completion queue entry")
    fields = {name: field.extract(dwords) for name, field in _COMPLETION.items()}
    return Completion(**fields, name=_status_name(fields["sct"], fields["sc"]))


def decode_list(page: bytes | bytearray | memoryview) -> list[bytes]:
    """Return the keys of a page that List returned.

    Raises:
        ValueError: the page contradicts itself; the message gives the byte.
    """
    data = bytes(page)
    if len(data) < 4:
        raise ValueError(f"a List page of {len(data)} bytes has no room for its count (4)")
    (count,) = struct.unpack_from("<I", data)
    if count > (len(data) - 4) // 4:
        raise ValueError(f"byte 0: {count} keys cannot lie in a page of {len(data)} bytes")
    keys = []
    at = 4
    for index in range(count):
        key = _list_key(data, at, f"byte {at}: key {index} of {count}")
        keys.append(key)
        at += (2 + len(key) + 3) // 4 * 4
    return keys


def dtype(record: str) -> Any:
    """Return the NumPy dtype of a record (``xiokv_cpl``); its members have dotted names.

    Members that are not whole bytes are left out; the byte or word that holds them is there
    where it has a name.
    """
    if record not in _DTYPES:
        raise ValueError(f"no record {record!r}; there are {', '.join(sorted(_DTYPES))}")
    import numpy

    return numpy.dtype(_DTYPES[record])  # type: ignore[call-overload]


def _layout(command: int | str | enum.Enum) -> _Layout:
    if isinstance(command, enum.Enum):
        if type(command).__name__ not in _COMMAND_ENUMS:  # an option may have an opcode's value
            raise TypeError(f"{command!r} is no command; give an Operation or an Opcode")
        command = command.value
    elif not isinstance(command, (int, str)):
        raise TypeError(f"a command is an Operation, an Opcode or its name, not {command!r}")
    for layout in _COMMANDS.values():
        if command in (layout.name, layout.opcode):
            return layout
    for opcode, (name, _) in _OWN_FORM.items():
        if command in (name, opcode):
            raise ValueError(f"{name} has a form of its own; call encode_{name}")
    shown = f"{command:#04x}" if isinstance(command, int) else repr(command)
    known = ", ".join(f"{x.name} ({x.opcode:#04x})" for x in _COMMANDS.values())
    raise ValueError(f"{shown} is no Key-Value command; there are {known}")


def _integer(name: str, value: int, low: int, high: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not low <= number <= high:
        raise ValueError(f"{name} = {number:#x} is not allowed; {low:#x} to {high:#x} are")
    return number


def _key_content(layout: _Layout, key: bytes | bytearray | memoryview) -> bytes:
    if not isinstance(key, (bytes, bytearray, memoryview)):
        raise TypeError(f"key must be bytes, not {type(key).__name__}")
    content = bytes(key)
    if not layout.key_min <= len(content) <= layout.key_max:
        raise ValueError(
            f"key of {len(content)} bytes: {layout.name} takes {layout.key_min} to {layout.key_max}"
        )
    return content


def _value_size(layout: _Layout, size: int) -> int:
    if layout.takes_value_size:
        return _integer("value_size", size, 0, _DWORD_MAX)
    if size:
        raise ValueError(f"value_size = {size}: {layout.name} takes none; leave it 0")
    return 0


def _options(layout: _Layout, options: int) -> int:
    value = _integer("options", options, 0, 0xFF)
    if value & ~layout.option_mask:
        known = ", ".join(f"{name} ({mask:#x})" for name, mask in layout.options.items())
        raise ValueError(f"options = {value:#x}: {layout.name} has {known or 'no options'}")
    return value


def _semantic(layout: _Layout, given: Mapping[str, int]) -> dict[str, int]:
    declared = layout.of_kind("semantic")
    for name in given:
        if name not in declared:
            known = ", ".join(sorted(declared)) or "none"
            raise ValueError(
                f"{name!r} is no semantic field of {layout.name}; its profile declares {known}"
            )
    return {
        name: _integer(name, given.get(name, 0), 0, field.max) for name, field in declared.items()
    }


def _unpack(
    layout: struct.Struct, entry: bytes | bytearray | memoryview, what: str
) -> tuple[int, ...]:
    data = bytes(entry)
    if len(data) != layout.size:
        raise ValueError(f"{what} has {layout.size} bytes, not {len(data)}")
    return layout.unpack(data)


def _faults(
    layout: _Layout, dwords: tuple[int, ...], fields: Mapping[str, int], stored: bytes
) -> list[str]:
    faults = [
        f"{field} is {field.extract(dwords):#x}, and is reserved: 0"
        for field in layout.of_kind("reserved").values()
        if field.extract(dwords)
    ]
    length = fields["key_length"]
    if not layout.key_min <= length <= layout.key_max:
        faults.append(
            f"key length {length}: {layout.name} takes {layout.key_min} to {layout.key_max}"
        )
    if any(stored[length:]):
        faults.append(f"bytes of the key field past the key length, {length}, are not zero")
    if fields.get("options", 0) & ~layout.option_mask:
        faults.append(
            f"options {fields['options']:#04x}: only {layout.option_mask:#04x} are defined"
        )
    if not 1 <= fields["nsid"] <= _NSID_MAX:
        faults.append(f"nsid {fields['nsid']:#x}: 0x1 to {_NSID_MAX:#x} are allowed")
    return faults


def _status_name(sct: int, sc: int) -> str:
    alike = 0 if sct == 1 and sc in _KV_STATUS_CODES else sct
    return STATUS.get((alike, sc), f"SCT {sct:X}h, SC {sc:02X}h")


def _list_key(data: bytes, at: int, where: str) -> bytes:
    if at + 2 > len(data):
        raise ValueError(f"{where}: the page ends before its length")
    (length,) = struct.unpack_from("<H", data, at)
    if not 1 <= length <= 16:
        raise ValueError(f"{where} has length {length}; 1 to 16 are allowed")
    if at + 2 + length > len(data):
        raise ValueError(f"{where}: the page ends within its {length} bytes")
    return data[at + 2 : at + 2 + length]
