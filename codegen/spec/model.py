"""The spec: a finished, validated, frozen model, which is all that templates see.

It joins upstream facts under this project's public names, the hand-written semantics of
the five KV commands (and Exec where a project asks for it) and one profile of reserved
semantic fields. `xiokv.codegen.spec.merge` builds it and `validate` proves it: every bit
of every command is covered by exactly one field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from xiokv.codegen import facts
from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import XiokvError

SQE_BYTES = 64
SQE_DWORDS = 16
CQE_BYTES = 16

Direction = Literal["none", "host_to_device", "device_to_host", "bidirectional"]


class FieldKind(Enum):
    """What a bit range of a submission queue entry carries."""

    OPCODE = "opcode"
    FUSE = "fuse"
    PSDT = "psdt"
    CID = "cid"
    NSID = "nsid"
    KEY = "key"
    KEY_LENGTH = "key_length"
    METADATA_POINTER = "metadata_pointer"
    DATA_POINTER = "data_pointer"
    VALUE_SIZE = "value_size"
    OPTIONS = "options"
    PAYLOAD_LENGTH = "payload_length"
    INPUT_LENGTH = "input_length"
    OUTPUT_SIZE = "output_size"
    OPERATION = "operation"
    SEMANTIC = "semantic"
    RESERVED = "reserved"


@dataclass(frozen=True, slots=True)
class SqeField:
    """A bit range of one dword of a submission queue entry.

    Attributes:
        name: unique within the command, but for the parts of a value that spans dwords.
        kind: what it carries.
        dword: 0..15.
        bits: range within the dword.
        value: what is always written there (reserved bits: 0); None where the caller's
            value goes.
        part: index of the dword within a value that spans several (key: 0..3).
        source: where the fact comes from: an upstream member path or a TOML place.
    """

    name: str
    kind: FieldKind
    dword: int
    bits: Bits
    value: int | None = None
    part: int = 0
    source: str = ""

    @property
    def offset(self) -> int:
        """First bit within the 64-byte entry."""
        return self.dword * 32 + self.bits.lsb


@dataclass(frozen=True, slots=True)
class ReservedPlace:
    """One of the places that may carry semantic fields; zero on the wire by default.

    `name` is rsvd_cdw11, rsvd_cdw12 or rsvd_cdw13.
    """

    name: str
    dword: int
    bits: Bits


@dataclass(frozen=True, slots=True)
class Option:
    """A request option bit of a command; `mask` is its value in the options byte."""

    name: str
    symbol: str
    mask: int
    upstream: str
    brief: str


@dataclass(frozen=True, slots=True)
class SemanticField:
    """A reserved semantic field that a profile declares."""

    name: str
    dword: int
    bits: Bits
    scope: Literal["batch", "key"]
    commands: tuple[str, ...]
    unit: str
    meaning: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """A named set of semantic fields; the default one has none.

    `exec_length` is what the length in Exec's entry counts: the "payload" or the "input".
    """

    name: str
    fields: tuple[SemanticField, ...]
    exec_length: str = "payload"


@dataclass(frozen=True, slots=True)
class Command:
    """One KV command.

    Attributes:
        name: ``store``, ``retrieve``, ``list``, ``delete``, ``exist`` or ``exec``.
        opcode: value of the opcode byte.
        symbol: public C name, ``XIOKV_OPC_STORE``.
        upstream: upstream enumerator, or empty for a vendor command.
        direction: which way DPTR data moves.
        key_min: shortest key; 0 for List, which may start at the first key.
        key_max: longest key that the command's key field holds; of Exec, whose data begin
            with the key, the longest that goes there.
        takes_value_size: whether a size goes with the command (Store, Retrieve, List).
        options: request options, by bit.
        fields: every bit of the entry exactly once, ordered by dword and bit.
        brief: one sentence of documentation.
    """

    name: str
    opcode: int
    symbol: str
    upstream: str
    direction: Direction
    key_min: int
    key_max: int
    takes_value_size: bool
    options: tuple[Option, ...]
    fields: tuple[SqeField, ...]
    brief: str

    @property
    def key_in_data(self) -> bool:
        """Whether the data begin with the key, which the entry then lacks: Exec."""
        return not self.of_kind(FieldKind.KEY)

    def dword(self, index: int) -> tuple[SqeField, ...]:
        """Return the fields of one dword, lowest bit first."""
        return tuple(f for f in self.fields if f.dword == index)

    def of_kind(self, kind: FieldKind) -> tuple[SqeField, ...]:
        """Return the fields of one kind, ordered by dword and bit."""
        return tuple(f for f in self.fields if f.kind is kind)


@dataclass(frozen=True, slots=True)
class Operation:
    """A command as programs name it, also one that the project does not encode."""

    name: str
    opcode: int
    brief: str


@dataclass(frozen=True, slots=True)
class PublicEnumerator:
    """An enumerator under its public name; `short` is the name within a Python enum."""

    name: str
    short: str
    value: int
    upstream: str
    brief: str


@dataclass(frozen=True, slots=True)
class PublicEnum:
    """An enum under its public name (``xiokv_opcode``) and its Python name (``Opcode``)."""

    name: str
    python: str
    upstream: str
    enumerators: tuple[PublicEnumerator, ...]
    brief: str


@dataclass(frozen=True, slots=True)
class PublicConstant:
    """A constant under its public name (``XIOKV_KEY_MAX_LEN``)."""

    name: str
    value: int
    upstream: str
    brief: str


@dataclass(frozen=True, slots=True)
class PublicRecord:
    """A record under its public name.

    `layout` is the upstream record with every tag in it replaced by the public one;
    `briefs` maps a member's dotted path to one sentence.
    """

    name: str
    upstream: str
    layout: facts.Record
    brief: str
    briefs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the banner of a generated file states. `commit` is empty where unpinned."""

    repository: str
    ref: str
    commit: str
    license: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Hashes that tell one spec from another, as 64 hexadecimal digits.

    `facts` is the SHA-256 of the spec file, `spec` covers facts, commands and profile.
    """

    facts: str
    spec: str


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything a template may ask for. Records come in dependency order."""

    constants: tuple[PublicConstant, ...]
    enums: tuple[PublicEnum, ...]
    records: tuple[PublicRecord, ...]
    commands: tuple[Command, ...]
    operations: tuple[Operation, ...]
    reserved_places: tuple[ReservedPlace, ...]
    profile: Profile
    provenance: Provenance
    identity: Identity

    @property
    def standard_commands(self) -> tuple[Command, ...]:
        """The Key-Value commands: all but Exec."""
        return tuple(command for command in self.commands if not command.key_in_data)

    @property
    def exec(self) -> Command | None:
        """The vendor command Exec, where the project asks for it."""
        return next((command for command in self.commands if command.key_in_data), None)

    def command(self, name: str) -> Command:
        """Return a command by name; KeyError where the spec has none of that name."""
        for command in self.commands:
            if command.name == name:
                return command
        raise KeyError(name)

    def enum(self, python: str) -> PublicEnum:
        """Return an enum by its Python name; XiokvError where upstream has none."""
        for enum in self.enums:
            if enum.python == python:
                return enum
        raise _lacking("enum", python)

    def constant(self, name: str) -> PublicConstant:
        """Return a constant by its public name; XiokvError where upstream has none."""
        for constant in self.constants:
            if constant.name == name:
                return constant
        raise _lacking("constant", name)


def _lacking(kind: str, name: str) -> XiokvError:
    return XiokvError(
        f"the spec file has no {kind} that becomes {name}; this upstream is too old or too new for"
        " this version of xiokv"
    )
