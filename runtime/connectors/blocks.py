"""The calls that connectors make: digests and memory in, a truth value a block out.

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
from xiokv.runtime.kvcache.block_store import BlockStore
from xiokv.runtime.kvcache.checksums import SIZE as CHECKSUM_SIZE
from xiokv.runtime.kvcache.keyspace import Digests
from xiokv.runtime.kvcache.states import BlockState, Ints, PutState, States
from xiokv.runtime.kvcache.wanted import wanted_blocks

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
        return self._each("exists", digests, lambda blocks: blocks.exist(digests))

    def fetch(self, digests: Digests, out: Any, sizes: Ints, offsets: Ints) -> Flags:
        """Fetch blocks into their slots; tell which have what was stored.

        Args:
            digests: (n, 32).
            out: a buffer in one piece.
            sizes: bytes of each.
            offsets: where each goes.
        """

        def run(blocks: BlockStore) -> Flags:
            states = self._get(blocks, digests, out, sizes, offsets)
            self._tell("get", BlockState, states, BlockState.MISSING)
            self._heal(blocks, digests, sizes, states)
            return states <= BlockState.LANDED

        return self._each("get", digests, run)

    def keep(self, digests: Digests, payloads: Any, sizes: Ints, offsets: Ints) -> Flags:
        """Store blocks that are not there; tell which can be fetched.

        Args:
            digests: (n, 32).
            payloads: a buffer in one piece.
            sizes: bytes of each.
            offsets: where each begins.
        """

        def run(blocks: BlockStore) -> Flags:
            states = blocks.put(digests, payloads, sizes=sizes, offsets=offsets).states
            # Left by a writer that did not come to its record: nobody can fetch it.
            left = np.flatnonzero(states == PutState.CONFLICT)
            if left.size:
                states[left] = blocks.put(
                    digests[left], payloads, sizes=sizes[left], offsets=offsets[left], replace=True
                ).states
            self._tell("set", PutState, states)
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

    def _get(
        self, blocks: BlockStore, digests: Digests, out: Any, sizes: Ints, offsets: Ints
    ) -> States:
        # Without a look at checksums there is no need of the records either.
        unread = None if self._verify else np.zeros((len(digests), CHECKSUM_SIZE), np.uint8)
        return blocks.get(
            digests, out, sizes=sizes, offsets=offsets, checksums=unread, verify=self._verify
        )

    def _heal(self, blocks: BlockStore, digests: Digests, sizes: Ints, states: States) -> None:
        """Delete blocks whose values are not what their records say, and unreadable records."""
        wrong = np.flatnonzero(np.isin(states, (BlockState.CORRUPT, BlockState.WRONG_SIZE)))
        if not wrong.size:
            return
        wanted = wanted_blocks(digests[wrong], sizes[wrong], None, blocks.part_bytes)
        recorded, _ = blocks.look_up(wanted)
        spoilt = wrong[np.isin(recorded, (BlockState.LANDED, BlockState.CORRUPT))]
        if spoilt.size:
            blocks.delete(digests[spoilt], sizes=sizes[spoilt])

    def _tell(self, what: str, kinds: Any, states: States, *expected: int) -> None:
        """Report what became of blocks that are of no use; a cache expects some to be missing."""
        for kind in kinds:
            count = int((states == kind).sum())
            if count and not kind.usable and kind not in expected:
                name = kind.name.lower().replace("_", " ")
                self._guard.tell(f"{what}: {name}", f"{count} of {len(states)} blocks", count)
