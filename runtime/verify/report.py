"""What a run of verify has to say: rows in; lines of a table, a last line, or JSON out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from xiokv.runtime.units import size_text
from xiokv.runtime.verify.run import Row

_LAYOUT = "{:>8}  {:<8}  {:>6}  {:<34}  {:>12}  {:>11}  {:>14}  {}"


def heading() -> str:
    """Return the first line of the table."""
    return _LAYOUT.format(
        "size",
        "case",
        "blocks",
        "outcomes of Retrieve",
        "not believed",
        "store MB/s",
        "retrieve MB/s",
        "verdict",
    )


def line(row: Row) -> str:
    """Return a row of the table."""
    return _LAYOUT.format(
        size_text(row.size),
        row.case,
        row.blocks,
        _outcomes(row),
        row.not_believed,
        f"{row.stored.rate:.0f}",
        f"{row.retrieved.rate:.0f}",
        "WRONG" if row.wrong else "right",
    )


def all_right(rows: Iterable[Row]) -> str:
    """Return the last line of a run in which nothing was wrong."""
    blocks, moved = _totals(rows)
    return f"verified {blocks} blocks, {moved} bytes: all right"


def what_is_wrong(row: Row) -> str:
    """Return the last line of a run that ended with a row."""
    return f"wrong at value size {size_text(row.size)}, case {row.case}: {row.wrong}"


def as_values(rows: Sequence[Row]) -> dict[str, Any]:
    """Return everything about a run, for JSON."""
    blocks, moved = _totals(rows)
    wrong = [_wrong_values(row) for row in rows if row.wrong]
    return {
        "ok": not wrong,
        "verified_blocks": blocks,
        "verified_bytes": moved,
        "wrong": wrong[0] if wrong else None,
        "rows": [_row_values(row) for row in rows],
    }


def _outcomes(row: Row) -> str:
    text = ", ".join(f"{count} {name}" for name, count in sorted(row.outcomes.items()))
    return f"{text}; then {row.again} OK" if row.again else text


def _totals(rows: Iterable[Row]) -> tuple[int, int]:
    pairs = [(row.verified_blocks, row.verified_bytes) for row in rows]
    return sum(blocks for blocks, _ in pairs), sum(moved for _, moved in pairs)


def _wrong_values(row: Row) -> dict[str, Any]:
    assert row.wrong is not None  # noqa: S101 - the caller has looked
    return {"size": row.size, "case": row.case, **asdict(row.wrong)}


def _row_values(row: Row) -> dict[str, Any]:
    values = asdict(row)
    del values["wrong"]
    return {**values, "right": row.wrong is None}
