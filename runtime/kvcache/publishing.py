"""What is offered, turned into digests and a manifest; and what is found, compared with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.checksums import Algorithm, Checksums
from xiokv.runtime.kvcache.documents import DocumentFault, Range
from xiokv.runtime.kvcache.keyspace import DIGEST_SIZE, KEY_SIZE, Digests, Keyspace, layout_id
from xiokv.runtime.kvcache.manifest import Block, Handle, Manifest
from xiokv.runtime.kvcache.states import Ints, PutState, States
from xiokv.runtime.kvcache.storage import NewDonor, PublishFault
from xiokv.runtime.kvcache.wanted import one_after_the_other
from xiokv.runtime.spans import span_of

_ADVICE = {
    PutState.CONFLICT: "the store has other bytes for this content, or the same in values of"
    " another size (part_bytes); publish with repair=True where they are what a writer left that"
    " was interrupted, or attach with the same limits",
    PutState.COLLISION: "another content has the same key: another tenant, policy or secret gives"
    " other keys",
    PutState.FAILED: "the store reported an error, or nothing in time; look at the controller, and"
    " publish again",
}


def check_new_donor(keyspace: Keyspace, new: NewDonor) -> None:
    """Refuse what could not be read back, before anything of it is stored.

    Raises:
        DocumentFault: a field is wrong; the message names it.
    """
    if not new.contents:
        raise DocumentFault("contents: none are there; a donor has one block of tokens or more")
    start, target = new.start, new.target_start
    draft = Manifest(
        donor=new.donor,
        tenant=keyspace.tenant,
        policy=keyspace.policy,
        generation=new.generation,
        layout=new.layout,
        source=Range(start, start),
        target=None if target is None else Range(target, target),
        blocks=(),
    )
    Manifest.from_json(draft.canonical)


def check_payloads(payloads: Any, sizes: Ints) -> None:
    """Refuse payloads that are not as long as the blocks are.

    Raises:
        ArgumentFault: they are longer or shorter, as an array of another dtype is.
    """
    offsets = one_after_the_other(sizes)
    end = int(offsets[-1] + sizes[-1])
    there = span_of("payloads", payloads).size
    if not end <= there <= end + -end % 4:
        raise ArgumentFault(
            f"payloads have {there} bytes; the blocks have {end}, each at the next multiple of 4"
        )


def refuse_unstored(new: NewDonor, states: States, refusal: str = "") -> None:
    """Refuse to publish a donor of which blocks are not stored.

    Args:
        new: the donor.
        states: a `PutState` a block.
        refusal: what the controller said of the first that failed.

    Raises:
        PublishFault: some are not.
    """
    failed = np.flatnonzero(states > PutState.SHARED)
    if failed.size:
        first = PutState(states[failed[0]])
        why = refusal if first is PutState.FAILED and refusal else _ADVICE[first]
        raise PublishFault(
            f"donor {new.donor!r} was not published: {failed.size} of {len(states)} blocks"
            f" are not stored; block {failed[0]}: {first.name}, {why}",
            states,
        )


def digests_of(keyspace: Keyspace, new: NewDonor) -> Digests:
    """Return the digest of each block, by tokens and then by shards."""
    shards = new.layout.shards
    found = np.empty((len(new.contents), len(shards), DIGEST_SIZE), np.uint8)
    for index, shard in enumerate(shards):
        found[:, index] = keyspace.digests(layout_id(new.layout, shard), new.contents)
    digests = found.reshape(-1, DIGEST_SIZE)
    keys = {digest[:KEY_SIZE].tobytes() for digest in digests}
    if len(keys) != len(digests):
        raise ArgumentFault(
            f"contents: {len(digests)} blocks have {len(keys)} different keys; a digest covers the"
            " tokens before its block, too, so that no two are the same"
        )
    return digests


def sizes_of(new: NewDonor) -> Ints:
    """Return the size of each block."""
    return np.tile([shard.bytes for shard in new.layout.shards], len(new.contents))


def check_digests(keyspace: Keyspace, manifest: Manifest) -> None:
    """Refuse a manifest of this keyspace whose digests are not those of its contents.

    Raises:
        DocumentFault: a digest is another; the message names the first.
    """
    if (manifest.tenant, manifest.policy) != (keyspace.tenant, keyspace.policy):
        return  # whoever offers it says so
    shards = manifest.layout.shards
    for index, shard in enumerate(shards):
        blocks = manifest.blocks[index :: len(shards)]
        contents = [bytes.fromhex(block.content) for block in blocks]
        expected = keyspace.digests(layout_id(manifest.layout, shard), contents)
        for row, (block, digest) in enumerate(zip(blocks, expected, strict=True)):
            if block.digest != digest.tobytes().hex():
                raise DocumentFault(
                    f"{manifest.kind}: blocks[{row * len(shards) + index}].digest:"
                    f" {block.digest} is not that of its content in this layout"
                )


def manifest_of(
    keyspace: Keyspace,
    new: NewDonor,
    digests: Digests,
    checksums: Checksums,
    *,
    algorithm: Algorithm,
    part_bytes: int,
    storage: tuple[Handle, ...] = (),
) -> Manifest:
    """Return the manifest of what was stored.

    Raises:
        DocumentFault: what was offered does not fit together.
    """
    sizes = sizes_of(new)
    contents = np.repeat([content.hex() for content in new.contents], len(new.layout.shards))
    blocks = tuple(
        Block(key=digest[: 2 * KEY_SIZE], digest=digest, content=content, checksum=sum_, bytes=size)
        for digest, content, sum_, size in zip(
            (digest.tobytes().hex() for digest in digests),
            contents.tolist(),
            (checksum.tobytes().hex() for checksum in checksums),
            sizes.tolist(),
            strict=True,
        )
    )
    tokens = len(new.contents) * new.layout.block_tokens
    target = new.target_start
    manifest = Manifest(
        donor=new.donor,
        tenant=keyspace.tenant,
        policy=keyspace.policy,
        generation=new.generation,
        layout=new.layout,
        source=Range(new.start, new.start + tokens),
        target=None if target is None else Range(target, target + tokens),
        checksum=algorithm,
        part_bytes=part_bytes if (sizes > part_bytes).any() else 0,
        blocks=blocks,
        storage=storage,
    )
    return manifest.check()
