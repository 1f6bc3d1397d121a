"""Where the parts of a completion queue entry lie, under the names that all outputs give them.

In: a finished spec. Out: one place a part, read from the spec's records.
"""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.bits import Bits
from xiokv.codegen.facts import Facts
from xiokv.codegen.spec.members import locate
from xiokv.codegen.spec.model import Spec

_DWORD = 32
_MEMBERS = {
    "dw0": "cdw0",
    "dw1": "cdw1",
    "sqhd": "sqhd",
    "sqid": "sqid",
    "cid": "cid",
    "phase": "status.p",
    "sc": "status.sc",
    "sct": "status.sct",
    "crd": "status.crd",
    "more": "status.m",
    "dnr": "status.dnr",
}


@dataclass(frozen=True, slots=True)
class CompletionPart:
    """A part of a completion, within its dword; `member` is its path below xiokv_cpl."""

    name: str
    member: str
    dword: int
    bits: Bits


def completion_parts(spec: Spec) -> tuple[CompletionPart, ...]:
    """Return every part, in the order in which outputs list them."""
    layouts = Facts((), (), tuple(record.layout for record in spec.records))
    return tuple(
        _part(name, member, locate(layouts, f"xiokv_cpl.{member}"))
        for name, member in _MEMBERS.items()
    )


def _part(name: str, member: str, place: Bits) -> CompletionPart:
    dword, lsb = divmod(place.lsb, _DWORD)
    return CompletionPart(name, member, dword, Bits.at(lsb, place.width))
