"""Faults that the controller can be asked for, from Python's arguments to the C structure."""

from __future__ import annotations

from enum import IntEnum

from xiokv.runtime.arguments import number, within
from xiokv.runtime.emulator import library
from xiokv.runtime.errors import ArgumentFault

RULES = (
    "REORDER and REVERSE are of a whole queue and need an amount; a CID or SQID has 16 bits,"
    " a size 32"
)

_MILLION = 1_000_000
_KEY_BYTES = 16


class FaultKind(IntEnum):
    """Kinds of faults; ``amount`` is what each takes.

    A unit of time is a microsecond where threads serve, else a call of ``step`` for the
    queue.
    """

    REORDER = 1
    """Completions leave in random order; amount: how many gather first."""
    REVERSE = 2
    """Groups of completions leave last first; amount: size of a group."""
    DELAY = 3
    """A command waits before it moves data and completes; amount: units of time."""
    DROP = 4
    """A command is carried out and its completion never comes."""
    DUPLICATE = 5
    """A completion comes again; amount: units of time after the first."""
    STATUS = 6
    """A command completes with sct, sc and dnr, and is not carried out."""
    UNKNOWN_CID = 7
    """One more completion comes; amount: its CID, FFFFh for 0."""
    FOREIGN_SQID = 8
    """One more completion comes; amount: its SQID, the next queue's for 0."""
    BAD_SIZE = 9
    """A Retrieve's DW0 is false; amount: its value, the maximum and 1 for 0."""
    STALL = 10
    """The queue stops; amount: units of time, until faults are cleared for 0."""


def fault(
    kind: FaultKind | str,
    *,
    probability: float,
    key: bytes,
    status: tuple[int, int, bool],
    **numbers: int,
) -> library.Fault:
    """Return the structure for a fault; ``Emulator.fault`` says what the arguments mean."""
    for name, value in numbers.items():
        bits = 8 * getattr(library.Fault, name).size
        numbers[name] = within(name, value, 0, (1 << bits) - 1)
    return library.Fault(
        kind=_parse_kind(kind),
        probability=_parts_in_a_million(probability),
        status=_status_field(*status),
        key=_key_image(key),
        key_length=len(key),
        **numbers,
    )


def _parse_kind(kind: FaultKind | str) -> FaultKind:
    """Return a kind by itself or by its name, in lower case."""
    names = [member.name.lower() for member in FaultKind]
    if isinstance(kind, FaultKind):
        return kind
    if kind not in names:
        raise ArgumentFault(f"kind is {kind!r}; allowed are: {', '.join(names)}")
    return FaultKind[kind.upper()]


def _status_field(sct: int, sc: int, dnr: bool) -> int:
    """Return bits 15:1 of a CQE's status."""
    return within("sc", sc, 0, 0xFF) | within("sct", sct, 0, 7) << 8 | bool(dnr) << 14


def _parts_in_a_million(given: float) -> int:
    """Return a probability as the C side has it: 1 is 0, which means always."""
    probability = number("probability", given)
    if not 0 < probability <= 1:
        raise ArgumentFault(f"probability is {given}; allowed is above 0, up to 1")
    return 0 if probability == 1 else max(1, round(probability * _MILLION))


def _key_image(key: bytes) -> tuple[int, ...]:
    """Return a key as the 16 bytes of its member."""
    if not isinstance(key, (bytes, bytearray)):
        raise ArgumentFault(f"key is {key!r}; allowed are bytes")
    if len(key) > _KEY_BYTES:
        raise ArgumentFault(f"key has {len(key)} bytes; allowed are 1 to {_KEY_BYTES}")
    return tuple(key.ljust(_KEY_BYTES, b"\0"))
