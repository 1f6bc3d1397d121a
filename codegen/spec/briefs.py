"""One sentence of documentation a symbol: from docs.toml, or computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xiokv.codegen.facts import Field, Record

_RESERVED = ("reserved", "rsvd")


class Briefs:
    """Looks sentences up; where docs.toml has none, says what is known."""

    def __init__(self, docs: Mapping[str, str]) -> None:
        """Take the sentences of docs.toml, by symbol."""
        self._docs = docs

    def command(self, name: str) -> str:
        """Return the sentence about a command."""
        return self._docs.get(name, f"The {name} command.")

    def value(self, name: str, upstream: str, value: int) -> str:
        """Return the sentence about a constant or an enumerator."""
        return self._docs.get(name, f"{upstream}, {value:#x}.")

    def tag(self, name: str, upstream: str) -> str:
        """Return the sentence about an enum."""
        return self._docs.get(name, f"Values of {upstream}.")

    def record(self, name: str, upstream: str, size: int) -> str:
        """Return the sentence about a record."""
        return self._docs.get(name, f"Laid out as {upstream}, {size} bytes.")

    def fields(self, name: str, layout: Record) -> dict[str, str]:
        """Return the sentences about a record's members, by dotted path."""
        return {
            path: self._docs.get(f"{name}.{path}", _place(offset, field))
            for path, offset, field in layout.walk()
        }


def documented_members(layout: Record) -> Iterator[str]:
    """Yield the dotted paths that need a sentence of their own: all but reserved ones."""
    for path, _, field in layout.walk():
        if not field.name.startswith(_RESERVED):
            yield path


def _place(offset: int, field: Field) -> str:
    if field.name.startswith(_RESERVED):
        return "Reserved."
    if field.bitfield:
        return f"Byte {offset // 8}, from bit {offset % 8}, {field.width} bits wide."
    return f"At byte {offset // 8}."
