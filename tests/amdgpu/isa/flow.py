"""Basic blocks of a function, and what holds on every path through them.

In: instructions, and a rule that turns a state into the next one at an instruction.
Out: the states in which each instruction may be reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
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
    bits = {key: 1 << n for n, key in enumerate(sorted(keys))}
    # What stays known to be zero, where an instruction does not leave all as it was.
    kept: dict[int, int] = {}
    # Only what changes a state, or is wanted, is gone through.
    shorter: Graph = {}
    for address, block in graph.items():
        for instruction in block.body:
            gone = _mask(_overwritten(instruction, keys), bits)
            if gone or instruction.address in marks:
                kept[instruction.address] = ~gone
        body = tuple(i for i in block.body if i.address in kept)
        shorter[address] = replace(block, body=body)

    def step_all(states: _Paths[Place], instruction: Instruction) -> _Paths[Place]:
        keep = kept[instruction.address]
        if keep != -1:
            states = {place: {zero & keep for zero in zeros} for place, zeros in states.items()}
        if instruction.address not in marks:
            return states
        stepped: _Paths[Place] = {}
        for place, zeros in states.items():
            to = step(place, instruction)
            stepped[to] = stepped[to] | zeros if to in stepped else zeros
        return stepped

    def leave(states: _Paths[Place], block: Block, successor: int) -> _Paths[Place] | None:
        told, needed = (_mask(known, bits) for known in _on_the_way(block, successor))
        if not told and not needed:
            return states
        left = {
            place: {zero | told for zero in zeros if not zero & needed}
            for place, zeros in states.items()
        }
        return {place: zeros for place, zeros in left.items() if zeros} or None

    for states, instruction in forward(shorter, {entry: {0}}, step_all, _either, leave):
        if instruction.address in marks:
            yield frozenset(states), instruction


def _mask(keys: frozenset[Key], bits: dict[Key, int]) -> int:
    """Return the bits of those keys that have one."""
    mask = 0
    for key in keys:
        mask |= bits.get(key, 0)
    return mask


def _either(some: _Paths[Place], others: _Paths[Place]) -> _Paths[Place]:
    joined = dict(some)
    for place, zeros in others.items():
        joined[place] = joined[place] | zeros if place in joined else zeros
    return joined


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


# By state, what is known to be zero on each path to it: a bit for each key.
_Paths = dict[Place, set[int]]
