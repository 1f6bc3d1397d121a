"""Entries that were given as 32-bit words, highest byte first, and look wrong as bytes.

In: an entry and what it says. Out: the same with a note, where the entry makes no sense as it
stands and does with the bytes of each word reversed. Tools that print dwords as ``%08x`` give
such digits; nothing in them tells, so nothing is decoded but what was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xiokv.codegen.decode.completion import decode_completion
from xiokv.codegen.decode.entries import Entry
from xiokv.codegen.decode.submission import command_of, decode_submission
from xiokv.codegen.decode.table import Decoded
from xiokv.codegen.spec.model import Spec

_WORD = 4


def with_note(spec: Spec, entry: Entry, decoded: Decoded) -> Decoded:
    """Return what an entry says, with a note where its words seem to be reversed."""
    makes_sense = _SENSE[entry.kind]
    if entry.traced or makes_sense(spec, entry.data, decoded):
        return decoded
    data = b"".join(entry.data[at : at + _WORD][::-1] for at in range(0, len(entry.data), _WORD))
    reading = _READ[entry.kind](spec, data)
    if not makes_sense(spec, data, reading):
        return decoded
    return replace(
        decoded,
        note=f"with the bytes of each 32-bit word reversed this is: {reading.title}; if the"
        " digits are numbers of 8 digits, put 0x before each",
    )


def _command_is_known(spec: Spec, data: bytes, decoded: Decoded) -> bool:
    command = command_of(spec, data)
    return command is not None and not any(row.faults for row in decoded.rows)


def _status_is_known(spec: Spec, data: bytes, decoded: Decoded) -> bool:
    """Tell whether a completion has its status from the spec."""
    names = {enumerator.short for enumerator in spec.enum("Status").enumerators}
    status = decoded.title.partition(",")[0]
    return status in names and not any(row.faults for row in decoded.rows)


_SENSE: dict[str, Callable[[Spec, bytes, Decoded], bool]] = {
    "sqe": _command_is_known,
    "cqe": _status_is_known,
}
_READ: dict[str, Callable[[Spec, bytes], Decoded]] = {
    "sqe": decode_submission,
    "cqe": decode_completion,
}
