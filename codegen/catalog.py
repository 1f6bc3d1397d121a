"""Everything in a spec that goes by a name, and how it is looked up.

In: a spec and what a user writes: a public name, its name in Python or upstream, in any case,
or a number. Out: what is known of the item, and a table; or a fault with names that are near.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import UsageError
from xiokv.codegen.semantics.exec import load_exec
from xiokv.codegen.spec.model import (
    Command,
    FieldKind,
    PublicEnum,
    PublicEnumerator,
    PublicRecord,
    ReservedPlace,
    Spec,
    SqeField,
)

Row = dict[str, Any]
_NUMBER = re.compile(r"0x([0-9a-f]{1,8})|([0-9a-f]{1,8})h|([0-9]{1,9})", re.IGNORECASE)
_NEAR = 5
# What nvme-kv.h of rocm-xio calls an enumerator, from its name in lower and in upper case.
_DROP_IN = {"Opcode": "nvme_kv_cmd_{0}", "Status": "NVME_KV_SC_{1}"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What is printed: what is known about the item, then a table."""

    about: Row
    rows: tuple[Row, ...] = ()


def look_up(spec: Spec, name: str) -> Shown:
    """Return what goes by a name, or all that has a value.

    Raises:
        UsageError: nothing does; it names what is near.
    """
    if number := _NUMBER.fullmatch(name):
        base16, decimal = number[1] or number[2], number[3]
        return _by_value(spec, int(base16, 16) if base16 else int(decimal), name)
    items: dict[str, Shown] = {}
    for alias, item in _items(spec):
        items.setdefault(alias, item)
    folded: dict[str, Shown] = {}
    for alias, item in items.items():
        folded.setdefault(alias.casefold(), item)
    found = items.get(name) or folded.get(name.casefold())
    if found is None and spec.exec is None:
        _refuse_exec(name)
    if found is None:
        near = ", ".join(_near(name, list(items)))
        hint = f"the nearest: {near}" if near else "such as retrieve, Status, xiokv_cpl or 0x87"
        raise UsageError(f"the spec has nothing called {name!r}; {hint}")
    return found


def _refuse_exec(name: str) -> None:
    """Say of a name that only Exec brings along how to have it."""
    rules = load_exec()
    fields = (*rules.fields, *rules.lengths.values())
    names = {known.casefold() for known in (*rules.docs, *(field.name for field in fields))}
    if name.casefold() in names:
        raise UsageError(
            f"{name!r} is of the vendor command {rules.name}, which is off: write exec = true under"
            " [semantics] in the xiokv.toml of a project"
        )


def _near(name: str, known: list[str]) -> list[str]:
    """Return names that are spelled alike, then those that hold what was written."""
    wanted = name.casefold()
    holding = [alias for alias in known if wanted in alias.casefold()]
    alike = get_close_matches(wanted, [alias.casefold() for alias in known], n=_NEAR)
    spelled = [alias for near in alike for alias in known if alias.casefold() == near]
    return list(dict.fromkeys([*spelled, *sorted(holding, key=len)]))[:_NEAR]


def _items(spec: Spec) -> Iterator[tuple[str, Shown]]:
    """Yield what can be shown by every name that it goes by; the first of a name counts."""
    for command in spec.commands:
        names = (command.name, command.symbol, command.upstream)
        yield from ((name, _command(command)) for name in names if name)
    for constant in spec.constants:
        names = (constant.name, constant.upstream, constant.name.replace("XIOKV_", "NVME_KV_", 1))
        yield from ((name, Shown(asdict(constant))) for name in names)
    for enum in spec.enums:
        yield from ((name, _enum(enum)) for name in (enum.name, enum.python, enum.upstream))
    for record in spec.records:
        yield from ((name, _record(record)) for name in (record.name, record.upstream))
    for place in spec.reserved_places:
        yield place.name, _place(spec, place)
    yield from _fields(spec)
    yield from _enumerators(spec)
    yield from _members(spec)


def _enumerators(spec: Spec) -> Iterator[tuple[str, Shown]]:
    commands = {command.name for command in spec.commands}
    for enum in spec.enums:
        for one in enum.enumerators:
            shown = Shown(_enumerator(enum, one))
            yield from ((name, shown) for name in (one.name, one.upstream))
            if enum.python in _DROP_IN:
                yield _DROP_IN[enum.python].format(one.short.lower(), one.short), shown
            if one.short.casefold() not in commands:
                yield one.short, shown


def _enumerator(enum: PublicEnum, one: PublicEnumerator) -> Row:
    return {
        "name": one.name,
        "value": f"{one.value:#04x}",
        "enum": enum.name,
        "python": f"{enum.python}.{one.short}",
        "upstream": one.upstream,
        "brief": one.brief,
    }


def _by_value(spec: Spec, value: int, name: str) -> Shown:
    """Return every enumerator of a value."""
    rows = tuple(
        {"name": one.name, "enum": enum.name, "brief": one.brief}
        for enum in spec.enums
        for one in enum.enumerators
        if one.value == value
    )
    if not rows:
        raise UsageError(f"the spec has no name for the value {name}; xiokv-gen show Status lists")
    return Shown({"value": f"{value:#04x}", "found": len(rows)}, rows)


def _members(spec: Spec) -> Iterator[tuple[str, Shown]]:
    """Yield the members of records, by the record's name and the path."""
    for record in spec.records:
        whole = _record(record)
        for row, (path, _, _) in zip(whole.rows, record.layout.walk(), strict=True):
            name = f"{record.name}.{path}"
            yield name, Shown({**row, "name": name})


def _fields(spec: Spec) -> Iterator[tuple[str, Shown]]:
    """Yield the fields of commands, with their place in each."""
    names = dict.fromkeys(field.name for command in spec.commands for field in command.fields)
    for name in names:
        found = [(c, f) for c in spec.commands for f in c.fields if f.name == name]
        rows = tuple({"command": command.name, **_field(field)} for command, field in found)
        yield name, Shown(_about_field(spec, found[0][1]), rows)


def _about_field(spec: Spec, field: SqeField) -> Row:
    about = {"name": field.name, "kind": field.kind.value}
    if field.kind is not FieldKind.SEMANTIC:
        return about
    declared = next(one for one in spec.profile.fields if one.name == field.name)
    more = {"scope": declared.scope, "unit": declared.unit, "meaning": declared.meaning}
    return {**about, "profile": spec.profile.name, **more}


def _field(field: SqeField) -> Row:
    return {
        "place": f"CDW{field.dword}{field.bits}",
        "value": "" if field.value is None else f"{field.value:#x}",
        "source": field.source,
    }


def _enum(enum: PublicEnum) -> Shown:
    about = {"name": enum.name, "python": enum.python, "brief": enum.brief}
    rows = (
        {"name": e.name, "value": f"{e.value:#04x}", "brief": e.brief} for e in enum.enumerators
    )
    return Shown(about, tuple(rows))


def _record(record: PublicRecord) -> Shown:
    about = {"name": record.name, "size": record.layout.size, "brief": record.brief}
    rows = (
        {
            "byte": offset // 8,
            "bits": str(Bits.at(offset % 8, field.width)) if field.bitfield else "",
            "name": path + "".join(f"[{n}]" for n in field.dims),
            "brief": record.briefs[path],
        }
        for path, offset, field in record.layout.walk()
    )
    return Shown(about, tuple(rows))


def _place(spec: Spec, place: ReservedPlace) -> Shown:
    about = {
        "name": place.name,
        "place": f"CDW{place.dword}{place.bits}",
        "profile": spec.profile.name,
        "brief": "Zero on the wire, but for the fields that the profile declares.",
    }
    rows = (
        {
            "place": f"CDW{f.dword}{f.bits}",
            "name": f.name,
            "scope": f.scope,
            "commands": ", ".join(f.commands),
            "unit": f.unit,
            "meaning": f.meaning,
        }
        for f in spec.profile.fields
        if f.dword == place.dword and f.bits.overlaps(place.bits)
    )
    return Shown(about, tuple(rows))


def _command(item: Command) -> Shown:
    about = {
        "name": item.name,
        "opcode": f"{item.opcode:#04x}",
        "symbol": item.symbol,
        "direction": item.direction,
        "key bytes": f"{item.key_min} to {item.key_max}",
        "options": ", ".join(f"{o.name} {o.mask:#04x}" for o in item.options) or "none",
        "brief": item.brief,
    }
    rows = (
        {
            "place": f"CDW{f.dword}{f.bits}",
            "name": f.name,
            "kind": f.kind.value,
            "value": "" if f.value is None else f"{f.value:#x}",
            "source": f.source,
        }
        for f in item.fields
    )
    return Shown(about, tuple(rows))
