"""Donors on a namespace: a name in, its manifest out.

A donor has a small value, its head, under a key that its name makes. The head says under which
digest the manifest lies; it is the last thing that is written, so that a head never leads to
what is not there yet. Its single Store makes the switch from one generation to the next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np

from xiokv.runtime import deletion
from xiokv.runtime.abi import Outcome
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.block_store import landed_states
from xiokv.runtime.kvcache.documents import (
    Count,
    Document,
    DocumentFault,
    Hex32,
    Positive,
    Text,
    hex_problems,
)
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.manifest import Manifest
from xiokv.runtime.kvcache.parts import Parts, split
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.kvcache.storage import DonorMissingFault, donor_missing
from xiokv.runtime.kvcache.wanted import wanted_blocks

# Bytes of a head at most, and of nearly every one.
_HEAD_MAX, _HEAD_USUAL = 8192, 512
# Heads whose bytes need not be taken apart again.
_HEADS_KEPT = 1024
_MANIFEST_MAX = 1 << 30
_PARTS_MAX = 1 << 20


class UnreadableHeadFault(DocumentFault):
    """A head that this version of xiokv cannot read, or that was damaged."""


class Head(Document, frozen=True, kw_only=True):
    """Which manifest a donor has now.

    Attributes:
        donor: its name.
        rank: tensor-parallel rank.
        generation: of the manifest.
        manifest: digest of the manifest's bytes.
        bytes: how many these are.
        part_bytes: values hold this much of them at most.
    """

    kind: ClassVar[str] = "xiokv-head"
    version: ClassVar[tuple[int, int]] = (1, 0)

    donor: Text
    rank: Count = 0
    generation: Count = 0
    manifest: Hex32
    bytes: Positive
    part_bytes: Positive

    def problems(self) -> Iterable[str]:
        """Yield what is wrong, a line each."""
        yield from hex_problems([self.manifest], lambda index: "manifest")
        if self.bytes > _MANIFEST_MAX:
            yield f"bytes: {self.bytes}; a manifest has {_MANIFEST_MAX} at most"
        elif -(-self.bytes // self.part_bytes) > _PARTS_MAX:
            yield f"part_bytes: {self.part_bytes}; a manifest is {_PARTS_MAX} values at most"

    def leads_to(self, manifest: Manifest) -> bool:
        """Tell whether a manifest is that of the same donor, rank and generation."""
        return (self.donor, self.rank, self.generation) == _of(manifest)


def _of(manifest: Manifest) -> tuple[str, int, int]:
    return manifest.donor, manifest.layout.parallel.tp_rank, manifest.generation


class DonorIndex:
    """The heads and manifests of a tenant.

    Args:
        kv: the calls on the namespace.
        keyspace: whose.
        part_bytes: largest value.
    """

    def __init__(self, kv: KV, keyspace: Keyspace, part_bytes: int) -> None:
        self._kv = kv
        self._keyspace = keyspace
        self._part_bytes = part_bytes
        self._decoded = lru_cache(_HEADS_KEPT)(Head.from_json)
        self._donor_key = lru_cache(_HEADS_KEPT, typed=True)(keyspace.donor_key)

    def head(self, donor: str, rank: int) -> Head | None:
        """Return a donor's head, or None where there is none.

        Raises:
            DocumentFault: the head cannot be read here, or is another donor's.
            RuntimeFault: the store reported an error.
        """
        (found,) = self.heads([donor], rank)
        if isinstance(found, DonorMissingFault):
            return None
        if isinstance(found, RuntimeFault):
            raise found
        return found

    def heads(self, donors: Sequence[str], rank: int) -> list[Head | RuntimeFault]:
        """Return the heads of donors, all from one batch; of one that fails, the fault."""
        keys = [self._key(donor, rank) for donor in donors]
        values = self._values([key for key in keys if isinstance(key, bytes)])
        return [
            key if isinstance(key, RuntimeFault) else self._head(donor, rank, *next(values))
            for donor, key in zip(donors, keys, strict=True)
        ]

    def _values(self, keys: list[bytes]) -> Iterator[tuple[int, bytes, str]]:
        """Return what `_read` does; heads of unusual size are asked for again."""
        found = self._read(keys, _HEAD_USUAL)
        large = [at for at, (outcome, *_) in enumerate(found) if outcome == Outcome.TRUNCATED]
        if large:
            again = self._read([keys[at] for at in large], _HEAD_MAX)
            for at, value in zip(large, again, strict=True):
                found[at] = value
        return iter(found)

    def _read(self, keys: list[bytes], most: int) -> list[tuple[int, bytes, str]]:
        """Return of each key the outcome, the value up to `most` bytes, and why any failed."""
        slot = min(most, self._kv.queues.max_transfer)
        memory = np.zeros(len(keys) * slot, np.uint8)
        result = self._kv.retrieve(
            keys, memory, sizes=slot, offsets=np.arange(len(keys)) * slot, copy=True
        )
        text = memory.tobytes()
        sizes = np.minimum(result.value_size, slot).tolist()
        return [
            (outcome, text[begin : begin + size], result.refusal)
            for outcome, begin, size in zip(
                result.status.tolist(), range(0, len(text), slot), sizes, strict=True
            )
        ]

    def _head(
        self, donor: str, rank: int, outcome: int, text: bytes, refusal: str
    ) -> Head | RuntimeFault:
        """Return a donor's head from the value under its key, or why there is none."""
        if outcome == Outcome.MISSING:
            return donor_missing(donor, rank)
        if outcome not in (Outcome.OK, Outcome.TRUNCATED):
            return RuntimeFault(
                f"donor {donor!r} of rank {rank}: its head was not read:"
                f" {_why(Outcome(outcome).name, refusal)}"
            )
        try:
            head = self._decoded(text)
        except DocumentFault as fault:
            return UnreadableHeadFault(
                f"donor {donor!r} of rank {rank}: its head cannot be read: {fault}; remove the"
                " donor, or publish it with repair=True"
            )
        if (head.donor, head.rank) != (donor, rank):
            return DocumentFault(
                f"donor {donor!r} of rank {rank}: under its key is the head of donor"
                f" {head.donor!r} of rank {head.rank}"
            )
        return head

    def _key(self, donor: str, rank: int) -> bytes | RuntimeFault:
        known = isinstance(donor, str) and isinstance(rank, int)
        try:
            return (self._donor_key if known else self._keyspace.donor_key)(donor, rank)
        except RuntimeFault as fault:  # no name that a donor may have
            return fault

    def manifests(self, heads: Sequence[Head]) -> list[Manifest | RuntimeFault]:
        """Return the manifests that heads name, all from one batch; or why there is none."""
        digests = [self._keyspace.manifest_digest(bytes.fromhex(head.manifest)) for head in heads]
        wanted = wanted_blocks(
            np.frombuffer(b"".join(digests), np.uint8).reshape(len(heads), -1),
            [head.bytes for head in heads],
            part_bytes=[head.part_bytes for head in heads],
        )
        memory = np.zeros(wanted.end + 3, np.uint8)
        parts = split(wanted)
        result = self._kv.retrieve(
            parts.keys, memory, sizes=parts.sizes, offsets=parts.offsets, copy=True
        )
        states = parts.worst(landed_states(result, parts.sizes))
        texts = (
            memory[begin : begin + head.bytes]
            for begin, head in zip(wanted.offsets, heads, strict=True)
        )
        return [
            _manifest(head, BlockState(state), text.tobytes(), result.refusal)
            for head, state, text in zip(heads, states.tolist(), texts, strict=True)
        ]

    def write(self, manifest: Manifest) -> Head:
        """Store a manifest, then its head; return the head.

        Raises:
            BatchFault: the store reported an error; the donor is as it was before.
        """
        head = self.head_of(manifest)
        head.check()
        parts = self._parts(head)
        padded = np.frombuffer(manifest.canonical + bytes(3), np.uint8)
        self._kv.store(
            parts.keys, padded, sizes=parts.sizes, offsets=parts.offsets, copy=True
        ).raise_for_status()
        key = self._keyspace.donor_key(head.donor, head.rank)
        self._kv.store([key], [head.canonical]).raise_for_status()
        return head

    def head_of(self, manifest: Manifest) -> Head:
        """Return the head that a manifest has here."""
        text = manifest.canonical
        return Head(
            donor=manifest.donor,
            rank=manifest.layout.parallel.tp_rank,
            generation=manifest.generation,
            manifest=hashlib.blake2b(text, digest_size=32).hexdigest(),
            bytes=len(text),
            part_bytes=self._part_bytes,
        )

    def erase(self, donor: str, rank: int) -> Head | None:
        """Delete a head, then its manifest; return the head.

        A head that nobody can read goes, too; that of another donor stays.

        Raises:
            DocumentFault: under the donor's key is another donor's head.
        """
        key = self._keyspace.donor_key(donor, rank)
        try:
            head = self.head(donor, rank)
        except UnreadableHeadFault:
            self._kv.delete([key]).raise_for_status()
            return None
        if head is not None:
            self._kv.delete([key]).raise_for_status()
            self.forget(head)
        return head

    def forget(self, head: Head) -> None:
        """Delete the manifest that a head named which is no more."""
        deletion.delete(self._kv, self._parts(head).keys)

    def _parts(self, head: Head) -> Parts:
        """Return the values of a manifest, which is kept as a block is."""
        key = self._keyspace.manifest_digest(bytes.fromhex(head.manifest))
        digests = np.frombuffer(key, np.uint8).reshape(1, -1)
        return split(wanted_blocks(digests, head.bytes, part_bytes=head.part_bytes))


def _why(name: str, refusal: str) -> str:
    return f"{name}, {refusal}" if name in (Outcome.ERROR.name, BlockState.FAILED.name) else name


def _manifest(head: Head, state: BlockState, text: bytes, refusal: str) -> Manifest | RuntimeFault:
    """Return the manifest that a head names, from its bytes, or why they are none."""
    if state is BlockState.MISSING:
        return DonorMissingFault(
            f"donor {head.donor!r}: its manifest {head.manifest} is not there any more"
        )
    if state is not BlockState.LANDED:
        return RuntimeFault(
            f"donor {head.donor!r}: its manifest was not read: {_why(state.name, refusal)}"
        )
    seen = hashlib.blake2b(text, digest_size=32).hexdigest()
    if seen != head.manifest:
        return DocumentFault(
            f"donor {head.donor!r}: its manifest has digest {seen}, and its head says"
            f" {head.manifest}"
        )
    try:
        manifest = Manifest.from_json(text)
    except DocumentFault as fault:
        return fault
    if not head.leads_to(manifest):
        of = _of(manifest)
        return DocumentFault(
            f"donor {head.donor!r} of rank {head.rank}, generation {head.generation}: its head"
            f" leads to the manifest of donor {of[0]!r} of rank {of[1]}, generation {of[2]}"
        )
    return manifest
