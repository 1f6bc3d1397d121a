"""Donors for tests: a layout, contents, and payloads of which every byte is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.keyspace import Keyspace, token_digests
from xiokv.runtime.kvcache.manifest import Heads, KvLayout, Manifest, Model, Parallel, Rope, Shard
from xiokv.runtime.kvcache.storage import NewDonor, Storage

BLOCK_TOKENS = 16
TENANT = Keyspace("acme", secret=b"of acme")


def layout(*sizes: int, tp_rank: int = 0, model: str = "a-model/1") -> KvLayout:
    """Return a layout with a shard of each size; each holds other layers."""
    shards = tuple(
        Shard(layers=Range(index, index + 1), bytes=size)
        for index, size in enumerate(sizes or (4096,))
    )
    return KvLayout(
        model=Model(id=model, tokenizer_hash="0f" * 16),
        rope=Rope(base=500000),
        dtype="bfloat16",
        order="layer,kv,token,head,dim",
        block_tokens=BLOCK_TOKENS,
        heads=Heads(kind="gqa", kv_heads=8, head_dim=128),
        parallel=Parallel(tp_rank=tp_rank, tp_size=2),
        shards=shards,
    )


def contents(rows: int, first: int = 0) -> list[bytes]:
    """Return content digests of `rows` blocks of tokens."""
    return token_digests(range(first, first + rows * BLOCK_TOKENS), BLOCK_TOKENS)


@dataclass
class Given:
    """A donor that was published, and the bytes of its blocks.

    Attributes:
        manifest: as published.
        blocks: payloads in the manifest's order.
    """

    manifest: Manifest
    blocks: list[npt.NDArray[np.uint8]]

    @property
    def name(self) -> str:
        return self.manifest.donor


def payloads(shape: KvLayout, rows: int, seed: int = 1) -> list[npt.NDArray[np.uint8]]:
    """Return random blocks, by tokens and then by shards."""
    random = np.random.default_rng(seed)
    sizes = [shard.bytes for shard in shape.shards] * rows
    return [random.integers(0, 256, size, np.uint8) for size in sizes]


def joined(blocks: list[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """Return blocks one after the other, each at a multiple of 4 bytes."""
    return np.concatenate([np.pad(block, (0, -len(block) % 4)) for block in blocks])


def publish(
    storage: Storage,
    name: str = "donor",
    rows: int = 8,
    shape: KvLayout | None = None,
    seed: int = 1,
    **offered: Any,
) -> Given:
    """Publish a donor."""
    shape = shape or layout()
    blocks = payloads(shape, rows, seed)
    offered.setdefault("contents", contents(rows, 1000 * seed))
    manifest = storage.publish(NewDonor(name, shape, **offered), joined(blocks))
    return Given(manifest, blocks)
