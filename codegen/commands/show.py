"""xiokv-gen show: a command, record, enum, constant, reserved place or field of the spec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

import click

from xiokv.codegen.bits import Bits
from xiokv.codegen.config import load_config
from xiokv.codegen.errors import UsageError
from xiokv.codegen.render.text import one_line
from xiokv.codegen.spec.load import load_spec
from xiokv.codegen.spec.model import (
    Command,
    PublicEnum,
    PublicRecord,
    ReservedPlace,
    SemanticField,
    Spec,
)

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is printed: what is known about the item, then a table."""

    about: _Row
    rows: tuple[_Row, ...] = ()


@click.command(name="show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, name: str, as_json: bool) -> None:
    """Show a command, record, enum, constant, reserved place or semantic field by NAME."""
    items = dict(_items(load_spec(load_config(project))))
    if name not in items:
        near = get_close_matches(name, items, n=3, cutoff=0.0)
        raise UsageError(f"the spec has nothing called {name!r}; the nearest: {', '.join(near)}")
    click.echo(json.dumps(asdict(items[name]), indent=2) if as_json else _as_text(items[name]))


def _items(spec: Spec) -> Iterator[tuple[str, _Shown]]:
    """Yield what can be shown, by every name that it goes by; the last of a name counts."""
    for field in spec.profile.fields:
        yield field.name, _field(spec, field)
    for constant in spec.constants:
        yield constant.name, _Shown(asdict(constant))
    for enum in spec.enums:
        yield from ((name, _enum(enum)) for name in (enum.name, enum.python))
    for record in spec.records:
        yield record.name, _record(record)
    for place in spec.reserved_places:
        yield place.name, _place(spec, place)
    for item in spec.commands:
        yield from ((name, _command(item)) for name in (item.name, item.symbol))


def _enum(enum: PublicEnum) -> _Shown:
    about = {"name": enum.name, "python": enum.python, "brief": enum.brief}
    rows = (
        {"name": e.name, "value": f"{e.value:#04x}", "brief": e.brief} for e in enum.enumerators
    )
    return _Shown(about, tuple(rows))


def _record(record: PublicRecord) -> _Shown:
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
    return _Shown(about, tuple(rows))


def _place(spec: Spec, place: ReservedPlace) -> _Shown:
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
    return _Shown(about, tuple(rows))


def _field(spec: Spec, field: SemanticField) -> _Shown:
    return _Shown(
        {
            "name": field.name,
            "place": f"CDW{field.dword}{field.bits}",
            "profile": spec.profile.name,
            "scope": field.scope,
            "commands": ", ".join(field.commands),
            "unit": field.unit,
            "meaning": field.meaning,
        }
    )


def _command(item: Command) -> _Shown:
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
    return _Shown(about, tuple(rows))


def _as_text(shown: _Shown) -> str:
    lines = [f"{key}: {one_line(str(value))}" for key, value in shown.about.items()]
    if shown.rows:
        lines += ["", *_table(shown.rows)]
    return "\n".join(lines)


def _table(rows: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    cells = [list(rows[0]), *([one_line(str(value)) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
