"""Lines to entries: what belongs together, and whether it is an SQE or a CQE.

In: lines of text. Out: entries with their bytes. A line whose length is that of an entry is
one; other lines are put together with their neighbours, those of a dump by their addresses.
The length tells the kind, unless it is forced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xiokv.codegen.decode.hexline import Piece, Traced, ends_dump, read_line, says_nothing
from xiokv.codegen.errors import Origin, SourceError
from xiokv.codegen.spec.model import CQE_BYTES, SQE_BYTES

SIZES = {"sqe": SQE_BYTES, "cqe": CQE_BYTES}
_ALLOWED = f"an SQE has {SQE_BYTES} bytes, a CQE {CQE_BYTES}"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry; `traced` is what a line of a trace says of it."""

    kind: str
    data: bytes
    origin: Origin
    traced: Traced | None = None


def read_entries(lines: Iterable[str], name: str, kind: str | None = None) -> Iterator[Entry]:
    """Yield the entries that lines of text state.

    Args:
        lines: the text.
        name: what errors call it.
        kind: "sqe" or "cqe" where the caller knows; by length otherwise.

    Raises:
        SourceError: a line is not understood, or bytes make no entry.
    """
    for run in _runs(lines, name, kind):
        yield from _entries(run, kind)


def _runs(lines: Iterable[str], name: str, kind: str | None) -> Iterator[list[Piece]]:
    """Yield the lines that belong together."""
    run: list[Piece] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or says_nothing(line) or ends_dump(line, _end(run)):
            piece = None
        else:
            piece = read_line(line, Origin(name, number))
        if run and (piece is None or not _continues(run, piece, kind)):
            yield run
            run = []
        if piece is not None:
            run.append(piece)
    if run:
        yield run


def _end(run: list[Piece]) -> int | None:
    """Return the address at which a run of lines of a dump ends."""
    return run[-1].offset + len(run[-1].data) if run and run[-1].offset is not None else None


def _continues(run: list[Piece], piece: Piece, kind: str | None) -> bool:
    last = run[-1]
    if piece.traced or last.traced:
        return False
    if piece.offset is not None or last.offset is not None:
        return piece.offset == _end(run)
    return not (_is_whole(last, kind) or _is_whole(piece, kind))


def _is_whole(piece: Piece, kind: str | None) -> bool:
    return len(piece.data) in ([SIZES[kind]] if kind else SIZES.values())


def _entries(run: list[Piece], kind: str | None) -> Iterator[Entry]:
    data = b"".join(piece.data for piece in run)
    first = run[0]
    traced = first.traced
    if traced:
        _check_traced(traced, kind, first.origin)
        kind = traced.kind
    found = kind or next((k for k, size in SIZES.items() if len(data) == size), None)
    if found is None or len(data) % SIZES[found]:
        raise SourceError(first.origin, _fault(len(data), kind))
    for at in range(0, len(data), SIZES[found]):
        yield Entry(found, data[at : at + SIZES[found]], first.origin, traced)


def _check_traced(traced: Traced, kind: str | None, origin: Origin) -> None:
    if kind not in (None, traced.kind):
        raise SourceError(
            origin, f"the trace says {traced.kind}, --kind {kind}; leave --kind out for a trace"
        )


def _fault(size: int, kind: str | None) -> str:
    seen = f"{size} byte{'' if size == 1 else 's'}"
    if kind:
        return f"{seen}, and each {kind.upper()} has {SIZES[kind]}"
    several = [k for k, whole in SIZES.items() if size > whole and size % whole == 0]
    if not several:
        return f"{seen}; {_ALLOWED}"
    counts = " or ".join(f"--kind {k} for {size // SIZES[k]} entries" for k in several)
    return f"{seen}; {_ALLOWED}; give {counts}"
