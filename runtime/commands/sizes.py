"""Sizes on the command line: 511, 4KiB, 1MiB."""

from __future__ import annotations

import re
from collections.abc import Callable

import click

SIZE_MAX = 32 << 20

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(r"([0-9]{1,10})\s*(B|KiB|MiB|GiB|)")

Callback = Callable[[click.Context, click.Parameter, str], tuple[int, ...]]


def sizes(least: int, most: int = SIZE_MAX) -> Callback:
    """Return a callback that reads a list of sizes with commas, in bytes."""

    def read(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
        return tuple(_size(text.strip(), least, most) for text in value.split(","))

    return read


def _size(text: str, least: int, most: int) -> int:
    parts = _SIZE.fullmatch(text)
    if parts is None:
        raise click.BadParameter(f"{text!r} is no size; such are 511, 4KiB and 1MiB")
    size = int(parts[1]) * _UNITS[parts[2]]
    if not least <= size <= most:
        wrong = "large" if size > most else "small"
        raise click.BadParameter(
            f"{text} is too {wrong}; {size_option(least)} to {size_option(most)} is allowed"
        )
    return size


def size_option(size: int) -> str:
    """Return a size as it is written on the command line."""
    for unit in ("GiB", "MiB", "KiB"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)
