"""Which registers an instruction writes, and from which registers each value comes.

Registers are named dword by dword: ``v7``, ``s4``, ``vcc_lo``. A lane of a vector register
that holds a spilled scalar is one too: ``v90.3``. Conditions carry no value: what a
comparison writes comes from nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .listing import Instruction

# A register, and those whose values went into what is written to it.
Effect = tuple[str, tuple[str, ...]]

_ONE = re.compile(r"^[-|]*([vsa])(\d+)\|?$")
_MANY = re.compile(r"^([vsa]|ttmp)\[(\d+):(\d+)\]$")
_WIDE = {name: (f"{name}_lo", f"{name}_hi") for name in ("vcc", "exec", "src_shared_base")}
_NAMED = ("vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "m0")
_WRITES_NOTHING = re.compile(
    r"^(?:s_(?:cmp|cmpk|bitcmp|branch|cbranch|wait|barrier|sleep|nop|endpgm|code_end|clause"
    r"|delay|set|trap|icache|dcache)"
    r"|v_cmpx|v_nop|(?:flat|global|buffer)_(?:store|wb|inv|gl)|ds_(?:write|store))"
)
_ATOMIC = re.compile(r"^(?:flat|global|buffer)_atomic_")
_RETURNS = ("glc", "sc0")
_COMPARISON = re.compile(r"^v_cmp_")
_SELECTION = re.compile(r"^(?:v_(?:dual_)?cndmask|s_cselect)_")
_COPY = re.compile(r"^(?:[vs]_(?:dual_)?mov_b\d+|v_accvgpr_\w+)$")
_CARRIES = re.compile(
    r"^v_(?:(?:add|sub|subrev|addc|subb|subbrev)_co|mad_u64|mad_i64|mad_co|div_sc)"
)
_ADDS_TO_ITSELF = re.compile(r"^s_(?:addk|mulk)_|^v_fmac_")


@cache
def registers(operand: str) -> tuple[str, ...]:
    """Return the registers that an operand names, lowest first; a constant names none."""
    if one := _ONE.match(operand):
        return (one[1] + one[2],)
    if many := _MANY.match(operand):
        return tuple(f"{many[1]}{i}" for i in range(int(many[2]), int(many[3]) + 1))
    if operand in _WIDE:
        return _WIDE[operand]
    return (operand,) if operand in _NAMED else ()


def is_atomic(instruction: Instruction) -> bool:
    """Return whether it is an atomic access to memory."""
    return _ATOMIC.match(instruction.name) is not None


def returns(instruction: Instruction) -> bool:
    """Return whether an atomic access brings back what was there."""
    bits = instruction.modifiers
    return any(bit in bits for bit in _RETURNS) or "RETURN" in bits.get("th", "")


def effects(instruction: Instruction) -> list[Effect]:
    """Return what the instruction, both halves of it, does to registers."""
    found = _effects(instruction)
    return found if instruction.pair is None else found + _effects(instruction.pair)


def _effects(instruction: Instruction) -> list[Effect]:
    name, operands = instruction.name, instruction.operands
    if not operands or _writes_nothing(instruction):
        return []
    if name in ("v_writelane_b32", "v_readlane_b32"):
        return _lane(name, operands)
    written = registers(operands[0])
    if _COMPARISON.match(name):
        return [(register, ()) for register in written]
    if _COPY.match(name):
        return _copied(written, registers(operands[1]))
    if name == "v_pk_mov_b32":
        return _packed(instruction, written)
    return list(_computed(name, operands, written))


def _writes_nothing(instruction: Instruction) -> bool:
    if is_atomic(instruction):
        return not returns(instruction)
    if instruction.name.startswith("ds_") and "_rtn_" not in instruction.name:
        return re.match(r"ds_(?:read|load|bpermute|permute|swizzle)", instruction.name) is None
    return _WRITES_NOTHING.match(instruction.name) is not None


def _lane(name: str, operands: tuple[str, ...]) -> list[Effect]:
    """A scalar put into a lane of a vector register, or taken from one."""
    written, vector = operands[:2] if name == "v_readlane_b32" else operands[1::-1]
    lane = operands[2]
    if not lane.isdigit():
        return [] if name == "v_writelane_b32" else [(written, (vector,))]
    spilled = f"{vector}.{lane}"
    if name == "v_readlane_b32":
        return [(written, (vector, spilled))]
    return [(spilled, registers(written))]


def _copied(written: tuple[str, ...], read: tuple[str, ...]) -> list[Effect]:
    return [(register, read[i : i + 1]) for i, register in enumerate(written)]


def _packed(instruction: Instruction, written: tuple[str, ...]) -> list[Effect]:
    """Two dwords, each picked from a pair of its own."""
    picks = re.findall(r"\d", instruction.modifiers.get("op_sel", "[0,0]"))
    sources = [registers(operand) for operand in instruction.operands[1:3]]
    return [
        (register, source[int(pick) : int(pick) + 1])
        for register, source, pick in zip(written, sources, picks, strict=True)
    ]


def _computed(name: str, operands: tuple[str, ...], written: tuple[str, ...]) -> Iterator[Effect]:
    rest = operands[1:]
    if _CARRIES.match(name) and len(rest) > 2:
        for register in registers(rest[0]):
            yield register, ()
        rest = rest[1:]
    if _SELECTION.match(name):
        rest = rest[:2]
    read = tuple(register for operand in rest for register in registers(operand))
    if _ADDS_TO_ITSELF.match(name):
        read += written
    for register in written:
        yield register, read
