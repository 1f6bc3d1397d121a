"""Views for the shared parts of kv_commands.h: CID, data pointer, completion, status names.

In: a finished spec. Out: statements of C and small views that the template loops over.
"""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.render.c_text import assign
from xiokv.codegen.render.completion import CompletionPart, completion_parts
from xiokv.codegen.spec.model import FieldKind, PublicEnum, PublicEnumerator, Spec

# Members of struct xiokv_completion that are not one byte, and their types. Reserved dw1
# is no member.
_WIDE = {"dw0": "uint32_t", "sqhd": "uint16_t", "sqid": "uint16_t", "cid": "uint16_t"}
_LEFT_OUT = "dw1"


def completion_reads(spec: Spec) -> tuple[str, ...]:
    """Return the assignments that take a completion queue entry apart."""
    return tuple(_read(part) for part in completion_parts(spec) if part.name != _LEFT_OUT)


def _read(part: CompletionPart) -> str:
    value = f"xiokv_bits_get(cqe->dw[{part.dword}], {part.bits.msb}, {part.bits.lsb})"
    return assign(f"completion->{part.name}", f"({_WIDE.get(part.name, 'uint8_t')}){value}")


def cid_write(spec: Spec) -> str:
    """Return the assignment that sets the command identifier, the same in every command."""
    (field,) = spec.commands[0].of_kind(FieldKind.CID)
    word = f"sqe->dw[{field.dword}]"
    return assign(word, f"xiokv_bits_set({word}, cid, {field.bits.msb}, {field.bits.lsb})")


def prp_dwords(spec: Spec) -> tuple[int, ...]:
    """Return the dwords of the data pointer: PRP entry 1, then 2, the lower half first."""
    pointers = (command.of_kind(FieldKind.DATA_POINTER) for command in spec.commands)
    return tuple(field.dword for field in max(pointers, key=len))


@dataclass(frozen=True, slots=True)
class StatusNames:
    """The function that names the codes of one status code type, and these codes."""

    function: str
    type: int
    codes: tuple[PublicEnumerator, ...]


def status_names(spec: Spec) -> tuple[StatusNames, ...]:
    """Return the functions that name status codes, the Key-Value codes among them."""
    return (
        StatusNames("xiokv_generic_status_name", 0, _distinct(spec.enum("Status"))),
        StatusNames("xiokv_command_status_name", 1, _distinct(spec.enum("CommandStatus"))),
    )


def _distinct(enum: PublicEnum) -> tuple[PublicEnumerator, ...]:
    """Return one enumerator a value, the first: a switch takes no value twice."""
    return tuple({code.value: code for code in reversed(enum.enumerators)}.values())[::-1]
