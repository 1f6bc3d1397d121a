"""The calls that connectors make: digests and slots in, a truth value a block out.

None of them raises. A block that is not what was stored is deleted, so that the next to store
its content can put that right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.connectors.attachment import Attachment
from xiokv.runtime.connectors.guard import Guard
from xiokv.runtime.connectors.slots import Slots
from xiokv.runtime.kvcache.block_store import BlockStore
from xiokv.runtime.kvcache.checksums import SIZE as CHECKSUM_SIZE
from xiokv.runtime.kvcache.checksums import checksums_of
from xiokv.runtime.kvcache.keyspace import Digests
from xiokv.runtime.kvcache.putting import Putting
from xiokv.runtime.kvcache.records import same_rows
from xiokv.runtime.kvcache.states import BlockState, Ints, PutState, States
from xiokv.runtime.kvcache.wanted import Wanted, wanted_blocks

Flags = npt.NDArray[np.bool_]


class Blocks:
    """Blocks of one connector.

    Args:
        attachment: where they are.
        guard: is told what fails.
    """

    def __init__(self, attachment: Attachment, guard: Guard) -> None:
        self._attachment = attachment
        self._guard = guard
        self._verify = attachment.options.verify

    def have(self, digests: Digests) -> Flags:
        """Tell which blocks are there."""

        def run(blocks: BlockStore) -> Flags:
            blocks.take_refusal()
            found = blocks.exist(digests)
            if refusal := blocks.take_refusal():
                self._guard.tell("exists: failed", refusal)
            return found

        return self._each("exists", digests, run)

    def fetch(self, digests: Digests, slots: Slots) -> Flags:
        """Fetch blocks into their slots; tell which have what was stored."""

        def run(blocks: BlockStore) -> Flags:
            wanted = wanted_blocks(digests, slots.sizes, slots.offsets, blocks.part_bytes)
            blocks.take_refusal()
            states = (_checked if self._verify else _unchecked)(blocks, wanted, slots)
            refusal = blocks.take_refusal()
            self._tell("get", BlockState, states, refusal, BlockState.MISSING)
            _heal(blocks, wanted, states)
            return states <= BlockState.LANDED

        return self._each("get", digests, run)

    def keep(self, digests: Digests, slots: Slots) -> Flags:
        """Store blocks that are not there; tell which can be fetched."""

        def run(blocks: BlockStore) -> Flags:
            wanted = wanted_blocks(digests, slots.sizes, slots.offsets, blocks.part_bytes)
            own = checksums_of(blocks.checksum, slots.read(np.arange(len(digests))))
            put = Putting(blocks, wanted, slots.memory, own).run()
            states, refusal = put.states, put.refusal
            # Left by a writer that did not come to its record: nobody can fetch it.
            left = np.flatnonzero(states == PutState.CONFLICT)
            if left.size:
                again = Putting(blocks, wanted.chosen(left), slots.memory, own[left]).replace()
                states[left] = again.states
                refusal = refusal or again.refusal
            self._tell("set", PutState, states, refusal)
            return states <= PutState.SHARED

        return self._each("set", digests, run)

    def clear(self) -> bool:
        """Delete all that is in the namespace, where that is allowed; tell whether it was done."""
        if self._attachment.options.clear != "namespace":
            self._guard.tell(
                "clear: refused",
                "other tenants' blocks may be in the namespace; set clear to 'namespace' where"
                " all of it may be deleted",
            )
            return False

        def run(blocks: BlockStore) -> bool:
            keys = list(blocks.kv.list())
            blocks.kv.delete(keys).raise_for_status()
            return True

        return self._guard.run("clear", lambda: self._attachment.run(run), False)

    def _each(self, what: str, digests: Digests, operation: Callable[[BlockStore], Flags]) -> Flags:
        none = np.zeros(len(digests), np.bool_)
        return self._guard.run(what, lambda: self._attachment.run(operation), none)

    def _tell(self, what: str, kinds: Any, states: States, refusal: str, *expected: int) -> None:
        """Report what became of blocks that are of no use; a cache expects some to be missing."""
        for kind in kinds:
            count = int((states == kind).sum())
            if count and not kind.usable and kind not in expected:
                name = kind.name.lower().replace("_", " ")
                why = f": {refusal}" if refusal and kind.name == "FAILED" else ""
                message = f"{count} of {len(states)} blocks{why}"
                self._guard.tell(f"{what}: {name}", message, count)


def _unchecked(blocks: BlockStore, wanted: Wanted, slots: Slots) -> States:
    """Fetch blocks in one batch; without a look at checksums there is no need of records."""
    unread = np.zeros((len(wanted), CHECKSUM_SIZE), np.uint8)
    return blocks.get(
        wanted.digests,
        slots.memory,
        sizes=wanted.sizes,
        offsets=wanted.offsets,
        checksums=unread,
        verify=False,
    )


def _checked(blocks: BlockStore, wanted: Wanted, slots: Slots) -> States:
    """Fetch records, then blocks, and compare the checksums of what landed."""
    states, records = blocks.look_up(wanted)
    there = np.flatnonzero(states == BlockState.LANDED)
    if there.size:
        states[there] = _unchecked(blocks, wanted.chosen(there), slots)
    landed = np.flatnonzero(states == BlockState.LANDED)
    seen = checksums_of(blocks.checksum, slots.read(landed))
    right = same_rows(seen, records["checksum"][landed])
    states[landed] = np.where(right, BlockState.VERIFIED, BlockState.CORRUPT)
    return states


def _heal(blocks: BlockStore, wanted: Wanted, states: States) -> None:
    """Delete blocks whose values are not what their records say, and unreadable records."""
    wrong: Ints = np.flatnonzero(np.isin(states, (BlockState.CORRUPT, BlockState.WRONG_SIZE)))
    if not wrong.size:
        return
    recorded, _ = blocks.look_up(wanted.chosen(wrong))
    spoilt = wrong[np.isin(recorded, (BlockState.LANDED, BlockState.CORRUPT))]
    if spoilt.size:
        blocks.delete(wanted.digests[spoilt], sizes=wanted.sizes[spoilt])
