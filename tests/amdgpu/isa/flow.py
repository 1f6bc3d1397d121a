"""Basic blocks of a function, and what holds on every path through them.

In: instructions, and a rule that turns a state into the next one at an instruction.
Out: the states in which each instruction may be reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from .listing import Instruction
from .operands import effects, registers

State = TypeVar("State")
Place = TypeVar("Place", bound=Hashable)

# Registers that hold the lanes for which some code is run.
Mask = tuple[str, ...]

_ENDS = ("s_endpgm", "s_code_end")
_NO_WAY_ON = ("s_branch", *_ENDS)


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions that run one after the other, and the blocks that may follow.

    Attributes:
        body: the instructions.
        target: the block that the last one branches to.
        after: the block that follows it otherwise.
        mask: the branch is for waves of which no lane is in this mask; None: for others.
    """

    body: tuple[Instruction, ...]
    target: int | None
    after: int | None
    mask: Mask | None

    @property
    def successors(self) -> tuple[int, ...]:
        return tuple(block for block in (self.target, self.after) if block is not None)


Graph = dict[int, Block]


def blocks(function: Sequence[Instruction]) -> Graph:
    """Cut a function into blocks, by the address of their first instruction."""
    starts = {function[0].address}
    for here, after in pairwise(function):
        if here.target is not None or here.name in _ENDS:
            starts.add(after.address)
        if here.target is not None:
            starts.add(here.target)
    cuts = [i for i, instruction in enumerate(function) if instruction.address in starts]
    found = {}
    for first, end in zip(cuts, [*cuts[1:], len(function)], strict=True):
        body = tuple(function[first:end])
        goes_on = body[-1].name not in _NO_WAY_ON and end < len(function)
        after = function[end].address if goes_on else None
        found[body[0].address] = Block(body, body[-1].target, after, _mask(body))
    return found


def _mask(body: Sequence[Instruction]) -> Mask | None:
    """The mask that the lanes were last narrowed by, where none of them left goes past code."""
    if body[-1].name != "s_cbranch_execz":
        return None
    for instruction in reversed(body):
        if instruction.name.startswith("s_and_saveexec_"):
            return registers(instruction.operands[1])
        if "saveexec" in instruction.name or instruction.name.startswith("v_cmpx_"):
            return None
        if instruction.operands and instruction.operands[0].startswith("exec"):
            return None
    return None


def forward(
    graph: Graph,
    entry: State,
    step: Callable[[State, Instruction], State],
    join: Callable[[State, State], State],
    leave: Callable[[State, Block, int], State | None] = lambda state, block, successor: state,
) -> Iterator[tuple[State, Instruction]]:
    """Yield each instruction that can be reached with the state before it.

    Args:
        graph: blocks; the first one is where the function begins.
        entry: state at the beginning.
        step: state after an instruction; must not change the one it is given.
        join: state where paths meet.
        leave: state after a block on the way to a successor; None: no way there.
    """
    first = next(iter(graph))
    before = {first: entry}
    waiting = [first]
    while waiting:
        address = waiting.pop()
        block, state = graph[address], before[address]
        for instruction in block.body:
            state = step(state, instruction)
        for successor in block.successors:
            left = leave(state, block, successor)
            if left is None:
                continue
            known = before.get(successor)
            met = left if known is None else join(known, left)
            if known is None or met != known:
                before[successor] = met
                waiting.append(successor)
    for address, state in before.items():
        for instruction in graph[address].body:
            yield state, instruction
            state = step(state, instruction)


def paths(
    graph: Graph,
    entry: Place,
    step: Callable[[Place, Instruction], Place],
    matters: Callable[[Instruction], bool],
) -> Iterator[tuple[frozenset[Place], Instruction]]:
    """Yield what matters with all the states in which some path reaches it.

    A wave that went past code because none of its lanes is in a mask goes past other code
    for the same reason, as long as the mask is as it was: no path does otherwise.

    Args:
        graph: blocks; the first one is where the function begins.
        entry: state at the beginning.
        step: state after an instruction.
        matters: tells instructions that change the state, or that are wanted, from others.
    """
    marks = {i.address for block in graph.values() for i in block.body if matters(i)}
    masks = _shared_masks(graph, marks)
    written = {
        instruction.address: _overwritten(instruction, masks)
        for block in graph.values()
        for instruction in block.body
    }

    def step_all(states: _Paths[Place], instruction: Instruction) -> _Paths[Place]:
        gone = written[instruction.address]
        marked = instruction.address in marks
        if not gone and not marked:
            return states
        return frozenset(
            (step(place, instruction) if marked else place, empty - gone) for place, empty in states
        )

    def leave(states: _Paths[Place], block: Block, successor: int) -> _Paths[Place] | None:
        mask = block.mask
        if mask not in masks:
            return states
        if successor == block.target:
            return frozenset((place, empty | {mask}) for place, empty in states)
        return frozenset(path for path in states if mask not in path[1]) or None

    start: _Paths[Place] = frozenset({(entry, frozenset())})
    for states, instruction in forward(graph, start, step_all, frozenset.union, leave):
        if instruction.address in marks:
            yield frozenset(place for place, _ in states), instruction


def _shared_masks(graph: Graph, marks: set[int]) -> set[Mask]:
    """Masks for which waves go past code in several places, past marked code in one of them."""
    uses = Counter(block.mask for block in graph.values() if block.mask)
    return {
        block.mask
        for block in graph.values()
        if block.mask
        and uses[block.mask] > 1
        and any(block.after <= mark < block.target for mark in marks)
    }


def _overwritten(instruction: Instruction, masks: set[Mask]) -> frozenset[Mask]:
    written = {register for register, _ in effects(instruction)}
    return frozenset(mask for mask in masks if not written.isdisjoint(mask))


# A state, and the masks that are known to hold no lane.
_Path = tuple[Place, frozenset[Mask]]
_Paths = frozenset[_Path[Place]]
