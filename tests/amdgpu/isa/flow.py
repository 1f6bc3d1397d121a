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

from .conditions import Condition, Key, condition
from .listing import Instruction
from .operands import effects

State = TypeVar("State")
Place = TypeVar("Place", bound=Hashable)

_ENDS = ("s_endpgm", "s_code_end")
_NO_WAY_ON = ("s_branch", *_ENDS)


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions that run one after the other, and the blocks that may follow.

    Attributes:
        body: the instructions.
        target: the block that the last one branches to.
        after: the block that follows it otherwise.
        condition: what decides between the two, where that is known.
    """

    body: tuple[Instruction, ...]
    target: int | None
    after: int | None
    condition: Condition | None

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
        follower = function[end].address if goes_on else None
        found[body[0].address] = Block(body, body[-1].target, follower, condition(body))
    return found


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
    waiting = {first}
    while waiting:
        # Mostly in the order of the text, so that few blocks are gone through again.
        address = min(waiting)
        waiting.remove(address)
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
                waiting.add(successor)
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

    A path that goes past code because something is zero goes past other code for the same
    reason, as long as that is not written.

    Args:
        graph: blocks; the first one is where the function begins.
        entry: state at the beginning.
        step: state after an instruction.
        matters: tells instructions that change the state, or that are wanted, from others.
    """
    marks = {i.address for block in graph.values() for i in block.body if matters(i)}
    keys = _shared_keys(graph, marks)
    written = {
        instruction.address: _overwritten(instruction, keys)
        for block in graph.values()
        for instruction in block.body
    }

    def step_all(states: _Paths[Place], instruction: Instruction) -> _Paths[Place]:
        gone = written[instruction.address]
        marked = instruction.address in marks
        if not gone and not marked:
            return states
        return frozenset(
            (step(place, instruction) if marked else place, zero - gone) for place, zero in states
        )

    def leave(states: _Paths[Place], block: Block, successor: int) -> _Paths[Place] | None:
        told, needed = _on_the_way(block, successor)
        return (
            frozenset(
                (place, zero | told & keys) for place, zero in states if zero.isdisjoint(needed)
            )
            or None
        )

    start: _Paths[Place] = frozenset({(entry, frozenset())})
    for states, instruction in forward(graph, start, step_all, frozenset.union, leave):
        if instruction.address in marks:
            yield frozenset(place for place, _ in states), instruction


def _on_the_way(block: Block, successor: int) -> tuple[frozenset[Key], frozenset[Key]]:
    """What is zero on the way to a successor, and what is not."""
    known = block.condition
    if known is None or block.target == block.after:
        return frozenset(), frozenset()
    past = (successor == block.target) == known.taken
    return (known.told, frozenset()) if past else (frozenset(), known.needed)


def _shared_keys(graph: Graph, marks: set[int]) -> frozenset[Key]:
    """What two places depend on, of which one is a way past marked code."""
    told: set[Key] = set()
    needed: Counter[Key] = Counter()
    for block in graph.values():
        if known := block.condition:
            needed.update(known.needed)
            if any(mark in marks for mark in _passed(graph, block, known)):
                told |= known.told
    return frozenset(key for key in told if needed[key] > 1)


def _passed(graph: Graph, block: Block, known: Condition) -> Iterator[int]:
    """Addresses between a branch and where it goes."""
    for first in graph:
        if block.after is not None and block.target is not None:
            inside = block.after <= first < block.target
            if inside if known.taken else first == block.target:
                yield from (i.address for i in graph[first].body)


def _overwritten(instruction: Instruction, keys: frozenset[Key]) -> frozenset[Key]:
    written = {register for register, _ in effects(instruction)}
    return frozenset(key for key in keys if not written.isdisjoint(key))


# A state, and what is known to be zero.
_Path = tuple[Place, frozenset[Key]]
_Paths = frozenset[_Path[Place]]
