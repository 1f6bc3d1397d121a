"""Views for kv_operation.h: the commands as enumerators of C++, and their words.

In: a finished spec. Out: one view an operation, in the order of their opcodes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.render.c_text import doc
from xiokv.codegen.spec.model import Spec


@dataclass(frozen=True, slots=True)
class OperationView:
    """An operation: its comment, its enumerator, its opcode as C has it, and its word."""

    doc: str
    member: str
    opcode: str
    word: str


def operation_views(spec: Spec) -> tuple[OperationView, ...]:
    """Return the view of every operation."""
    return tuple(
        OperationView(doc(o.brief, indent=2), o.name.upper(), f"{o.opcode:#04x}", o.name)
        for o in spec.operations
    )
