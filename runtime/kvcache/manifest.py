"""The manifest of a donor: what its blocks are, for whoever decides whether they can be used.

It lies beside the blocks, as a value of its own. Everything of a model is here and nothing of
it in a key or a command. Blocks come in the order of their tokens; those of the same tokens in
the order of `layout.shards`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import attrgetter
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from xiokv.runtime.kvcache.checksums import Algorithm
from xiokv.runtime.kvcache.documents import (
    Count,
    Document,
    Hex16,
    Hex32,
    HexDigest,
    Positive,
    Range,
    Text,
    hex_problems,
    whole,
)

Finite = Annotated[float, Meta(gt=0, le=1e15)]


class Model(Struct, frozen=True, kw_only=True):
    """What computed the blocks.

    Attributes:
        id: name and revision.
        tokenizer_hash: of the tokenizer's files, as the backend defines it.
        chat_template_hash: of the chat template, or empty.
    """

    id: Text
    tokenizer_hash: Text
    chat_template_hash: str = ""


class Rope(Struct, frozen=True, kw_only=True):
    """Rotary position embedding.

    Attributes:
        base: theta.
        scaling: parameters by name, such as ``{"type": "yarn", "factor": 4}``.
    """

    base: Positive | Finite
    scaling: dict[str, str | int | float | bool] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        force = msgspec.structs.force_setattr
        force(self, "base", whole(self.base))
        scaling = {
            name: whole(value) if isinstance(value, float) else value
            for name, value in self.scaling.items()
        }
        force(self, "scaling", scaling)


class Heads(Struct, frozen=True, kw_only=True):
    """How keys and values are laid out across heads.

    Attributes:
        kind: ``mha``, ``gqa``, ``mqa``, ``mla``, ``hybrid`` or a name of the backend's.
        kv_heads: heads of keys and values of the whole model; 1 for a latent.
        head_dim: elements of one head, or of the latent.
    """

    kind: Text
    kv_heads: Positive
    head_dim: Positive


class Parallel(Struct, frozen=True, kw_only=True):
    """Which part of the heads these blocks hold.

    Attributes:
        tp_rank: tensor-parallel rank.
        tp_size: number of ranks.
        shard: how heads are spread: ``contiguous``, ``replicated`` or a name of the backend's.
    """

    tp_rank: Count = 0
    tp_size: Positive = 1
    shard: Text = "contiguous"


class Shard(Struct, frozen=True, kw_only=True):
    """One of the blocks that the same tokens have.

    Attributes:
        layers: of which layers.
        tensors: keys, values, both, or the state of a recurrent layer.
        bytes: size of the block; all of a shard have the same.
    """

    layers: Range
    tensors: Literal["k", "v", "kv", "state"] = "kv"
    bytes: Positive


class KvLayout(Struct, frozen=True, kw_only=True):
    """How the bytes of blocks are to be read.

    Attributes:
        model: what computed them.
        rope: rotary position embedding, or None.
        dtype: of an element: ``bfloat16``, ``float8_e4m3fn``.
        order: of dimensions in a block: ``layer,kv,token,head,dim`` or a name of the backend's.
        block_tokens: tokens of a block.
        heads: heads of keys and values.
        parallel: which of them are here.
        shards: the blocks of the same tokens, in their order.
    """

    model: Model
    rope: Rope | None = None
    dtype: Text
    order: Text
    block_tokens: Positive
    heads: Heads
    parallel: Parallel = Parallel()
    shards: Annotated[tuple[Shard, ...], Meta(min_length=1, max_length=65536)]

    @property
    def identity(self) -> KvLayout:
        """All but the list of shards, each of which is identified with this."""
        return msgspec.structs.replace(self, shards=())


class Block(Struct, frozen=True, kw_only=True):
    """A block that is stored.

    Attributes:
        key: under which it is stored: the first 16 bytes of `digest`.
        digest: of tenant, policy, layout id and content digest.
        content: digest of the tokens, and of those before them.
        checksum: of the payload.
        bytes: size of the payload.
    """

    key: Hex16
    digest: Hex32
    content: HexDigest
    checksum: Hex16
    bytes: Positive


class Handle(Struct, frozen=True, kw_only=True):
    """Where blocks are stored.

    Attributes:
        kind: ``nvme-kv``, ``rados`` or another.
        address: as that kind names it.
    """

    kind: Text
    address: Text


class Manifest(Document, frozen=True, kw_only=True):
    """What a donor's blocks are.

    Attributes:
        donor: name of the donor, which a planner finds.
        tenant: whose it is.
        policy: namespace within the tenant's.
        generation: of the cache; a donor that is published again has a higher one.
        layout: how the blocks are to be read.
        source: positions of the tokens, whole blocks.
        target: positions that the donor was made for, where they are others.
        checksum: how payloads are checked.
        part_bytes: values hold this much of a block at most; 0: each block is one value.
        blocks: the blocks, by tokens and then by shards.
        storage: where they are.
    """

    kind: ClassVar[str] = "xiokv-manifest"
    version: ClassVar[tuple[int, int]] = (1, 0)

    donor: Text
    tenant: Text
    policy: str = ""
    generation: Count = 0
    layout: KvLayout
    source: Range
    target: Range | None = None
    checksum: Algorithm = "xxh3-128"
    part_bytes: Count = 0
    blocks: tuple[Block, ...]
    storage: tuple[Handle, ...] = ()

    def problems(self) -> Iterable[str]:
        """Yield what is wrong, a line each."""
        yield from _range_problems(self)
        yield from _layout_problems(self.layout)
        shards = self.layout.shards
        rows = len(self.source) // self.layout.block_tokens
        if len(self.blocks) != rows * len(shards):
            yield (
                f"blocks: {len(self.blocks)} are there; source {self.source} of"
                f" {self.layout.block_tokens} tokens a block and {len(shards)} shards have"
                f" {rows * len(shards)}"
            )
        elif self.part_bytes % 4:
            yield f"part_bytes: {self.part_bytes} is no multiple of 4"
        else:
            yield from self._hex_problems()
            yield from self._block_problems()

    def _hex_problems(self) -> Iterator[str]:
        for field in ("key", "digest", "content", "checksum"):
            texts = list(map(attrgetter(field), self.blocks))
            yield from hex_problems(texts, (f"blocks[{{}}].{field}").format)

    def _block_problems(self) -> Iterator[str]:
        shards = self.layout.shards
        for index, block in enumerate(self.blocks):
            shard = shards[index % len(shards)]
            if block.key != block.digest[: len(block.key)]:
                yield f"blocks[{index}].key: {block.key} does not begin the digest {block.digest}"
            if block.bytes != shard.bytes:
                yield (
                    f"blocks[{index}].bytes: {block.bytes}; its shard"
                    f" {index % len(shards)} has {shard.bytes}"
                )


class BlockTable:
    """The blocks of a manifest as arrays, in its order.

    Attributes:
        digests: (n, 32).
        checksums: (n, 16).
        sizes: bytes of each.
        shards: blocks of the same tokens.
    """

    def __init__(self, manifest: Manifest) -> None:
        blocks = manifest.blocks
        self.digests = _rows((block.digest for block in blocks), 32)
        self.checksums = _rows((block.checksum for block in blocks), 16)
        self.sizes = np.fromiter((block.bytes for block in blocks), np.int64, len(blocks))
        self.shards = len(manifest.layout.shards)

    @cached_property
    def keys(self) -> npt.NDArray[np.uint8]:
        """(n, 16) keys."""
        return np.ascontiguousarray(self.digests[:, :16])


def _rows(texts: Iterable[str], size: int) -> npt.NDArray[np.uint8]:
    return np.frombuffer(bytes.fromhex("".join(texts)), np.uint8).reshape(-1, size)


def _range_problems(manifest: Manifest) -> Iterator[str]:
    source, target = manifest.source, manifest.target
    tokens = manifest.layout.block_tokens
    if source.end < source.start:
        yield f"source: {source} ends before it begins"
    elif len(source) % tokens or source.start % tokens:
        yield f"source: {source} is not made of whole blocks of {tokens} tokens"
    if target is not None and target.end - target.start != source.end - source.start:
        yield f"target: {target} is not as long as source {source}"


def _layout_problems(layout: KvLayout) -> Iterator[str]:
    parallel = layout.parallel
    if parallel.tp_rank >= parallel.tp_size:
        yield (
            f"layout.parallel.tp_rank: {parallel.tp_rank}; allowed are 0 to {parallel.tp_size - 1}"
        )
    seen: dict[tuple[str, int], int] = {}
    for index, shard in enumerate(layout.shards):
        name = f"layout.shards[{index}]"
        if shard.layers.end <= shard.layers.start:
            yield f"{name}.layers: {shard.layers} holds no layer"
        kinds = ("k", "v") if shard.tensors == "kv" else (shard.tensors,)
        for kind in kinds:
            for layer in range(shard.layers.start, min(shard.layers.end, 1 << 16)):
                other = seen.setdefault((kind, layer), index)
                if other != index:
                    yield f"{name}: {kind} of layer {layer} is in shard {other}, too"
                    return
