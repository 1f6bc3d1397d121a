"""What keeps blocks, for whoever fetches them: resolve, lease, estimate, retrieve, release.

It is neutral: nothing here knows of NVMe, of queues or of a model. `KvStorage` is on a
key-value namespace, `MemoryStorage` in this process; both hold to the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from xiokv.runtime.arguments import integers
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kvcache.keyspace import Digests, Keyspace
from xiokv.runtime.kvcache.manifest import BlockTable, KvLayout, Manifest
from xiokv.runtime.kvcache.states import Ints, States

_T = TypeVar("_T")


class DonorMissingFault(RuntimeFault):
    """The store has no such donor, or no whole one."""


class GenerationFault(RuntimeFault):
    """The store has the donor in another generation."""


class LeasedFault(RuntimeFault):
    """Somebody holds a lease on what was to be removed."""


class PublishFault(RuntimeFault):
    """Blocks of a donor could not be stored, so that it was not published.

    Attributes:
        states: a `PutState` a block.
    """

    def __init__(self, message: str, states: States) -> None:
        super().__init__(message)
        self.states = states


@dataclass(frozen=True, slots=True, eq=False)
class Donor:
    """A donor that was found.

    Attributes:
        manifest: what its blocks are.
        table: the blocks as arrays.
    """

    manifest: Manifest
    table: BlockTable = field(repr=False)

    @classmethod
    def of(cls, manifest: Manifest) -> Donor:
        """Return a donor with its arrays."""
        return cls(manifest, BlockTable(manifest))


@dataclass(frozen=True, slots=True, eq=False)
class Lease:
    """The right to fetch a donor's blocks, for a time; until then they are not removed.

    Attributes:
        number: of the lease, in the storage that gave it.
        donor: whose blocks.
        expires: when it ends, by the storage's clock in seconds.
    """

    number: int
    donor: Donor
    expires: float


@dataclass(frozen=True, slots=True, eq=False)
class Fetch:
    """Blocks of one lease to retrieve.

    Attributes:
        lease: that allows it.
        blocks: which of the manifest's.
        offsets: where each goes in the buffer, in multiples of 4 bytes.
    """

    lease: Lease
    blocks: Ints
    offsets: Ints


@dataclass(frozen=True, slots=True)
class FetchCost:
    """What it costs to retrieve some blocks.

    Attributes:
        commands: that it takes.
        bytes: that move.
        seconds: that it takes, by what was measured; None where nothing was yet.
        basis: what the time rests on.
    """

    commands: int
    bytes: int
    seconds: float | None
    basis: str


class Storage(Protocol):
    """Keeps blocks of one tenant.

    Attributes:
        keyspace: whose.
    """

    keyspace: Keyspace

    def publish(self, new: NewDonor, payloads: Any, *, repair: bool = False) -> Manifest:
        """Store a donor's blocks, then its manifest.

        Args:
            new: what the blocks are.
            payloads: a contiguous buffer: blocks by tokens and then by shards, each at the
                next multiple of 4 bytes.
            repair: read back what is there already, and store over what is damaged; also over
                a manifest of the same generation, or one that cannot be read.

        Raises:
            PublishFault: blocks could not be stored.
            GenerationFault: the store has this generation, or a later one.
        """

    def resolve(self, donor: str, rank: int = 0) -> Donor:
        """Find a donor's manifest.

        Args:
            donor: its name.
            rank: tensor-parallel rank.

        Raises:
            DonorMissingFault: there is none.
            DocumentFault: its manifest cannot be read here.
        """

    def resolve_all(self, donors: Sequence[str], rank: int = 0) -> list[Donor | RuntimeFault]:
        """Find manifests of several donors at once; of one that fails, return the fault.

        Raises:
            RuntimeFault: nothing could be asked at all.
        """

    def present(self, digests: Digests) -> npt.NDArray[np.bool_]:
        """Tell which blocks are there."""

    def lease(self, donor: Donor, seconds: float) -> Lease:
        """Keep a donor's blocks from being removed, for a time.

        Raises:
            DonorMissingFault: it is not there any more.
            GenerationFault: it was published again since.
        """

    def lease_all(self, donors: Sequence[Donor], seconds: float) -> list[Lease | RuntimeFault]:
        """Lease several donors at once; of one that fails, return the fault.

        Raises:
            RuntimeFault: nothing could be asked at all.
        """

    def estimate_fetch_cost(self, donor: Donor, blocks: Ints) -> FetchCost:
        """Tell what it costs to retrieve blocks."""

    def retrieve(self, fetches: Sequence[Fetch], out: Any, *, verify: bool = True) -> list[States]:
        """Fetch blocks of any number of leases, all in one batch.

        Args:
            fetches: what, and where it goes.
            out: a contiguous buffer.
            verify: compare checksums; without it blocks are LANDED at best.

        Returns:
            For each fetch a `BlockState` a block.

        Raises:
            RuntimeFault: the batch could not be run; then nothing of `out` counts.
        """

    def verify(self, fetches: Sequence[Fetch], out: Any, states: Sequence[States]) -> list[States]:
        """Compare the checksums of blocks that LANDED, as `retrieve` would have."""

    def release(self, lease: Lease) -> None:
        """End a lease; one that has ended already is no fault."""

    def remove(self, donor: str, rank: int = 0, *, blocks: bool = False) -> None:
        """Remove a donor's manifest, and its blocks where asked, save those that are leased.

        Other donors may share the blocks; they then find them missing.

        Raises:
            LeasedFault: somebody holds a lease on it.
        """


class OneByOne:
    """`resolve` and `lease` of a storage that has `resolve_all` and `lease_all`."""

    def resolve(self: Storage, donor: str, rank: int = 0) -> Donor:
        """Find a donor's manifest: see `Storage`."""
        (found,) = self.resolve_all([donor], rank)
        return _or_raise(found)

    def lease(self: Storage, donor: Donor, seconds: float) -> Lease:
        """Keep a donor's blocks: see `Storage`."""
        (found,) = self.lease_all([donor], seconds)
        return _or_raise(found)


def _or_raise(found: _T | RuntimeFault) -> _T:
    if isinstance(found, RuntimeFault):
        raise found
    return found


@dataclass(frozen=True, slots=True)
class NewDonor:
    """A donor to publish.

    Attributes:
        donor: its name.
        layout: how its blocks are to be read.
        start: position of the first token, a multiple of a block's tokens.
        contents: content digest of each block of tokens, in their order.
        generation: of the cache; higher than any that was published before.
        target_start: position that the first token had where that is another.
    """

    donor: str
    layout: KvLayout
    contents: Sequence[bytes]
    start: int = 0
    generation: int = 0
    target_start: int | None = None


def joined(parts: Sequence[npt.NDArray[Any]]) -> Any:
    """Return arrays of some fetches, one after the other, as one."""
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def apart(states: States, fetches: Sequence[Fetch]) -> list[States]:
    """Return the states of each fetch."""
    ends = itertools.accumulate(len(fetch.blocks) for fetch in fetches)
    return [states[begin:end] for begin, end in itertools.pairwise([0, *ends])]


def sizes_of_fetch(fetch: Fetch) -> Ints:
    """Return the bytes of each block of a fetch."""
    found: Ints = fetch.lease.donor.table.sizes[fetch.blocks]
    return found


def offsets_of_fetch(fetch: Fetch) -> Ints:
    """Return where each block of a fetch goes, whatever kind of integers it has."""
    return np.asarray(fetch.offsets, np.int64)


def check_fits(fetches: Sequence[Fetch]) -> None:
    """Refuse fetches of blocks that a donor has not, or into slots that overlap.

    Raises:
        ArgumentFault: something of them cannot be; nothing was asked for.
    """
    given = [
        (
            integers(f"fetches[{at}].blocks", fetch.blocks, np.size(fetch.blocks)),
            integers(f"fetches[{at}].offsets", fetch.offsets, np.size(fetch.blocks)),
        )
        for at, fetch in enumerate(fetches)
    ]
    blocks = joined([one for one, _ in given])
    numbers = np.repeat(np.arange(len(fetches)), [len(one) for one, _ in given])
    there = np.array([len(fetch.lease.donor.table.sizes) for fetch in fetches], np.int64)[numbers]
    wrong = np.flatnonzero((blocks < 0) | (blocks >= there))
    if wrong.size:
        first = wrong[0]
        raise ArgumentFault(
            f"fetches[{numbers[first]}].blocks: {blocks[first]} is seen; the donor has blocks 0 to"
            f" {there[first] - 1}"
        )
    begin = joined([offsets for _, offsets in given])
    unaligned = np.flatnonzero(begin % 4)
    if unaligned.size:
        raise ArgumentFault(
            f"fetches[{numbers[unaligned[0]]}].offsets: multiples of 4 are allowed;"
            f" {begin[unaligned[0]]} is seen"
        )
    end = begin + joined([sizes_of_fetch(fetch) for fetch in fetches])
    if (begin[1:] < end[:-1]).any():  # not one after the other
        order = np.argsort(begin, kind="stable")
        if (begin[order][1:] < end[order][:-1]).any():
            raise ArgumentFault("fetches: slots overlap; each block needs room of its own")


def donor_missing(donor: str, rank: int) -> DonorMissingFault:
    """Return the fault of a donor that is not there."""
    return DonorMissingFault(f"the store has no donor {donor!r} of rank {rank} for this tenant")


def check_generation(manifest: Manifest, there: int) -> None:
    """Refuse a manifest of another generation than the store has now.

    Raises:
        GenerationFault: it is of another.
    """
    if manifest.generation != there:
        raise GenerationFault(
            f"donor {manifest.donor!r}: generation {manifest.generation} was resolved, and the"
            f" store has generation {there}; resolve it again"
        )


def check_newer(new: NewDonor, there: int, same: bool = False) -> None:
    """Refuse to publish what is no newer than the store has.

    Args:
        new: what is to be published.
        there: generation that the store has.
        same: allow the same one.

    Raises:
        GenerationFault: it is not newer.
    """
    if new.generation < there or (new.generation == there and not same):
        raise GenerationFault(
            f"donor {new.donor!r}: generation {new.generation} is offered, and the store has"
            f" generation {there}; publish a higher one, or remove the donor first"
        )
