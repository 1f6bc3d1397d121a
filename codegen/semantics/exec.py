"""exec.toml: the hand-written facts about the vendor command Exec, read and typed.

In: the packaged file. Out: a frozen `ExecRules`; `xiokv.codegen.spec.vendor` makes a command
of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import Origin
from xiokv.codegen.spec.model import Direction, FieldKind, SqeField
from xiokv.codegen.tomlfile import Document, Table

_PATH = Path(__file__).with_name("exec.toml")
_DIRECTIONS: dict[str, Direction] = {value: value for value in get_args(Direction)}


@dataclass(frozen=True, slots=True)
class ExecRules:
    """Everything in exec.toml.

    Attributes:
        name: of the command.
        opcode: its value; no header names it.
        direction: which way data move.
        shared: parts of the entry that it has as the Key-Value commands do.
        key_min: shortest key.
        key_max: longest key.
        fields: parts of the entry that are its own.
        lengths: what a profile may choose for the length -> the part that then carries it.
        docs: symbol -> sentence.
        origin: where the opcode is stated.
    """

    name: str
    opcode: int
    direction: Direction
    shared: tuple[str, ...]
    key_min: int
    key_max: int
    fields: tuple[SqeField, ...]
    lengths: Mapping[str, SqeField]
    docs: Mapping[str, str]
    origin: Origin


def load_exec(path: Path = _PATH) -> ExecRules:
    """Read the packaged exec.toml."""
    document = Document.read(path, f"semantics/{path.name}")
    root = document.root
    root.integer("schema")
    key, docs = root.table("key"), root.table("docs")
    rules = ExecRules(
        name=root.string("name"),
        opcode=root.integer("opcode"),
        direction=_DIRECTIONS[root.string("direction")],
        shared=root.strings("shared"),
        key_min=key.integer("min"),
        key_max=key.integer("max"),
        fields=tuple(_field(table) for table in root.tables("field")),
        lengths={table.string("choice"): _field(table) for table in root.tables("length")},
        docs={symbol: docs.string(symbol) for symbol in docs.names()},
        origin=root.origin("opcode"),
    )
    document.close()
    return rules


def _field(table: Table) -> SqeField:
    """Return a part of the entry; its name is that of its kind."""
    name = table.string("name")
    msb, lsb = table.integers("bits")
    source = str(table.origin("name"))
    return SqeField(name, FieldKind(name), table.integer("dword"), Bits(msb, lsb), source=source)
