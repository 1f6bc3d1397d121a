"""Storing blocks so that two writers of one content do not fight: a call of `BlockStore.put`.

First values are stored if absent; whoever stored a block's first value stores the rest of it
and then its record, and others wait for that, so that no block is made of two writers' values.
Where no record comes, or values are missing behind the first one, the bytes themselves are
looked at. Nothing that was not seen to be right counts as stored.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kvcache.checksums import Checksums
from xiokv.runtime.kvcache.keyspace import record_keys
from xiokv.runtime.kvcache.records import RECORD, Records, same_rows
from xiokv.runtime.kvcache.states import BlockState, Ints, PutState, States
from xiokv.runtime.kvcache.wanted import Wanted

if TYPE_CHECKING:
    from xiokv.runtime.kvcache.block_store import BlockStore


# Seconds before each look at what another writer has stored, whose record comes after its values.
_PAUSES = (0.0, 0.01, 0.04, 0.16)


@dataclass(frozen=True, slots=True, eq=False)
class Put:
    """What became of blocks that were to be stored.

    Attributes:
        states: a `PutState` a block.
        checksums: (n, 16), of the bytes that the store has.
        refusal: what the controller said of the first key that failed; else empty.
    """

    states: States
    checksums: Checksums
    refusal: str = ""


class Putting:
    """One `put`: what is known of each block so far."""

    def __init__(
        self,
        store: BlockStore,
        wanted: Wanted,
        payloads: Any,
        own: Checksums,
        *,
        repair: bool = False,
    ) -> None:
        self._store = store
        self._repair = repair
        self._wanted = wanted
        self._payloads = payloads
        self._own = own
        self._found = own.copy()
        self._states = np.full(len(own), PutState.FAILED, np.uint8)
        self._owned = np.zeros(len(own), bool)
        store.take_refusal()  # what others left there

    def run(self) -> Put:
        """Store what is absent, and settle what is not."""
        firsts = self._store.store_firsts(self._wanted, self._payloads)
        self._states[:] = firsts
        # Whose first value it is, the rest is, too; what others left behind it is nobody's.
        self._owned = firsts == PutState.STORED
        own = np.flatnonzero(self._owned)
        self._states[own], _ = self._store.store_rest(
            self._wanted.chosen(own), self._payloads, if_absent=False
        )
        # Own records first: another writer may wait for them.
        self._write_records(own[self._states[own] == PutState.STORED])
        self._settle(np.flatnonzero(firsts == PutState.SHARED))
        return Put(self._states, self._found, self._store.take_refusal())

    def replace(self) -> Put:
        """Store over what is there, unless it is another content's."""
        states, _ = self._store.look_up(self._wanted)
        self._states[states == BlockState.COLLISION] = PutState.COLLISION
        self._store_over(np.flatnonzero(states != BlockState.COLLISION))
        return Put(self._states, self._found, self._store.take_refusal())

    def _store_over(self, which: Ints) -> None:
        if not which.size:
            return
        chosen = self._wanted.chosen(which)
        # A record that outlives its block would speak of other bytes.
        self._store.kv.delete(record_keys(chosen.digests)).raise_for_status()
        worst = self._store.store_parts(chosen, self._payloads)
        self._states[which] = worst
        stored = which[worst == PutState.STORED]
        self._found[stored] = self._own[stored]
        self._states[stored] = self._store.store_records(
            self._wanted.chosen(stored), self._own[stored], if_absent=False
        )

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
        if there.size:
            self._look(there, *self._store.look_up(self._wanted.chosen(there)))

    def _settle(self, which: Ints) -> None:
        """Find out what the store has of blocks whose first values were there."""
        for pause in _PAUSES:
            if not which.size:
                return
            time.sleep(pause)
            found = self._store.look_up(self._wanted.chosen(which))
            unclaimed = found[0] == BlockState.MISSING
            self._look(which[~unclaimed], found[0][~unclaimed], found[1][~unclaimed])
            which = which[unclaimed]
        # Whoever stored the first values has gone: what is there decides.
        missing = np.full(len(which), BlockState.MISSING, np.uint8)
        self._look(which, missing, np.zeros(len(which), RECORD))

    def _look(self, which: Ints, states: States, records: Records) -> None:
        """Settle blocks by their records, or by their bytes where these do not say enough.

        Args:
            which: the blocks.
            states: what was found out about their records.
            records: the same, where they are there.
        """
        self._states[which] = PutState.CONFLICT
        self._states[which[states == BlockState.COLLISION]] = PutState.COLLISION
        self._states[which[states >= BlockState.EXPIRED]] = PutState.FAILED
        same = np.isin(states, (BlockState.LANDED, BlockState.MISSING, BlockState.CORRUPT))
        which, states, records = which[same], states[same], records[same]
        # Values may have been evicted behind a first one that was not.
        _, new = self._store.store_rest(self._wanted.chosen(which), self._payloads, if_absent=True)
        known = states == BlockState.LANDED
        trusted = known & ~new & ~self._owned[which] & (not self._repair)
        self._adopt(which[trusted], records["checksum"][trusted])
        self._read_back(which[~trusted], records["checksum"][~trusted], known[~trusted])

    def _adopt(self, which: Ints, checksums: Checksums) -> None:
        self._found[which] = checksums
        self._states[which] = PutState.SHARED

    def _read_back(self, which: Ints, recorded: Checksums, known: npt.NDArray[np.bool_]) -> None:
        """Look at the bytes themselves: they decide which checksum is right.

        Args:
            which: the blocks.
            recorded: checksums of their records.
            known: where there is a record.
        """
        if not which.size:
            return
        wanted = self._wanted.chosen(which)
        states, seen = self._store.read_back(wanted)
        landed = states == BlockState.LANDED
        as_recorded = landed & known & same_rows(seen, recorded)
        as_own = landed & same_rows(seen, self._own[which]) & ~as_recorded
        self._adopt(which[as_recorded], recorded[as_recorded])
        mine = which[as_own]
        if mine.size:
            self._states[mine] = self._store.store_records(
                self._wanted.chosen(mine), self._own[mine], if_absent=False
            )
        if self._repair:
            damaged = np.isin(
                states, (BlockState.LANDED, BlockState.MISSING, BlockState.WRONG_SIZE)
            )
            self._store_over(which[damaged & ~as_recorded & ~as_own])
