"""Profile files: the reserved semantic fields that a project declares.

In: the TOML file of a project, or a packaged one. Out: a frozen `Profile`, each
field checked by itself; whether it lies where a command has room is for
`xiokv.codegen.spec.placement` to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from xiokv.codegen.bits import Bits
from xiokv.codegen.semantics.words import fault_of
from xiokv.codegen.spec.model import SQE_DWORDS, Profile, SemanticField
from xiokv.codegen.tomlfile import Document, Table

SCHEMA = 1
DEFAULT = "default"
_FOLDER = Path(__file__).with_name("profiles")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_SCOPES: dict[str, Literal["batch", "key"]] = {"batch": "batch", "key": "key"}
_EXEC_LENGTHS = ("payload", "input")  # as in exec.toml; the first is the default
_NO_BITS = Bits(0, 0)


def packaged() -> tuple[str, ...]:
    """Return the names of the profiles that xiokv brings along."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_packaged(name: str, commands: Iterable[str]) -> Profile:
    """Read one of the profiles that xiokv brings along."""
    path = _FOLDER / f"{name}.toml"
    return load_profile(path, commands, f"profiles/{path.name}")


def load_profile(path: Path, commands: Iterable[str], shown: str) -> Profile:
    """Read the profile at `path`.

    Args:
        path: the file.
        commands: names of the commands that a field may name.
        shown: the path that messages show.
    """
    document = Document.read(path, shown)
    root = document.root
    _check_schema(root)
    name = root.string("name")
    _check_name(root, name)
    tables = root.tables("field")
    fields = tuple(_field(table, tuple(commands)) for table in tables)
    _check_unique(tables, fields)
    length = _exec_length(root.table("exec"))
    document.close()
    return Profile(name, fields, length)


def _exec_length(table: Table) -> str:
    """Return what the length in Exec's entry counts."""
    length = table.string("length", _EXEC_LENGTHS[0])
    if length not in _EXEC_LENGTHS:
        table.fault("length", f'length = {length!r}: write "payload" or "input"')
    return length


def _check_schema(root: Table) -> None:
    schema = root.integer("schema")
    if schema != SCHEMA:
        root.fault("schema", f"schema = {schema}: this xiokv reads profiles of schema {SCHEMA}")


def _field(table: Table, known: tuple[str, ...]) -> SemanticField:
    name = table.string("name")
    _check_name(table, name)
    if fault := fault_of(name):
        table.fault("name", f"{fault}; choose another name")
    return SemanticField(
        name=name,
        dword=_dword(table),
        bits=_bits(table),
        scope=_scope(table),
        commands=_commands(table, known),
        unit=table.string("unit"),
        meaning=table.string("meaning"),
        source=str(table.origin("name")),
    )


def _check_name(table: Table, name: str) -> None:
    if not _NAME.fullmatch(name):
        table.fault(
            "name",
            f"name {name!r} is not allowed; a name is 1 to 32 of a-z, 0-9 and '_', a letter first",
        )


def _dword(table: Table) -> int:
    dword = table.integer("dword")
    if not 0 <= dword < SQE_DWORDS:
        table.fault("dword", f"dword = {dword}: an entry has dwords 0 to {SQE_DWORDS - 1}")
    return dword


def _bits(table: Table) -> Bits:
    given = table.integers("bits")
    if len(given) == 2 and 31 >= given[0] >= given[1] >= 0:
        return Bits(given[0], given[1])
    table.fault(
        "bits", f"bits = {list(given)}: write [msb, lsb] within a dword, 31 >= msb >= lsb >= 0"
    )
    return _NO_BITS


def _scope(table: Table) -> Literal["batch", "key"]:
    scope = table.string("scope")
    if scope not in _SCOPES:
        table.fault("scope", f'scope = {scope!r}: write "batch" or "key"')
    return _SCOPES.get(scope, "batch")


def _commands(table: Table, known: tuple[str, ...]) -> tuple[str, ...]:
    given = table.strings("commands")
    unknown = [name for name in given if name not in known]
    if not given or unknown or len(set(given)) != len(given):
        table.fault(
            "commands",
            f"commands = {list(given)}: name one or more of {', '.join(known)}, each once",
        )
    return tuple(name for name in known if name in given)


def _check_unique(tables: list[Table], fields: tuple[SemanticField, ...]) -> None:
    first: dict[str, SemanticField] = {}
    for table, field in zip(tables, fields, strict=True):
        if earlier := first.get(field.name):
            table.fault("name", f"field {field.name!r} is declared at {earlier.source} too")
        first.setdefault(field.name, field)
