"""A completion queue entry to rows.

In: a spec, 16 bytes, and the command that completed where a trace shows it. Out: a `Decoded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xiokv.codegen.bits import Bits
from xiokv.codegen.decode.meanings import RESERVED_ARE_SET, in_units
from xiokv.codegen.decode.status import status_name, status_type
from xiokv.codegen.decode.table import Decoded, Row, dword_place, hexadecimal
from xiokv.codegen.render.completion import CompletionPart, completion_parts
from xiokv.codegen.spec.model import Spec

_DWORD = 32
# Command -> what DW0 of its completion is the whole size of.
_RETURNED = {"retrieve": "value", "exec": "output"}
_RECORD = "xiokv_cpl"
_STATUS_MEMBER, _STATUS_RECORD = "status.", "xiokv_status"


@dataclass(frozen=True, slots=True)
class Completed:
    """The command that a completion is of.

    Attributes:
        command: its name.
        brings: what it brings to the host, whose whole size DW0 then is; or empty.
        room: bytes of the buffer for that.
    """

    command: str
    brings: str
    room: int


def decode_completion(spec: Spec, data: bytes, completed: Completed | None = None) -> Decoded:
    """Return what 16 bytes say."""
    entry = int.from_bytes(data, "little")
    parts = completion_parts(spec)
    values = {part.name: _bits(part).extract(entry) for part in parts}
    meanings = _meanings(spec, values, completed)
    rows = tuple(
        Row(
            part.name,
            dword_place(_bits(part)).removeprefix("C"),  # DW0: a completion's are not CDWs
            hexadecimal(values[part.name], part.bits.width),
            meanings.get(part.name) or _brief(spec, part.member),
            (RESERVED_ARE_SET,) if part.name == "dw1" and values["dw1"] else (),
        )
        for part in parts
    )
    return Decoded("cqe", _title(spec, values, completed), rows)


def _bits(part: CompletionPart) -> Bits:
    return Bits.at(part.dword * _DWORD + part.bits.lsb, part.bits.width)


def _title(spec: Spec, values: Mapping[str, int], completed: Completed | None) -> str:
    status = status_name(spec, values["sct"], values["sc"]).name
    of = f" of {completed.command}" if completed else ""
    return (
        f"{status}{of}, CID {hexadecimal(values['cid'], 16)} of submission queue {values['sqid']}"
    )


def _meanings(spec: Spec, values: Mapping[str, int], completed: Completed | None) -> dict[str, str]:
    """Return words about the parts of which more can be said than what they are for."""
    status = status_name(spec, values["sct"], values["sc"])
    succeeded = values["sct"] == 0 and values["sc"] == 0
    meanings = {
        "sc": f"{status.name}: {status.brief}",
        "sct": status_type(spec, values["sct"]),
        "more": "the error log holds more" if values["more"] else "no more in the error log",
        "dnr": "do not retry" if values["dnr"] else "not set",
    }
    if completed and completed.brings and succeeded:
        meanings["dw0"] = _brought(values["dw0"], completed)
    return meanings


def _brought(size: int, completed: Completed) -> str:
    whole = f"the {completed.brings} has {in_units(size)}"
    if size <= completed.room:
        return whole
    return f"{whole}, truncated: the buffer had {in_units(completed.room)}"


def _brief(spec: Spec, member: str) -> str:
    briefs = {record.name: record.briefs for record in spec.records}
    inner = member.removeprefix(_STATUS_MEMBER)
    return briefs[_RECORD].get(member) or briefs[_STATUS_RECORD].get(inner, "")
