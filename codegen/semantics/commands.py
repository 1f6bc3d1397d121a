"""commands.toml: the hand-written facts about the Key-Value commands, read and typed.

In: the packaged file. Out: a frozen `CommandSet` that still speaks in upstream names;
`xiokv.codegen.spec.merge` resolves them through the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import Origin
from xiokv.codegen.semantics.exec import ExecRules, load_exec
from xiokv.codegen.spec.model import Direction, FieldKind, ReservedPlace
from xiokv.codegen.tomlfile import Document, Table

_PATH = Path(__file__).with_name("commands.toml")
_DIRECTIONS: dict[str, Direction] = {value: value for value in get_args(Direction)}

# Name of a part of the entry -> what it carries. The names are those of SQE fields.
ENTRY_PARTS = {
    "opcode": FieldKind.OPCODE,
    "fuse": FieldKind.FUSE,
    "psdt": FieldKind.PSDT,
    "cid": FieldKind.CID,
    "nsid": FieldKind.NSID,
    "mptr": FieldKind.METADATA_POINTER,
    "dptr": FieldKind.DATA_POINTER,
    "value_size": FieldKind.VALUE_SIZE,
    "key_length": FieldKind.KEY_LENGTH,
    "options": FieldKind.OPTIONS,
}


@dataclass(frozen=True, slots=True)
class KeyRules:
    """Dwords that hold the key, and the upstream constants that limit its length."""

    dwords: tuple[int, ...]
    min: str
    max: str


@dataclass(frozen=True, slots=True)
class CommandRules:
    """One command; `opcode` and `options` list alternative upstream names."""

    name: str
    opcode: tuple[str, ...]
    direction: Direction
    value_size: bool
    key_optional: bool
    options: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class VendorRules:
    """A command that no header names."""

    name: str
    opcode: int
    brief: str


@dataclass(frozen=True, slots=True)
class CommandSet:
    """Everything in commands.toml; `entry` maps part names to upstream member paths.

    `vendor` is what exec.toml names, whether or not a project asks for it.
    """

    entry: dict[str, str]
    key: KeyRules
    reserved: tuple[ReservedPlace, ...]
    vendor: tuple[VendorRules, ...]
    commands: tuple[CommandRules, ...]


def load_commands() -> CommandSet:
    """Read the packaged commands.toml."""
    document = Document.read(_PATH, f"semantics/{_PATH.name}")
    root = document.root
    root.integer("schema")
    entry = root.table("entry")
    commands = CommandSet(
        entry={part: entry.string(part) for part in ENTRY_PARTS},
        key=_key(root.table("key")),
        reserved=tuple(_reserved(table) for table in root.tables("reserved")),
        vendor=(_vendor(load_exec()),),
        commands=tuple(_command(table) for table in root.tables("command")),
    )
    document.close()
    return commands


def _key(table: Table) -> KeyRules:
    return KeyRules(table.integers("dwords"), table.string("min"), table.string("max"))


def _reserved(table: Table) -> ReservedPlace:
    msb, lsb = table.integers("bits")
    return ReservedPlace(table.string("name"), table.integer("dword"), Bits(msb, lsb))


def _vendor(rules: ExecRules) -> VendorRules:
    return VendorRules(rules.name, rules.opcode, rules.docs[rules.name])


def _command(table: Table) -> CommandRules:
    return CommandRules(
        name=table.string("name"),
        opcode=table.strings("opcode"),
        direction=_DIRECTIONS[table.string("direction")],
        value_size=table.flag("value_size", False),
        key_optional=table.flag("key_optional", False),
        options=table.strings("options"),
        origin=table.origin("name"),
    )
