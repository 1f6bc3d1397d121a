"""Blocks on an NVMe key-value namespace: the storage interface over `KV`."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.block_store import BlockStore
from xiokv.runtime.kvcache.checksums import DEFAULT, Algorithm
from xiokv.runtime.kvcache.donor_index import DonorIndex, Head
from xiokv.runtime.kvcache.fetch_cost import CostModel
from xiokv.runtime.kvcache.keyspace import Digests, Keyspace
from xiokv.runtime.kvcache.leases import Clock, LeaseBook
from xiokv.runtime.kvcache.manifest import Handle, Manifest
from xiokv.runtime.kvcache.publishing import (
    check_digests,
    check_offer,
    manifest_of,
    offered_digests,
    offered_sizes,
    refuse_unstored,
)
from xiokv.runtime.kvcache.states import BlockState, Ints, States
from xiokv.runtime.kvcache.storage import (
    Donor,
    Fetch,
    FetchCost,
    Lease,
    Offered,
    check_generation,
    check_newer,
)
from xiokv.runtime.kvcache.verification import check_fetches

_DONORS_KEPT = 256


class KvStorage:
    """Keeps blocks of one tenant on a namespace.

    The command set has no leases: one keeps this object's own `remove` away, and what
    another process removes or publishes meanwhile is found out by keys, sizes and checksums.

    Args:
        kv: the calls on the namespace.
        keyspace: whose.
        checksum: how payloads are checked.
        part_bytes: largest value; by default the largest that the namespace takes.
        address: what manifests say of where the blocks are.
        clock: of the leases.

    Attributes:
        keyspace: as given.
        blocks: the block store below.
    """

    def __init__(
        self,
        kv: KV,
        keyspace: Keyspace,
        *,
        checksum: Algorithm = DEFAULT,
        part_bytes: int | None = None,
        address: str = "",
        clock: Clock = time.monotonic,
    ) -> None:
        self.keyspace = keyspace
        self.blocks = BlockStore(kv, checksum=checksum, part_bytes=part_bytes)
        self._index = DonorIndex(kv, keyspace, self.blocks.part_bytes)
        self._handles = (Handle(kind="nvme-kv", address=address),) if address else ()
        self._leases = LeaseBook(clock)
        self._costs = CostModel()
        self._donors: OrderedDict[str, Donor] = OrderedDict()
        self._lock = threading.Lock()
        # No lease is given between the check for leases and the end of the head.
        self._removing = threading.Lock()

    def publish(self, offer: Offered, payloads: Any) -> Manifest:
        """Store blocks that are not there, then manifest and head: see `Storage`."""
        check_offer(self.keyspace, offer)
        digests, sizes = offered_digests(self.keyspace, offer), offered_sizes(offer)
        there = self._index.head(offer.donor, offer.layout.parallel.tp_rank)
        if there is not None:
            check_newer(offer, there.generation)
        put = self.blocks.put(digests, payloads, sizes=sizes)
        refuse_unstored(offer, put.states)
        manifest = manifest_of(
            self.keyspace,
            offer,
            digests,
            put.checksums,
            algorithm=self.blocks.checksum,
            part_bytes=self.blocks.part_bytes,
            storage=self._handles,
        )
        self._index.write(manifest)
        return manifest

    def resolve(self, donor: str, rank: int = 0) -> Donor:
        """Find a donor's manifest: see `Storage`. The last ones are remembered."""
        head = self._index.found(donor, rank)
        with self._lock:
            found = self._donors.get(head.manifest)
            if found is not None:
                self._donors.move_to_end(head.manifest)
                return found
        manifest = self._index.manifest(head)
        check_digests(self.keyspace, manifest)
        return self._remembered(head, Donor.of(manifest))

    def present(self, digests: Digests) -> npt.NDArray[np.bool_]:
        """Tell which blocks are there: see `Storage`."""
        return self.blocks.exist(digests)

    def lease(self, donor: Donor, seconds: float) -> Lease:
        """Keep a donor's blocks: see `Storage`."""
        manifest = donor.manifest
        with self._removing:
            head = self._index.found(manifest.donor, manifest.layout.parallel.tp_rank)
            check_generation(manifest, head.generation)
            return self._leases.give(donor, seconds)

    def estimate_fetch_cost(self, donor: Donor, blocks: Ints) -> FetchCost:
        """Tell what blocks cost, by the batches that were retrieved: see `Storage`."""
        sizes = donor.table.sizes[blocks]
        part = donor.manifest.part_bytes
        commands = int((-(-sizes // part)).sum()) if part else len(sizes)
        return self._costs.estimate(commands, int(sizes.sum()))

    def retrieve(self, fetches: Sequence[Fetch], out: Any, *, verify: bool = True) -> list[States]:
        """Fetch blocks in one batch: see `Storage`."""
        states = [self._begun(fetch) for fetch in fetches]
        held = [index for index, found in enumerate(states) if not found.any()]
        self._fetch([fetches[index] for index in held], [states[index] for index in held], out)
        states = [
            self._leases.counted(fetch.lease, found)
            for fetch, found in zip(fetches, states, strict=True)
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
        with self._removing:
            self._leases.check_free(donor, rank)
            found = self.resolve(donor, rank) if blocks else None
            head = self._index.erase(donor, rank)
        if head is not None:
            with self._lock:
                self._donors.pop(head.manifest, None)
        if found is not None:
            table, part = found.table, found.manifest.part_bytes
            self.blocks.delete(table.digests, sizes=table.sizes, part_bytes=part)

    def _remembered(self, head: Head, donor: Donor) -> Donor:
        with self._lock:
            self._donors[head.manifest] = donor
            while len(self._donors) > _DONORS_KEPT:
                self._donors.popitem(last=False)
        return donor

    def _begun(self, fetch: Fetch) -> States:
        """Return 0 for each block that may be fetched."""
        ended = not self._leases.holds(fetch.lease)
        return np.full(len(fetch.blocks), BlockState.EXPIRED if ended else 0, np.uint8)

    def _fetch(self, fetches: Sequence[Fetch], states: Sequence[States], out: Any) -> None:
        """Retrieve blocks of all fetches in one batch, and fill in their states."""
        if not fetches:
            return
        sizes = _sizes(fetches)
        begun = time.perf_counter()
        found = self.blocks.get(
            _join(fetches, lambda fetch: fetch.lease.donor.table.digests[fetch.blocks]),
            out,
            sizes=sizes,
            offsets=_join(fetches, lambda fetch: fetch.offsets),
            checksums=_join(fetches, lambda fetch: fetch.lease.donor.table.checksums[fetch.blocks]),
            part_bytes=_join(fetches, _part_bytes),
            verify=False,
        )
        if (found == BlockState.LANDED).all():
            self._costs.saw(int(sizes.sum()), time.perf_counter() - begun)
        for part, filled in zip(_apart(found, fetches), states, strict=True):
            filled[:] = part


def _join(fetches: Sequence[Fetch], what: Callable[[Fetch], Any]) -> Any:
    return np.concatenate([what(fetch) for fetch in fetches])


def _part_bytes(fetch: Fetch) -> Ints:
    return np.full(len(fetch.blocks), fetch.lease.donor.manifest.part_bytes)


def _sizes(fetches: Sequence[Fetch]) -> Any:
    return _join(fetches, lambda fetch: fetch.lease.donor.table.sizes[fetch.blocks])


def _apart(states: States, fetches: Sequence[Fetch]) -> list[States]:
    """Return the states of each fetch."""
    ends = np.cumsum([len(fetch.blocks) for fetch in fetches])
    return np.split(states, ends[:-1])
