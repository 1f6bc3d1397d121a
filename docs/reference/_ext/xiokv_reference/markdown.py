"""Markdown of tables, in which a cell is plain text or code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>()#+-.!|~$&:"})


def plain(text: str) -> str:
    """Return text of a spec or profile so that no mark in it means anything."""
    return " ".join(text.split()).translate(_SPECIAL)


def code(text: str) -> str:
    """Return a name or a number as code; nothing for nothing."""
    return f"`{text}`" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
