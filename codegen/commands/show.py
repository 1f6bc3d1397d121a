"""xiokv-gen show: a thing of the spec by its name, or all that has a value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import click

from xiokv.codegen.catalog import Shown, look_up
from xiokv.codegen.render.text import one_line
from xiokv.codegen.spec.load import nearest_spec


@click.command(name="show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def command(project: str | None, name: str, as_json: bool) -> None:
    """Show a command, field, record, enum, status, constant or reserved place by NAME.

    NAME is the public name, the one in Python or upstream's, in any case, or a value such as
    0x87. The spec and the profile are those of the nearest project, else the bundled ones.
    """
    shown = look_up(nearest_spec(project), name)
    click.echo(json.dumps(asdict(shown), indent=2) if as_json else _as_text(shown))


def _as_text(shown: Shown) -> str:
    lines = [f"{key}: {one_line(str(value))}" for key, value in shown.about.items() if value != ""]
    if shown.rows:
        lines += ["", *_table(shown.rows)]
    return "\n".join(lines)


def _table(rows: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    cells = [list(rows[0]), *([one_line(str(value)) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
