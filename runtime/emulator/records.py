"""What the controller tells about itself: totals, and the entries that it saw."""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.runtime.emulator import library


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """An entry as it was fetched or posted.

    ``str`` of it is one line of four words, which ``xiokv-gen decode`` reads: nanoseconds,
    kind, queue and the bytes in hexadecimal.

    Attributes:
        nanoseconds: since the trace was started.
        kind: "sqe" or "cqe".
        qid: the submission queue; 0 for admin commands.
        data: 64 or 16 bytes.
    """

    nanoseconds: int
    kind: str
    qid: int
    data: bytes

    def __str__(self) -> str:
        """Return the record as a line of text."""
        return f"{self.nanoseconds} {self.kind} {self.qid} {self.data.hex()}"


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the controller was made; ``xiokv_emulator.h`` says what each counts."""

    commands: int
    completions: int
    bytes_in: int
    bytes_out: int
    doorbells: int
    invalid_doorbells: int
    held_completions: int
    keys: int
    bytes_stored: int
    trace_lost: int


def trace_record(entry: library.TraceEntry) -> TraceRecord:
    """Return one record of a trace."""
    is_cqe = bool(entry.kind)
    size = library.CQE_BYTES if is_cqe else library.SQE_BYTES
    kind = "cqe" if is_cqe else "sqe"
    return TraceRecord(entry.nanoseconds, kind, entry.qid, bytes(entry.bytes)[:size])


def counters(totals: library.Totals) -> Counters:
    """Return the counters that a structure holds."""
    return Counters(**{name: getattr(totals, name) for name, *_ in totals._fields_})
