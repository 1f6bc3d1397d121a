"""Blocks by content on a namespace: digests and payloads in, a state a block out.

A block is one value, or several where the namespace takes none so large, and a record beside
it. All values of a call go in one batch, straight from and to the caller's memory. Nothing is
overwritten unless that is asked for: of two writers of one content the first stays, and the
other learns which checksum its bytes have.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime import deletion
from xiokv.runtime.abi import Outcome
from xiokv.runtime.arguments import integer
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.checksums import ALGORITHMS, DEFAULT, Algorithm, Checksums, checksums_of
from xiokv.runtime.kvcache.checksums import SIZE as CHECKSUM_SIZE
from xiokv.runtime.kvcache.keyspace import Digests, record_keys
from xiokv.runtime.kvcache.memory import on_host, slices
from xiokv.runtime.kvcache.parts import Parts, part_bytes_for, split
from xiokv.runtime.kvcache.putting import Put, Putting
from xiokv.runtime.kvcache.records import (
    RECORD,
    Records,
    readable,
    records_of,
    same_rows,
    well_formed,
)
from xiokv.runtime.kvcache.states import BlockState, Ints, PutState, States, which_are
from xiokv.runtime.kvcache.verification import check_landed
from xiokv.runtime.kvcache.wanted import Wanted, check_within, checked_digests, wanted_blocks
from xiokv.runtime.results import Result
from xiokv.runtime.spans import span_of

_STATE_OF = np.full(256, BlockState.FAILED, np.uint8)
_STATE_OF[Outcome.OK] = BlockState.LANDED
_STATE_OF[Outcome.TRUNCATED] = BlockState.WRONG_SIZE
_STATE_OF[Outcome.MISSING] = BlockState.MISSING
_STATE_OF[Outcome.TIMEOUT] = BlockState.TIMEOUT
_STATE_OF[Outcome.CANCELLED] = BlockState.CANCELLED

_PUT_OF = np.full(256, PutState.FAILED, np.uint8)
_PUT_OF[Outcome.OK] = PutState.STORED
_PUT_OF[Outcome.EXISTS] = PutState.SHARED

# Most bytes that are read back at a time.
_READ_BACK = 64 << 20


class BlockStore:
    """Stores and fetches blocks by their digests.

    Args:
        kv: the calls on the namespace; several stores may share them.
        checksum: how payloads are checked.
        part_bytes: largest value; by default the largest that the namespace takes.

    Attributes:
        checksum: as given.
        part_bytes: as given or found.
    """

    def __init__(
        self, kv: KV, *, checksum: Algorithm = DEFAULT, part_bytes: int | None = None
    ) -> None:
        largest = min(kv.limits.value_max, kv.queues.max_transfer)
        self.part_bytes = part_bytes_for(largest) if part_bytes is None else part_bytes
        if not 4 <= integer("part_bytes", self.part_bytes) <= largest or self.part_bytes % 4:
            raise ArgumentFault(
                f"part_bytes is {part_bytes}; allowed are multiples of 4 up to {largest}, the"
                " largest value of this namespace and attachment"
            )
        if checksum not in ALGORITHMS:
            raise ArgumentFault(f"checksum is {checksum!r}; allowed are {', '.join(ALGORITHMS)}")
        self.kv = kv
        self.checksum = checksum
        self._noted = threading.local()

    def take_refusal(self) -> str:
        """Return what the controller said of the first key that failed in this thread.

        It is of the calls since this was asked for before; empty where nothing failed.
        """
        said: str = getattr(self._noted, "refusal", "")
        self._noted.refusal = ""
        return said

    def take_refusals(self) -> Counter[str]:
        """Return how many keys got each status that is an error, as `take_refusal` does the first.

        Keys are those of values and of records.
        """
        counted = self._refusals
        self._noted.refusals = Counter()
        return counted

    @property
    def _refusals(self) -> Counter[str]:
        found: Counter[str] | None = getattr(self._noted, "refusals", None)
        return Counter() if found is None else found

    def _note(self, result: Result) -> Result:
        """Keep why a batch failed, for `take_refusal` and `take_refusals`."""
        if result.refusal:
            self._noted.refusals = self._refusals + result.refusals
        if result.refusal and not getattr(self._noted, "refusal", ""):
            self._noted.refusal = result.refusal
        return result

    def put(
        self,
        digests: Digests,
        payloads: Any,
        *,
        sizes: Any,
        offsets: Any = None,
        replace: bool = False,
        repair: bool = False,
    ) -> Put:
        """Store blocks that are not there, then their records.

        Args:
            digests: (n, 32), as a `Keyspace` makes them.
            payloads: a contiguous buffer, on the host or in the driver's GPU.
            sizes: bytes of each block, or one number for all.
            offsets: where each begins, in multiples of 4; one after the other by default.
            replace: store over what is there, where that is the same content or has no record.
            repair: read back what is there, and store over what is not as its record says, or
                has none.

        Raises:
            RuntimeFault: the batch could not be run.
        """
        wanted = wanted_blocks(digests, sizes, offsets, self.part_bytes)
        memory = on_host("payloads", payloads)
        check_within("payloads", memory.size, wanted.offsets, wanted.sizes)
        own = checksums_of(self.checksum, slices(memory, wanted.offsets, wanted.sizes))
        putting = Putting(self, wanted, payloads, own, repair=repair)
        return putting.replace() if replace else putting.run()

    def get(
        self,
        digests: Digests,
        out: Any,
        *,
        sizes: Any,
        offsets: Any = None,
        checksums: Checksums | None = None,
        part_bytes: Ints | None = None,
        verify: bool = True,
        copy: bool = False,
    ) -> States:
        """Fetch blocks into their slots, all in one batch, and check what landed.

        Args:
            digests: as for `put`.
            out: a contiguous buffer, on the host or in the driver's GPU.
            sizes: as for `put`; a stored block of another size is WRONG_SIZE.
            offsets: as for `put`.
            checksums: what a manifest says the payloads have; without them, each block's
                record is fetched first.
            part_bytes: largest value of each block, where it was not stored by this object;
                0 for one that is a single value.
            verify: compare checksums; without it blocks are LANDED at best.
            copy: where the driver does not reach `out`, go by memory that it reaches.

        Returns:
            A `BlockState` a block. Bytes of a slot count only where its state is usable.
        """
        largest = self.part_bytes if part_bytes is None else part_bytes
        wanted = wanted_blocks(digests, sizes, offsets, largest)
        if wanted.part_bytes.any():  # before it is split into any number of values
            check_within("out", span_of("out", out).size, wanted.offsets, wanted.sizes)
        if checksums is None:
            states, records = self.look_up(wanted)
            there = np.flatnonzero(states == BlockState.LANDED)
            states[there] = self._fetch(wanted.chosen(there), out, copy)
            checksums = records["checksum"]
        else:
            states = self._fetch(wanted, out, copy)
        if not verify or not (states == BlockState.LANDED).any():
            return states
        memory = on_host("out", out, int(wanted.offsets.min()), wanted.end)
        return check_landed(states, self.checksum, checksums, memory, wanted.offsets, wanted.sizes)

    def exist(self, digests: Digests) -> npt.NDArray[np.bool_]:
        """Tell which blocks are there, whole, by their records."""
        digests = checked_digests(digests)
        result = self._note(self.kv.exist(record_keys(digests)))
        found: npt.NDArray[np.bool_] = result.status == Outcome.OK
        return found

    def delete(self, digests: Digests, *, sizes: Any, part_bytes: Ints | int | None = None) -> None:
        """Delete blocks, their records first.

        Args:
            digests: as for `put`.
            sizes: as for `put`.
            part_bytes: as for `get`.

        Raises:
            BatchFault: see `deletion.delete`.
        """
        largest = self.part_bytes if part_bytes is None else part_bytes
        wanted = wanted_blocks(digests, sizes, None, largest)
        deletion.delete(self.kv, record_keys(wanted.digests))
        deletion.delete(self.kv, split(wanted).keys)

    def store_parts(self, wanted: Wanted, payloads: Any) -> States:
        """Store the values of blocks over what is there; return the worst state of each."""
        parts = split(wanted)
        return parts.worst(self._stored(parts, np.arange(len(parts.keys)), payloads, False))

    def store_firsts(self, wanted: Wanted, payloads: Any) -> States:
        """Store the first value of each block if it is absent; return the state of each."""
        parts = split(wanted)
        return self._stored(parts, parts.firsts, payloads, True)

    def store_rest(
        self, wanted: Wanted, payloads: Any, if_absent: bool
    ) -> tuple[States, npt.NDArray[np.bool_]]:
        """Store the values of blocks behind their first ones.

        Returns:
            The worst state of each block, STORED where it has no such value, and whether any
            of its values is new.
        """
        parts = split(wanted)
        states = self._stored(parts, parts.rest, payloads, if_absent)
        worst = np.full(len(wanted), PutState.STORED, np.uint8)
        np.maximum.at(worst, parts.blocks[parts.rest], states)
        new = np.zeros(len(wanted), bool)
        new[parts.blocks[parts.rest[states == PutState.STORED]]] = True
        return worst, new

    def store_records(self, wanted: Wanted, checksums: Checksums, if_absent: bool) -> States:
        """Store the records of blocks; return a `PutState` each."""
        records = records_of(wanted, checksums, self.checksum)
        result = self.kv.store(
            record_keys(wanted.digests),
            records.view(np.uint8),
            sizes=RECORD.itemsize,
            offsets=np.arange(len(records)) * RECORD.itemsize,
            if_absent=if_absent,
            copy=True,
        )
        return _PUT_OF[self._note(result).status]

    def look_up(self, wanted: Wanted) -> tuple[States, Records]:
        """Return the records of blocks, and for each LANDED or what is the matter with it."""
        records = np.zeros(len(wanted.digests), RECORD)
        result = self.kv.retrieve(
            record_keys(wanted.digests),
            records.view(np.uint8),
            sizes=RECORD.itemsize,
            offsets=np.arange(len(records)) * RECORD.itemsize,
            copy=True,
        )
        states = landed_states(self._note(result), RECORD.itemsize)
        states[states == BlockState.WRONG_SIZE] = BlockState.CORRUPT  # that is no record
        landed = states == BlockState.LANDED
        right_size = (records["bytes"] == wanted.sizes) & (
            records["part_bytes"] == wanted.part_bytes
        )
        states[landed & ~right_size] = BlockState.WRONG_SIZE
        states[landed & ~well_formed(records, self.checksum)] = BlockState.CORRUPT
        # Whatever else is the matter, what lies there is another content's.
        another = ~same_rows(records["digest"], wanted.digests)
        states[landed & readable(records) & another] = BlockState.COLLISION
        return states, records

    def read_back(self, wanted: Wanted) -> tuple[States, Checksums]:
        """Fetch blocks, and return the checksums of what landed; a few blocks at a time."""
        states = np.empty(len(wanted), np.uint8)
        seen = np.zeros((len(wanted), CHECKSUM_SIZE), np.uint8)
        ends = np.cumsum(wanted.sizes)
        for some in np.split(
            np.arange(len(wanted)), np.flatnonzero(np.diff(ends // _READ_BACK)) + 1
        ):
            chosen = wanted.chosen(some).packed()
            memory = np.zeros(chosen.end, np.uint8)
            states[some] = self._fetch(chosen, memory, copy=True)
            blocks = slices(span_of("memory", memory), chosen.offsets, chosen.sizes)
            seen[some] = checksums_of(self.checksum, blocks)
        return states, seen

    def _stored(self, parts: Parts, which: Ints, payloads: Any, if_absent: bool) -> States:
        if not which.size:
            return np.empty(0, np.uint8)
        result = self.kv.store(
            parts.keys[which],
            payloads,
            sizes=parts.sizes[which],
            offsets=parts.offsets[which],
            if_absent=if_absent,
            copy=True,
        )
        return _PUT_OF[self._note(result).status]

    def _fetch(self, wanted: Wanted, out: Any, copy: bool) -> States:
        parts = split(wanted)
        result = self.kv.retrieve(
            parts.keys, out, sizes=parts.sizes, offsets=parts.offsets, copy=copy
        )
        return parts.worst(landed_states(self._note(result), parts.sizes))


def landed_states(result: Result, sizes: Any) -> States:
    """Return LANDED for values of the right size, or what is the matter with them."""
    states = _STATE_OF[result.status]
    wrong = which_are(states, BlockState.LANDED) & (result.value_size != sizes)
    states[wrong] = BlockState.WRONG_SIZE
    return states
