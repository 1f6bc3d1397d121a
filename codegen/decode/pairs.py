"""Entries of a trace in their order: which completion is of which command.

In: entries. Out: what each says. Only lines of a trace name their queue; a completion that
stands alone is decoded without its command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xiokv.codegen.decode.completion import Completed, decode_completion
from xiokv.codegen.decode.entries import Entry
from xiokv.codegen.decode.meanings import Context
from xiokv.codegen.decode.submission import command_of, decode_submission
from xiokv.codegen.decode.table import Decoded
from xiokv.codegen.render.completion import completion_parts
from xiokv.codegen.spec.model import FieldKind, Spec

_ADMIN_QUEUE = 0
_DWORD = 32


def decode_all(spec: Spec, entries: Iterable[Entry]) -> Iterator[Decoded]:
    """Yield what each entry says."""
    open_commands: dict[tuple[int, int], Completed] = {}
    for entry in entries:
        qid = entry.traced.qid if entry.traced else None
        if entry.kind == "cqe":
            completed = open_commands.get((qid, _cid(spec, entry.data))) if qid else None
            yield decode_completion(spec, entry.data, completed)
            continue
        yield decode_submission(spec, entry.data, admin=qid == _ADMIN_QUEUE)
        command = command_of(spec, entry.data)
        if qid and command:
            context = Context(spec, command, int.from_bytes(entry.data, "little"))
            open_commands[qid, context.value(FieldKind.CID)] = _open(context)


def _open(context: Context) -> Completed:
    command = context.command
    if command.of_kind(FieldKind.OUTPUT_SIZE):
        return Completed(command.name, "output", context.value(FieldKind.OUTPUT_SIZE))
    brings = "value" if command.name == "retrieve" else ""
    return Completed(command.name, brings, context.value(FieldKind.VALUE_SIZE))


def _cid(spec: Spec, data: bytes) -> int:
    """Return the command identifier that a completion states."""
    part = next(part for part in completion_parts(spec) if part.name == "cid")
    return part.bits.extract(int.from_bytes(data, "little") >> part.dword * _DWORD)
