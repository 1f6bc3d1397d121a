"""Blocks on an NVMe key-value namespace: the storage interface over `KV`."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.arguments import seconds as checked_seconds
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.block_store import BlockStore
from xiokv.runtime.kvcache.checksums import DEFAULT, Algorithm, checksums_of
from xiokv.runtime.kvcache.checksums import SIZE as CHECKSUM_SIZE
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.donor_index import DonorIndex, Head, UnreadableHeadFault
from xiokv.runtime.kvcache.fetch_cost import CostModel
from xiokv.runtime.kvcache.keyspace import Digests, Keyspace
from xiokv.runtime.kvcache.leases import Clock, LeaseBook
from xiokv.runtime.kvcache.manifest import Handle, Manifest
from xiokv.runtime.kvcache.memory import on_host, slices
from xiokv.runtime.kvcache.publishing import (
    check_digests,
    check_new_donor,
    check_payloads,
    digests_of,
    manifest_of,
    refuse_unstored,
    sizes_of,
)
from xiokv.runtime.kvcache.states import BlockState, Ints, States, which_are
from xiokv.runtime.kvcache.storage import (
    Donor,
    Fetch,
    FetchCost,
    GenerationFault,
    Lease,
    NewDonor,
    OneByOne,
    apart,
    check_fits,
    check_generation,
    check_newer,
    joined,
    offsets_of_fetch,
    sizes_of_fetch,
)
from xiokv.runtime.kvcache.verification import check_fetches
from xiokv.runtime.kvcache.wanted import one_after_the_other

_DONORS_KEPT = 256


class KvStorage(OneByOne):
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

    def publish(self, new: NewDonor, payloads: Any, *, repair: bool = False) -> Manifest:
        """Store blocks that are not there, then manifest and head: see `Storage`."""
        check_new_donor(self.keyspace, new)
        digests, sizes = digests_of(self.keyspace, new), sizes_of(new)
        check_payloads(payloads, sizes)
        before = self._before(new, repair)
        put = self.blocks.put(digests, payloads, sizes=sizes, repair=repair)
        refuse_unstored(new, put.states, put.refusal)
        manifest = manifest_of(
            self.keyspace,
            new,
            digests,
            put.checksums,
            algorithm=self.blocks.checksum,
            part_bytes=self.blocks.part_bytes,
            storage=self._handles,
        )
        head = self._index.write(manifest)
        self._remember(head, Donor.of(manifest))
        if before is not None and before.manifest != head.manifest:
            self._forget(before)
            self._index.forget(before)
        return manifest

    def resolve_all(self, donors: Sequence[str], rank: int = 0) -> list[Donor | RuntimeFault]:
        """Find manifests of several donors: see `Storage`.

        The manifests that were read or published last are remembered by their digests.
        """
        heads = self._index.heads(donors, rank)
        found: dict[int, Donor | RuntimeFault] = {}
        new: dict[int, Head] = {}
        for at, head in enumerate(heads):
            one = self._known(head) if isinstance(head, Head) else head
            if one is not None:
                found[at] = one
            elif isinstance(head, Head):
                new[at] = head
        manifests = self._index.manifests(list(new.values())) if new else []
        for (at, head), manifest in zip(new.items(), manifests, strict=True):
            found[at] = self._read(head, manifest)
        return [found[at] for at in range(len(heads))]

    def lease_all(self, donors: Sequence[Donor], seconds: float) -> list[Lease | RuntimeFault]:
        """Keep blocks of several donors: see `Storage`."""
        checked_seconds("seconds", seconds)
        by_rank: dict[int, list[Donor]] = {}
        for donor in donors:
            by_rank.setdefault(donor.manifest.layout.parallel.tp_rank, []).append(donor)
        with self._removing:
            leases = {
                id(donor): self._leased(donor, head, seconds)
                for rank, some in by_rank.items()
                for donor, head in zip(
                    some, self._index.heads([one.manifest.donor for one in some], rank), strict=True
                )
            }
        return [leases[id(donor)] for donor in donors]

    def present(self, digests: Digests) -> npt.NDArray[np.bool_]:
        """Tell which blocks are there: see `Storage`."""
        return self.blocks.exist(digests)

    def estimate_fetch_cost(self, donor: Donor, blocks: Ints) -> FetchCost:
        """Tell what blocks cost, by the batches that were retrieved: see `Storage`."""
        sizes = donor.table.sizes[blocks]
        part = donor.manifest.part_bytes
        commands = int((-(-sizes // part)).sum()) if part else len(sizes)
        return self._costs.estimate(commands, int(sizes.sum()))

    def retrieve(self, fetches: Sequence[Fetch], out: Any, *, verify: bool = True) -> list[States]:
        """Fetch blocks in one batch: see `Storage`."""
        check_fits(fetches)
        held = [self._leases.holds(fetch.lease) for fetch in fetches]
        found = iter(self._fetch(list(compress(fetches, held)), out))
        states = [
            self._leases.counted(fetch.lease, next(found)) if holds else _expired(fetch)
            for fetch, holds in zip(fetches, held, strict=True)
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
            leased = self._leases.keys()
        if head is not None:
            self._forget(head)
        if found is not None:
            table = found.table
            free = np.array([key.tobytes() not in leased for key in table.keys], bool)
            self.blocks.delete(
                table.digests[free],
                sizes=table.sizes[free],
                part_bytes=found.manifest.part_bytes,
            )

    def discard(self, new: NewDonor, payloads: Any) -> None:
        """Delete what a `publish` of the same has stored that was cut off; no head leads there.

        Raises:
            BatchFault: keys could not be deleted; those that are not there are no fault.
        """
        digests, sizes = digests_of(self.keyspace, new), sizes_of(new)
        memory = on_host("payloads", payloads)
        manifest = manifest_of(
            self.keyspace,
            new,
            digests,
            checksums_of(self.blocks.checksum, slices(memory, one_after_the_other(sizes), sizes)),
            algorithm=self.blocks.checksum,
            part_bytes=self.blocks.part_bytes,
            storage=self._handles,
        )
        self._index.forget(self._index.head_of(manifest))
        self.blocks.delete(digests, sizes=sizes)

    def _before(self, new: NewDonor, repair: bool) -> Head | None:
        """Return the head that a donor has before it is published."""
        try:
            head = self._index.head(new.donor, new.layout.parallel.tp_rank)
        except UnreadableHeadFault:
            if repair:
                return None
            raise
        if head is not None:
            check_newer(new, head.generation, repair)
        return head

    def _leased(
        self, donor: Donor, head: Head | RuntimeFault, seconds: float
    ) -> Lease | RuntimeFault:
        if isinstance(head, RuntimeFault):
            return head
        try:
            check_generation(donor.manifest, head.generation)
        except GenerationFault as fault:
            return fault
        return self._leases.give(donor, seconds)

    def _known(self, head: Head) -> Donor | None:
        with self._lock:
            found = self._donors.get(head.manifest)
            if found is None or not head.leads_to(found.manifest):
                return None
            self._donors.move_to_end(head.manifest)
            return found

    def _read(self, head: Head, manifest: Manifest | RuntimeFault) -> Donor | RuntimeFault:
        """Return a donor by its manifest that was read, and remember it."""
        if isinstance(manifest, RuntimeFault):
            return manifest
        try:
            check_digests(self.keyspace, manifest)
        except DocumentFault as fault:
            return fault
        donor = Donor.of(manifest)
        self._remember(head, donor)
        return donor

    def _remember(self, head: Head, donor: Donor) -> None:
        """Keep a donor whose manifest is what a head names."""
        with self._lock:
            self._donors[head.manifest] = donor
            while len(self._donors) > _DONORS_KEPT:
                self._donors.popitem(last=False)

    def _forget(self, head: Head) -> None:
        with self._lock:
            self._donors.pop(head.manifest, None)

    def _fetch(self, fetches: Sequence[Fetch], out: Any) -> list[States]:
        """Retrieve blocks of all fetches in one batch; return their states."""
        if not fetches:
            return []
        sizes = joined([sizes_of_fetch(fetch) for fetch in fetches])
        begun = time.perf_counter()
        found = self.blocks.get(
            joined([fetch.lease.donor.table.digests[fetch.blocks] for fetch in fetches]),
            out,
            sizes=sizes,
            offsets=joined([offsets_of_fetch(fetch) for fetch in fetches]),
            checksums=np.empty((len(sizes), CHECKSUM_SIZE), np.uint8),  # looked at by `verify`
            part_bytes=np.repeat(
                [fetch.lease.donor.manifest.part_bytes for fetch in fetches],
                [len(fetch.blocks) for fetch in fetches],
            ),
            verify=False,
        )
        if which_are(found, BlockState.LANDED).all():
            self._costs.saw(int(sizes.sum()), time.perf_counter() - begun)
        return apart(found, fetches)


def _expired(fetch: Fetch) -> States:
    return np.full(len(fetch.blocks), BlockState.EXPIRED, np.uint8)
