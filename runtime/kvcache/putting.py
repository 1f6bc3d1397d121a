"""Storing blocks so that two writers of one content do not fight: a call of `BlockStore.put`.

Values are stored if absent, then records. Where something is there already, its record says
which bytes it is of; where there is none, or some of the values are new, the bytes themselves
are looked at. Nothing that was not seen to be right counts as stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kvcache.checksums import Checksums
from xiokv.runtime.kvcache.keyspace import record_keys
from xiokv.runtime.kvcache.records import same_rows
from xiokv.runtime.kvcache.states import BlockState, Ints, PutState, States
from xiokv.runtime.kvcache.wanted import Wanted

if TYPE_CHECKING:
    from xiokv.runtime.kvcache.block_store import BlockStore


@dataclass(frozen=True, slots=True, eq=False)
class Put:
    """What became of blocks that were to be stored.

    Attributes:
        states: a `PutState` a block.
        checksums: (n, 16), of the bytes that the store has.
    """

    states: States
    checksums: Checksums


class Putting:
    """One `put`: what is known of each block so far."""

    def __init__(self, store: BlockStore, wanted: Wanted, payloads: Any, own: Checksums) -> None:
        self._store = store
        self._wanted = wanted
        self._payloads = payloads
        self._own = own
        self._found = own.copy()
        self._states = np.full(len(own), PutState.FAILED, np.uint8)

    def run(self) -> Put:
        """Store what is absent, and settle what is not."""
        worst, best = self._store.store_parts(self._wanted, self._payloads, if_absent=True)
        self._states[:] = worst
        shared = worst == PutState.SHARED
        self._settle(np.flatnonzero(shared), trusted=(best == PutState.SHARED)[shared])
        fresh = np.flatnonzero(worst == PutState.STORED)
        self._write_records(fresh)
        return Put(self._states, self._found)

    def replace(self) -> Put:
        """Store over what is there, unless it is another content's."""
        states, _ = self._store.look_up(self._wanted)
        self._states[states == BlockState.COLLISION] = PutState.COLLISION
        free = np.flatnonzero(states != BlockState.COLLISION)
        chosen = self._wanted.chosen(free)
        # A record that outlives its block would speak of other bytes.
        self._store.kv.delete(record_keys(chosen.digests)).raise_for_status()
        worst, _ = self._store.store_parts(chosen, self._payloads, if_absent=False)
        stored = worst == PutState.STORED
        self._states[free[stored]] = self._store.store_records(
            chosen.chosen(np.flatnonzero(stored)), self._own[free[stored]], if_absent=False
        )
        return Put(self._states, self._found)

    def _write_records(self, which: Ints) -> None:
        """Write the records of blocks whose values are all of this call."""
        if not which.size:
            return
        states = self._store.store_records(
            self._wanted.chosen(which), self._own[which], if_absent=True
        )
        self._states[which] = states
        there = which[states == PutState.SHARED]
        # A record without its values, which were evicted, or another writer at this moment.
        self._settle(there, trusted=np.zeros(len(there), bool))

    def _settle(self, which: Ints, trusted: npt.NDArray[np.bool_]) -> None:
        """Find out what the store has of blocks that were there, in part at least.

        Args:
            which: the blocks.
            trusted: whether none of a block's values is new, so that its record is believed.
        """
        if not which.size:
            return
        states, records = self._store.look_up(self._wanted.chosen(which))
        self._states[which] = PutState.CONFLICT
        self._states[which[states == BlockState.COLLISION]] = PutState.COLLISION
        self._states[which[states >= BlockState.EXPIRED]] = PutState.FAILED
        known = states == BlockState.LANDED
        self._adopt(which[known & trusted], records["checksum"][known & trusted])
        looked_at = known & ~trusted | np.isin(states, (BlockState.MISSING, BlockState.CORRUPT))
        self._read_back(which[looked_at], records["checksum"][looked_at])

    def _adopt(self, which: Ints, checksums: Checksums) -> None:
        self._found[which] = checksums
        self._states[which] = PutState.SHARED

    def _read_back(self, which: Ints, recorded: Checksums) -> None:
        """Look at the bytes themselves: they decide which checksum is right."""
        if not which.size:
            return
        wanted = self._wanted.chosen(which)
        states, seen = self._store.read_back(wanted)
        landed = states == BlockState.LANDED
        as_recorded = landed & same_rows(seen, recorded)
        as_own = landed & same_rows(seen, self._own[which]) & ~as_recorded
        self._adopt(which[as_recorded], recorded[as_recorded])
        mine = which[as_own]
        if mine.size:
            self._states[mine] = self._store.store_records(
                self._wanted.chosen(mine), self._own[mine], if_absent=False
            )
