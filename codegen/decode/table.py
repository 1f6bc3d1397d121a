"""What is known of an entry: a line about it, and a row for each of its parts.

In: rows. Out: a table for a reader, or values for JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xiokv.codegen.bits import Bits
from xiokv.codegen.render.text import one_line

_HEAD = (" ", "field", "bits", "value", "meaning")
_DWORD = 32


@dataclass(frozen=True, slots=True)
class Row:
    """A part of an entry.

    Attributes:
        name: the part's.
        place: the dwords and bits that hold it.
        value: its content, in hexadecimal.
        meaning: what the content says, in words.
        faults: what is wrong with it; none where all is well.
    """

    name: str
    place: str
    value: str
    meaning: str = ""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """An entry: its kind, what it is in words, its parts, and what to know besides."""

    kind: str
    title: str
    rows: tuple[Row, ...]
    note: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the title, then a table in which a fault begins its line with ``!``."""
        yield f"{self.kind.upper()}: {self.title}"
        if self.note:
            yield f"   note: {one_line(self.note)}"
        cells = [_HEAD, *(_cells(row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for line in cells:
            yield "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()

    def as_json(self) -> dict[str, Any]:
        """Return the entry as JSON values."""
        rows = [
            {
                "field": row.name,
                "bits": row.place,
                "value": row.value,
                "meaning": row.meaning,
                "faults": list(row.faults),
            }
            for row in self.rows
        ]
        return {"kind": self.kind, "title": self.title, "note": self.note, "fields": rows}


def dword_place(bits: Bits) -> str:
    """Return bits of an entry as dwords, such as ``CDW11[7:0]`` or ``CDW6..7``."""
    first, last = bits.lsb // _DWORD, bits.msb // _DWORD
    if first != last:
        return f"CDW{first}..{last}"
    return f"CDW{first}{Bits(bits.msb - first * _DWORD, bits.lsb - first * _DWORD)}"


def hexadecimal(value: int, bits: int) -> str:
    """Return a value with as many digits as its bits may need."""
    return f"{value:#0{2 + (bits + 3) // 4}x}"


def _cells(row: Row) -> tuple[str, ...]:
    said = [row.meaning, *(f"FAULT: {fault}" for fault in row.faults)]
    told = one_line("; ".join(part for part in said if part))
    return ("!" if row.faults else "", row.name, row.place, row.value, told)
