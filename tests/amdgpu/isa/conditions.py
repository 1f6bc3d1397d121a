"""When a wave goes past code, and what is known on the way.

A wave goes past code for which none of its lanes is in a mask, or where a register is
zero. Where two such places depend on the same registers, a wave that goes past one of
them goes past the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .listing import Instruction
from .operands import registers

# Registers that are all zero: a mask without lanes, or a number.
Key = tuple[str, ...]

_COMPARISON = re.compile(r"^[vs]_cmpx?_(?P<how>eq|ne|lg|lt|gt)_u\d+$")


@dataclass(frozen=True, slots=True)
class Condition:
    """What decides between the two ways after a block.

    Attributes:
        taken: whether the way past code is the one that the branch takes.
        told: what is zero on the way past.
        needed: what is not zero on the other way.
    """

    taken: bool
    told: frozenset[Key]
    needed: frozenset[Key]


def condition(body: Sequence[Instruction]) -> Condition | None:
    """Return what decides where a block goes on; None where that is not known."""
    branch = body[-1].name
    if branch == "s_cbranch_execz":
        return _of_lanes(body)
    if branch in ("s_cbranch_scc0", "s_cbranch_scc1"):
        return _of_number(body, branch == "s_cbranch_scc1")
    return None


def _of_lanes(body: Sequence[Instruction]) -> Condition | None:
    for i in range(len(body) - 1, -1, -1):
        instruction = body[i]
        if instruction.name.startswith("s_and_saveexec_"):
            mask = registers(instruction.operands[1])
            compared = next((c for c in reversed(body[:i]) if _writes(c, mask)), None)
            return _condition([mask], compared)
        if instruction.name.startswith("v_cmpx_"):
            return _condition([], instruction)
        if "saveexec" in instruction.name or _writes(instruction, ("exec_lo",)):
            return None
    return None


def _condition(masks: list[Key], compared: Instruction | None) -> Condition:
    """The lanes of masks, as a comparison found them, where it is known."""
    told = [] if compared is None else [key for how, key in _tests(compared) if how == "ne"]
    needed = [] if compared is None else [key for how, key in _tests(compared) if how != "eq"]
    return Condition(True, frozenset(masks + told), frozenset(masks + needed))


def _of_number(body: Sequence[Instruction], taken_if_so: bool) -> Condition | None:
    compared = next((c for c in reversed(body) if c.name.startswith("s_cmp")), None)
    for how, key in _tests(compared) if compared is not None else ():
        if how in ("eq", "ne"):
            keys = frozenset({key})
            return Condition((how == "eq") == taken_if_so, keys, keys)
    return None


def _tests(compared: Instruction) -> Iterator[tuple[str, Key]]:
    """The numbers that a comparison tests for zero, or that are above another if it holds."""
    found = _COMPARISON.match(compared.name)
    if found is None:
        return
    how = "ne" if found["how"] == "lg" else found["how"]
    first, second = compared.operands[-2:]
    if how in ("eq", "ne"):
        for value, zero in ((first, second), (second, first)):
            if zero == "0" and registers(value):
                yield how, registers(value)
    elif above := registers(second if how == "lt" else first):
        yield how, above


def _writes(instruction: Instruction, wanted: Key) -> bool:
    written = registers(instruction.operands[0]) if instruction.operands else ()
    return bool(wanted) and wanted[0] in written
