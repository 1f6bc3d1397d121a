"""What the machine code of every kernel has to keep to.

In: a function and its architecture. Out: complaints, each naming an instruction; none
where all holds on every path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from .architecture import Architecture
from .flow import Graph, blocks, paths
from .listing import Instruction
from .provenance import (
    CQ_DOORBELL,
    LDS,
    MIRROR,
    QUEUES,
    RESULTS,
    SQ,
    SQ_DOORBELL,
    STATE,
    TABLES,
    Access,
    accesses,
)

_CALL = re.compile(r"^s_(?:swappc|setpc|call)_")
_SCRATCH = re.compile(r"^(?:scratch_|buffer_(?:load|store)_)")
_BARRIER = re.compile(r"^s_barrier(?:_signal)?$")
# Stores to these need not be seen by the controller when it is told of new commands. The CQ
# doorbell is for a later submission, which releases it with its own stores.
_NOT_FOR_COMMANDS = frozenset({RESULTS, TABLES, LDS, QUEUES, MIRROR, STATE, CQ_DOORBELL})


def complaints(function: Sequence[Instruction], architecture: Architecture) -> list[str]:
    """Return what is wrong with a kernel."""
    graph = blocks(function)
    seen = accesses(function)
    return [
        *_calls_and_scratch(function),
        *_entries_are_whole(graph, seen),
        *_completions_are_read_whole(seen, architecture),
        *_results_come_from_a_second_read(graph, seen, architecture),
        *_stores_are_released(graph, seen, architecture),
    ]


def _calls_and_scratch(function: Sequence[Instruction]) -> Iterator[str]:
    for instruction in function:
        if _CALL.match(instruction.name):
            yield f"calls: {instruction}"
        if _SCRATCH.match(instruction.name):
            yield f"uses scratch: {instruction}"


def _entries_are_whole(graph: Graph, seen: Sequence[Access]) -> Iterator[str]:
    """An SQE is four stores of 16 bytes side by side, or one by each of four lanes."""
    stores = {a.instruction.address: a for a in seen if a.kind != "load" and a.place == SQ}
    if not stores:
        yield "no store to the submission ring"
    for store in stores.values():
        if store.bytes != 16:
            yield f"a store of {store.bytes} bytes to the submission ring: {store.instruction}"
    for block in graph.values():
        found = [i for i in block.body if i.address in stores]
        offsets = sorted(int(i.modifiers.get("offset", "0")) for i in found)
        apart = {after - before for before, after in pairwise(offsets)}
        if len(found) not in (0, 1, 4) or apart > {16}:
            yield f"stores at {offsets} do not cover an SQE: {found[0]}"


def _completions_are_read_whole(
    seen: Sequence[Access], architecture: Architecture
) -> Iterator[str]:
    for load in (a for a in seen if a.completion):
        if load.bytes != 16:
            yield f"a completion is read by a load of {load.bytes} bytes: {load.instruction}"
        if not architecture.is_system(load.instruction):
            yield f"a completion is read through the caches: {load.instruction}"


def _results_come_from_a_second_read(
    graph: Graph, seen: Sequence[Access], architecture: Architecture
) -> Iterator[str]:
    """What a result is made of is loaded after the match is known to all, and an acquire.

    The match of any wave is known to all at the barrier. What the look at the phase
    loaded is not made into results.
    """
    believed = 0
    for store in (a for a in seen if a.kind == "store" and a.place == RESULTS):
        believed |= store.data
    loads = [a for a in seen if a.completion]
    second = {a.instruction.address for a in loads if a.completion & believed}
    if not second:
        yield "no result comes from a completion"
    if len(second) == len(loads):
        yield "no load of a completion is for its phase alone"

    def step(done: frozenset[str], instruction: Instruction) -> frozenset[str]:
        if _BARRIER.match(instruction.name):
            return frozenset()
        return done | {instruction.text} & architecture.invalidates

    entry: frozenset[str] = frozenset()

    def matters(instruction: Instruction) -> bool:
        return (
            _BARRIER.match(instruction.name) is not None
            or instruction.text in architecture.invalidates
            or instruction.address in second
        )

    for states, instruction in paths(graph, entry, step, matters):
        for done in states if instruction.address in second else ():
            if missing := architecture.invalidates - done:
                yield f"no {', '.join(sorted(missing))} since a barrier before: {instruction}"


@dataclass(frozen=True, slots=True)
class _Stores:
    """Where a wave's stores of commands are: on their way, written back, done.

    Attributes:
        stored: one may still be in a cache that the host does not see.
        waiting: one may not have ended.
        met: whether all were done at the last barrier; None before the first.
        late: one came after it.
    """

    stored: bool = False
    waiting: bool = False
    met: bool | None = None
    late: bool = False


def _stores_are_released(
    graph: Graph, seen: Sequence[Access], architecture: Architecture
) -> Iterator[str]:
    """Every wave's stores of commands are with the host before the SQ doorbell's barrier."""
    doorbells = {a.instruction.address for a in seen if a.place == SQ_DOORBELL}
    if not doorbells:
        yield "no store to the SQ doorbell"
    writing = {
        a.instruction.address
        for a in seen
        if a.kind != "load" and a.place not in {*_NOT_FOR_COMMANDS, SQ_DOORBELL}
    }

    held_back = architecture.write_back is not None

    def step(stores: _Stores, instruction: Instruction) -> _Stores:
        if instruction.address in writing:
            return replace(stores, stored=held_back, waiting=True, late=True)
        text = instruction.text
        if text == architecture.write_back:
            return replace(stores, stored=False)
        if architecture.waits_for_stores(instruction):
            return replace(stores, waiting=stores.stored)
        if _BARRIER.match(instruction.name):
            return replace(stores, met=not stores.stored and not stores.waiting, late=False)
        return stores

    def matters(instruction: Instruction) -> bool:
        return (
            instruction.address in writing | doorbells
            or instruction.text == architecture.write_back
            or architecture.waits_for_stores(instruction)
            or _BARRIER.match(instruction.name) is not None
        )

    for states, instruction in paths(graph, _Stores(), step, matters):
        for stores in states if instruction.address in doorbells else ():
            if stores.met is None:
                yield f"no barrier before the SQ doorbell: {instruction}"
            elif stores.late:
                yield f"a store between the barrier and the SQ doorbell: {instruction}"
            elif not stores.met:
                yield f"stores not released at the barrier before the SQ doorbell: {instruction}"
