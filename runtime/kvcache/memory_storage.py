"""Blocks in this process: the storage interface without a namespace."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.checksums import DEFAULT, Algorithm, checksums_of
from xiokv.runtime.kvcache.keyspace import KEY_SIZE, Digests, Keyspace
from xiokv.runtime.kvcache.leases import Clock, LeaseBook
from xiokv.runtime.kvcache.manifest import Manifest
from xiokv.runtime.kvcache.memory import on_host, slices
from xiokv.runtime.kvcache.publishing import (
    check_new_donor,
    check_payloads,
    digests_of,
    manifest_of,
    refuse_unstored,
    sizes_of,
)
from xiokv.runtime.kvcache.states import BlockState, Ints, PutState, States
from xiokv.runtime.kvcache.storage import (
    Donor,
    Fetch,
    FetchCost,
    GenerationFault,
    Lease,
    NewDonor,
    OneByOne,
    check_fits,
    check_generation,
    check_newer,
    donor_missing,
    sizes_of_fetch,
)
from xiokv.runtime.kvcache.verification import check_fetches
from xiokv.runtime.kvcache.wanted import check_within, one_after_the_other
from xiokv.runtime.spans import span_of


class MemoryStorage(OneByOne):
    """Keeps blocks of one tenant in dictionaries.

    Args:
        keyspace: whose.
        checksum: how payloads are checked.
        clock: of the leases.

    Attributes:
        keyspace: as given.
        values: payloads by key.
    """

    def __init__(
        self,
        keyspace: Keyspace,
        *,
        checksum: Algorithm = DEFAULT,
        clock: Clock = time.monotonic,
    ) -> None:
        self.keyspace = keyspace
        self.values: dict[bytes, bytes] = {}
        self._checksum = checksum
        # Of each value: digest and checksum.
        self._records: dict[bytes, tuple[bytes, bytes]] = {}
        self._donors: dict[tuple[str, int], Donor] = {}
        self._leases = LeaseBook(clock)
        self._lock = threading.RLock()

    def publish(self, new: NewDonor, payloads: Any, *, repair: bool = False) -> Manifest:
        """Store blocks that are not there, then the manifest: see `Storage`."""
        check_new_donor(self.keyspace, new)
        digests, sizes = digests_of(self.keyspace, new), sizes_of(new)
        check_payloads(payloads, sizes)
        offsets = one_after_the_other(sizes)
        memory = on_host("payloads", payloads)
        with self._lock:
            self._check_newer(new, repair)
            refuse_unstored(new, self._put_states(digests))
            keys = [digest[:KEY_SIZE].tobytes() for digest in digests]
            given = slices(memory, offsets, sizes)
            for key, digest, payload in zip(keys, digests, given, strict=True):
                if key not in self.values or (repair and self._is_damaged(key)):
                    self.values[key] = payload.tobytes()
                    self._records[key] = (digest.tobytes(), self._checksum_of(payload))
            kept = b"".join(self._records[key][1] for key in keys)
            manifest = manifest_of(
                self.keyspace,
                new,
                digests,
                np.frombuffer(kept, np.uint8).reshape(len(keys), -1),
                algorithm=self._checksum,
                part_bytes=0,
            )
            self._donors[new.donor, new.layout.parallel.tp_rank] = Donor.of(manifest)
        return manifest

    def resolve_all(self, donors: Sequence[str], rank: int = 0) -> list[Donor | RuntimeFault]:
        """Find manifests: see `Storage`."""
        for donor in donors:
            self.keyspace.donor_key(donor, rank)  # refuses what is no donor's name
        return [self._donor(donor, rank) for donor in donors]

    def present(self, digests: Digests) -> npt.NDArray[np.bool_]:
        """Tell which blocks are there: see `Storage`."""
        return np.array([digest[:KEY_SIZE].tobytes() in self.values for digest in digests], bool)

    def lease_all(self, donors: Sequence[Donor], seconds: float) -> list[Lease | RuntimeFault]:
        """Keep blocks of donors: see `Storage`."""
        with self._lock:
            return [self._leased(donor, seconds) for donor in donors]

    def estimate_fetch_cost(self, donor: Donor, blocks: Ints) -> FetchCost:
        """Tell what moves: see `Storage`."""
        moved = int(donor.table.sizes[blocks].sum())
        return FetchCost(len(blocks), moved, None, "copies in memory are not timed")

    def retrieve(self, fetches: Sequence[Fetch], out: Any, *, verify: bool = True) -> list[States]:
        """Fetch blocks: see `Storage`."""
        check_fits(fetches)
        view = _writable(out)
        for fetch in fetches:
            sizes = fetch.lease.donor.table.sizes[fetch.blocks]
            check_within("out", len(view), fetch.offsets, sizes)
        states = [
            self._leases.counted(fetch.lease, self._fetched(fetch, view)) for fetch in fetches
        ]
        return self.verify(fetches, out, states) if verify else states

    def verify(self, fetches: Sequence[Fetch], out: Any, states: Sequence[States]) -> list[States]:
        """Compare checksums: see `Storage`."""
        return check_fetches(fetches, out, states)

    def release(self, lease: Lease) -> None:
        """End a lease: see `Storage`."""
        self._leases.end(lease)

    def remove(self, donor: str, rank: int = 0, *, blocks: bool = False) -> None:
        """Remove a donor: see `Storage`."""
        with self._lock:
            self._leases.check_free(donor, rank)
            found = self._donors.pop((donor, rank), None)
            leased = self._leases.keys()
            for block in found.manifest.blocks if found and blocks else ():
                key = bytes.fromhex(block.key)
                if key not in leased:
                    self.values.pop(key, None)

    def _put_states(self, digests: Digests) -> States:
        """Return a `PutState` a block: what is there already may be another content's."""
        states = np.full(len(digests), PutState.STORED, np.uint8)
        for index, digest in enumerate(digests):
            key = digest[:KEY_SIZE].tobytes()
            if key in self.values:
                same = self._records[key][0] == digest.tobytes()
                states[index] = PutState.SHARED if same else PutState.COLLISION
        return states

    def _checksum_of(self, payload: Any) -> bytes:
        return checksums_of(self._checksum, [payload]).tobytes()

    def _is_damaged(self, key: bytes) -> bool:
        return self._checksum_of(self.values[key]) != self._records[key][1]

    def _donor(self, donor: str, rank: int) -> Donor | RuntimeFault:
        with self._lock:
            return self._donors.get((donor, rank)) or donor_missing(donor, rank)

    def _leased(self, donor: Donor, seconds: float) -> Lease | RuntimeFault:
        manifest = donor.manifest
        now = self._donor(manifest.donor, manifest.layout.parallel.tp_rank)
        if isinstance(now, RuntimeFault):
            return now
        try:
            check_generation(manifest, now.manifest.generation)
        except GenerationFault as fault:
            return fault
        return self._leases.give(donor, seconds)

    def _check_newer(self, new: NewDonor, repair: bool) -> None:
        there = self._donors.get((new.donor, new.layout.parallel.tp_rank))
        if there is not None:
            check_newer(new, there.manifest.generation, repair)

    def _fetched(self, fetch: Fetch, view: memoryview) -> States:
        count = len(fetch.blocks)
        if not self._leases.holds(fetch.lease):
            return np.full(count, BlockState.EXPIRED, np.uint8)
        keys = fetch.lease.donor.table.keys[fetch.blocks].tobytes()
        values = [self.values.get(keys[at : at + KEY_SIZE]) for at in range(0, len(keys), KEY_SIZE)]
        seen = np.fromiter((-1 if v is None else len(v) for v in values), np.int64, count)
        states = np.full(count, BlockState.LANDED, np.uint8)
        states[seen != sizes_of_fetch(fetch)] = BlockState.WRONG_SIZE
        states[seen < 0] = BlockState.MISSING
        landed = (states == BlockState.LANDED).tolist()
        for value, start, right in zip(values, fetch.offsets.tolist(), landed, strict=True):
            if right and value is not None:
                view[start : start + len(value)] = value
        return states


def _writable(out: Any) -> memoryview:
    """Return the bytes of a buffer on the host that may be written."""
    span = span_of("out", out)
    if not span.on_host:
        raise ArgumentFault("out lies in a GPU; MemoryStorage fills memory of the host alone")
    if not span.writable:
        raise ArgumentFault("out is read-only; give a buffer that can be written")
    return on_host("out", out).view.data
