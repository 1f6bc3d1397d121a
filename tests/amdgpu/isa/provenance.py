"""Which addresses a kernel uses: those of the rings, the doorbells, the results.

In: a function. Out: its accesses to memory, each with what its address and its data were
made from. Every value that a kernel computes with comes from its arguments (struct
xiokv_batch), from a queue's record (struct xiokv_queue), or from memory that these two
point to; the members they come from are followed through the registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xiokv.runtime import abi

from .flow import blocks, forward
from .listing import Instruction
from .operands import effects, is_atomic, registers, returns

# Origins of a value, a bit each.
ARGUMENTS, QUEUES, STOP, STATE, RESULTS = (1 << bit for bit in range(5))
SQ, CQ, SQ_DOORBELL, CQ_DOORBELL, PRP_POOL, TABLES, MIRROR = (1 << bit for bit in range(5, 12))
LDS, INPUTS = (1 << bit for bit in range(12, 14))
_COMPLETIONS = 16  # the bit of the first load of a completion; the other loads' follow

# An address is one thing's. A path on which no lane goes on may leave an older address in
# its register: then what comes first here is what it is.
_PLACES = (
    *(SQ_DOORBELL, CQ_DOORBELL, SQ, PRP_POOL, INPUTS, CQ),
    *(RESULTS, STOP, STATE, MIRROR, TABLES, LDS, QUEUES, ARGUMENTS),
)

_BATCH = {
    **{"queues": QUEUES, "stop": STOP, "state": STATE, "results": RESULTS},
    **dict.fromkeys(("keys", "key_lengths", "sizes", "offsets", "page_table"), INPUTS),
}
_QUEUE = {
    "sq": SQ,
    "cq": CQ,
    "sq_doorbell": SQ_DOORBELL,
    "cq_doorbell": CQ_DOORBELL,
    "prp_pool": PRP_POOL,
    "tables": TABLES,
    "mirror": MIRROR,
}

_ACCESS = re.compile(r"^(?:flat|global)_(?P<kind>load|store|atomic)_(?P<rest>\w+)$|^s_load_\w+$")
_SIZES = (
    (re.compile(r"dwordx(\d+)$"), 4),
    (re.compile(r"dword$"), 4),
    (re.compile(r"_b(\d+)$"), 0.125),
    (re.compile(r"(?:short|u16|i16)"), 2),
    (re.compile(r"(?:byte|u8|i8)"), 1),
)

# Origins by register; a register that is not there holds nothing that matters.
Origins = dict[str, int]


@dataclass(frozen=True, slots=True)
class Access:
    """An access to memory.

    Attributes:
        instruction: which one.
        kind: "load", "store" or "atomic".
        bytes: how many a lane moves.
        place: whose address it is, one of the origins, or 0.
        data: origins of what is stored.
        completion: the bit that stands for what this load brings, if it is of a completion.
    """

    instruction: Instruction
    kind: str
    bytes: int
    place: int
    data: int
    completion: int = 0


def is_access(instruction: Instruction) -> bool:
    """Return whether an instruction loads from memory or stores to it; not from LDS."""
    return _ACCESS.match(instruction.name) is not None


def _size(name: str) -> int:
    """Return the bytes that a lane moves, from the mnemonic."""
    for pattern, unit in _SIZES:
        if found := pattern.search(name):
            return int(unit * int(found[1])) if pattern.groups else int(unit)
    return 0


def accesses(function: Sequence[Instruction]) -> list[Access]:
    """Return every access that can be reached."""
    tracker = _Tracker(function)
    return [
        tracker.access(state, instruction)
        for state, instruction in forward(blocks(function), tracker.entry, tracker.step, _join)
        if is_access(instruction)
    ]


class _Tracker:
    """Follows values through the instructions of one function."""

    def __init__(self, function: Sequence[Instruction]) -> None:
        # A kernel's first scalar load is of its arguments.
        first = next(i for i in function if i.name.startswith("s_load_"))
        self.entry: Origins = dict.fromkeys(registers(first.operands[1]), ARGUMENTS)
        self.entry.update(dict.fromkeys(registers("src_shared_base"), LDS))
        loads = (i.address for i in function if _kind(i) == "load")
        self._bits = {address: 1 << _COMPLETIONS + n for n, address in enumerate(loads)}

    def step(self, state: Origins, instruction: Instruction) -> Origins:
        """Return the origins after an instruction."""
        if is_access(instruction):
            return {**state, **dict(self._brought(state, instruction))}
        changes = {to: _union(state, sources) for to, sources in effects(instruction)}
        return {**state, **changes} if changes else state

    def access(self, state: Origins, instruction: Instruction) -> Access:
        """Return an access as it is seen in a state."""
        kind = _kind(instruction)
        address, data = _address_and_data(instruction)
        place = _place(_union(state, address))
        bit = self._bits[instruction.address] if kind == "load" and place == CQ else 0
        return Access(instruction, kind, _size(instruction.name), place, _union(state, data), bit)

    def _brought(self, state: Origins, instruction: Instruction) -> Iterator[tuple[str, int]]:
        """The registers that an access fills, with the origins of what comes."""
        kind = _kind(instruction)
        if kind == "store" or (kind == "atomic" and not returns(instruction)):
            return
        access = self.access(state, instruction)
        for i, register in enumerate(registers(instruction.operands[0])):
            if access.completion or kind == "atomic":
                yield register, access.completion
            else:
                yield register, _member(access.place, _offset(instruction) + 4 * i)


def _kind(instruction: Instruction) -> str:
    found = _ACCESS.match(instruction.name)
    return (found["kind"] or "load") if found else ""


def _address_and_data(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The registers of an access's address, and of what it stores."""
    operands = instruction.operands
    kind = _kind(instruction)
    if kind == "load" or (is_atomic(instruction) and returns(instruction)):
        operands = operands[1:]
    if kind == "load":
        return _all(operands), ()
    return _all((operands[0], *operands[2:])), registers(operands[1])


def _all(operands: Sequence[str]) -> tuple[str, ...]:
    return tuple(register for operand in operands for register in registers(operand))


def _offset(instruction: Instruction) -> int:
    """The constant part of the address."""
    if not instruction.name.startswith("s_load_"):
        return int(instruction.modifiers.get("offset", "0"), 0)
    text = instruction.operands[2]
    return int(text, 0) if re.match(r"^-?(?:0x)?[0-9a-f]+$", text) else 0


def _place(origins: int) -> int:
    return next((place for place in _PLACES if origins & place), 0)


def _member(place: int, offset: int) -> int:
    """The origin of a dword `offset` bytes from where a structure begins."""
    if place == QUEUES:
        return _in(abi.Queue, _QUEUE, offset)
    return _in(abi.Batch, _BATCH, offset) if place == ARGUMENTS else 0


def _in(structure: type[abi.Queue] | type[abi.Batch], members: dict[str, int], offset: int) -> int:
    for name, origin in members.items():
        if 0 <= offset - getattr(structure, name).offset < 8:
            return origin
    return 0


def _union(state: Origins, sources: Sequence[str]) -> int:
    origins = 0
    for source in sources:
        origins |= state.get(source, 0)
    return origins


def _join(a: Origins, b: Origins) -> Origins:
    return {**a, **{register: a.get(register, 0) | origins for register, origins in b.items()}}
