"""Donors on a namespace: a name in, its manifest out.

A donor has a small value, its head, under a key that its name makes. The head says under which
digest the manifest lies; it is the last thing that is written, so that a head never leads to
what is not there yet. Its single Store makes the switch from one generation to the next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from xiokv.runtime.abi import Outcome
from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.documents import Count, Document, DocumentFault, Hex32, Positive, Text
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.manifest import Manifest
from xiokv.runtime.kvcache.parts import Parts, split
from xiokv.runtime.kvcache.storage import DonorMissingFault, donor_missing
from xiokv.runtime.kvcache.wanted import wanted_blocks

_HEAD_MAX = 8192
_MANIFEST_MAX = 1 << 30
_PARTS_MAX = 1 << 20


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
        if self.bytes > _MANIFEST_MAX:
            yield f"bytes: {self.bytes}; a manifest has {_MANIFEST_MAX} at most"
        elif -(-self.bytes // self.part_bytes) > _PARTS_MAX:
            yield f"part_bytes: {self.part_bytes}; a manifest is {_PARTS_MAX} values at most"


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

    def head(self, donor: str, rank: int) -> Head | None:
        """Return a donor's head, or None where there is none.

        Raises:
            BatchFault: the store reported an error.
            DocumentFault: the head cannot be read here, or is another donor's.
        """
        key = self._keyspace.donor_key(donor, rank)
        memory = np.zeros(min(_HEAD_MAX, self._kv.queues.max_transfer), np.uint8)
        result = self._kv.retrieve([key], memory, sizes=len(memory), offsets=[0], copy=True)
        if result.status[0] == Outcome.MISSING:
            return None
        result.raise_for_status()
        head = Head.from_json(memory[: int(result.value_size[0])].tobytes())
        if (head.donor, head.rank) != (donor, rank):
            raise DocumentFault(
                f"donor {donor!r} of rank {rank}: under its key is the head of donor"
                f" {head.donor!r} of rank {head.rank}"
            )
        return head

    def manifest(self, head: Head) -> Manifest:
        """Return the manifest that a head names.

        Raises:
            DonorMissingFault: it is not there, or not whole.
            DocumentFault: it is not the one, or cannot be read here.
        """
        memory = np.zeros(head.bytes + 3, np.uint8)
        parts = self._parts(head)
        result = self._kv.retrieve(
            parts.keys, memory, sizes=parts.sizes, offsets=parts.offsets, copy=True
        )
        if (result.status == Outcome.MISSING).any():
            raise DonorMissingFault(
                f"donor {head.donor!r}: its manifest {head.manifest} is not there any more"
            )
        result.raise_for_status()
        text = memory[: head.bytes].tobytes()
        seen = hashlib.blake2b(text, digest_size=32).hexdigest()
        if seen != head.manifest:
            raise DocumentFault(
                f"donor {head.donor!r}: its manifest has digest {seen}, and its head says"
                f" {head.manifest}"
            )
        manifest = Manifest.from_json(text)
        of = (manifest.donor, manifest.layout.parallel.tp_rank, manifest.generation)
        if of != (head.donor, head.rank, head.generation):
            raise DocumentFault(
                f"donor {head.donor!r} of rank {head.rank}, generation {head.generation}: its head"
                f" leads to the manifest of donor {of[0]!r} of rank {of[1]}, generation {of[2]}"
            )
        return manifest

    def write(self, manifest: Manifest) -> None:
        """Store a manifest, then its head.

        Raises:
            BatchFault: the store reported an error; the donor is as it was before.
        """
        text = manifest.canonical
        head = Head(
            donor=manifest.donor,
            rank=manifest.layout.parallel.tp_rank,
            generation=manifest.generation,
            manifest=hashlib.blake2b(text, digest_size=32).hexdigest(),
            bytes=len(text),
            part_bytes=self._part_bytes,
        )
        head.check()
        parts = self._parts(head)
        padded = np.frombuffer(text + bytes(3), np.uint8)
        self._kv.store(
            parts.keys, padded, sizes=parts.sizes, offsets=parts.offsets, copy=True
        ).raise_for_status()
        key = self._keyspace.donor_key(head.donor, head.rank)
        self._kv.store([key], [head.canonical]).raise_for_status()

    def erase(self, donor: str, rank: int) -> Head | None:
        """Delete a head, then its manifest; return the head."""
        head = self.head(donor, rank)
        if head is not None:
            self._kv.delete([self._keyspace.donor_key(donor, rank)]).raise_for_status()
            self._kv.delete(self._parts(head).keys).raise_for_status()
        return head

    def found(self, donor: str, rank: int) -> Head:
        """Return a donor's head.

        Raises:
            DonorMissingFault: there is none.
        """
        head = self.head(donor, rank)
        if head is None:
            raise donor_missing(donor, rank)
        return head

    def _parts(self, head: Head) -> Parts:
        """Return the values of a manifest, which is kept as a block is."""
        key = self._keyspace.manifest_digest(bytes.fromhex(head.manifest))
        digests = np.frombuffer(key, np.uint8).reshape(1, -1)
        return split(wanted_blocks(digests, head.bytes, part_bytes=head.part_bytes))
