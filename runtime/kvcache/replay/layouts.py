"""The layout of replayed blocks: of no real model, and the same for all donors."""

from __future__ import annotations

from functools import lru_cache

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.manifest import Heads, KvLayout, Model, Rope, Shard


@lru_cache(maxsize=64)
def layout_of(block_tokens: int, sizes: tuple[int, ...]) -> KvLayout:
    """Return a layout with a shard of each size, in bytes; each is of layers of its own."""
    return KvLayout(
        model=Model(id="xiokv-replay", tokenizer_hash="none"),
        rope=Rope(base=500000),
        dtype="uint8",
        order="stamps",
        block_tokens=block_tokens,
        heads=Heads(kind="gqa", kv_heads=8, head_dim=128),
        shards=tuple(
            Shard(layers=Range(index, index + 1), bytes=size) for index, size in enumerate(sizes)
        ),
    )
