"""xiokv probe: look at a key-value namespace, and try it where that is asked for."""

from __future__ import annotations

import json
from typing import Any

import click

from xiokv.runtime.units import size_text


@click.command(name="probe")
@click.argument("device", required=False)
@click.option(
    "--write",
    is_flag=True,
    help="Also store a value under a random key that is not there, retrieve, compare and"
    " delete it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(device: str | None, write: bool, as_json: bool) -> None:
    """Look at the key-value namespace of DEVICE, such as /dev/ng0n1.

    Its limits are read, a random key is asked for and the first keys are listed; nothing is
    changed without --write. Without DEVICE it is the embedded controller that is tried.
    """
    from xiokv.runtime.nvme.probe import probe

    found = probe(device, write=write)
    if as_json:
        click.echo(json.dumps({name: _value(name, value) for name, value in found.items()}))
        return
    for name, value in found.items():
        click.echo(f"{name.replace('_', ' '):<18} {_text(name, value)}")


def _value(name: str, value: Any) -> Any:
    """Return what JSON has: no limit is null, and a time has tenths."""
    if name.endswith("_bytes"):
        return value or None
    return round(value, 1) if name.endswith("_us") else value


def _text(name: str, value: Any) -> str:
    if name.endswith("_bytes"):
        return size_text(value) if value else "no limit"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return f"{value:.0f} us" if name.endswith("_us") else str(value)
