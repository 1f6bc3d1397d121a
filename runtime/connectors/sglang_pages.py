"""Pages of SGLang as blocks: keys and memory in, a truth value a page out.

In one form a page is one block, as `set` gets it; in the other each piece of it in the host
pool is one, and it moves from and to where it lies. A page is there when all of it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from xiokv.runtime.connectors.blocks import Blocks, Flags
from xiokv.runtime.connectors.host_pool import Pages, pages_of, pieces_of, pool_facts
from xiokv.runtime.connectors.identity import content_of, piece_digests, server_layout
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.keyspace import Digests, Keyspace

SERVER = "sglang"
KV_POOL = "kv"

# Of a state that is spread over the ranks whatever the model's attention is.
_SPREAD = ("mamba",)


def rank_facts(config: Any, pool: str) -> dict[str, Any]:
    """Return whose pages a rank has: of which model, and which share of them.

    Ranks that keep the same latent have the same facts.

    Args:
        config: SGLang's `HiCacheStorageConfig`.
        pool: name of the pool.
    """
    spread = not config.is_mla_model or pool in _SPREAD
    facts: dict[str, Any] = {
        "model": config.model_name or "",
        "pool": pool,
        "mla": bool(config.is_mla_model),
        "tp": [config.tp_rank, config.tp_size] if spread else None,
        "pp": [config.pp_rank, config.pp_size],
        "page_first": bool(config.is_page_first_layout),
    }
    for name in ("attn_cp", "dcp"):
        if getattr(config, f"{name}_size", 1) > 1:
            facts[name] = [getattr(config, f"{name}_rank"), getattr(config, f"{name}_size")]
    if getattr(config, "dcp_size", 1) > 1:
        facts["logical_page_size"] = config.logical_page_size
        facts["tp_size"] = config.tp_size
    return facts


class PagePool:
    """The pages of one pool.

    Args:
        blocks: moves them.
        keyspace: whose they are.
        config: SGLang's `HiCacheStorageConfig`.
        name: of the pool.
        pool: SGLang's `HostKVCache`, or None where there is none yet.
    """

    def __init__(
        self, blocks: Blocks, keyspace: Keyspace, config: Any, name: str, pool: Any = None
    ) -> None:
        self._blocks = blocks
        self._keyspace = keyspace
        self._facts = rank_facts(config, name) | {"of": pool_facts(pool)}
        self._pool = pool
        self._layouts: dict[int, list[bytes]] = {}

    def have(self, keys: Sequence[str], in_pieces: bool) -> Flags:
        """Tell which pages are there.

        Args:
            keys: of the pages.
            in_pieces: whether it is the form of the host pool that is asked for.
        """
        pieces = self._pieces if in_pieces else 0
        return self._whole(self._blocks.have(self.digests(keys, pieces)), pieces)

    def load(self, keys: Sequence[str], indices: Any) -> tuple[Flags, Pages]:
        """Fetch pages into the host pool; tell which are there, and where they went."""
        pages = pages_of(self._registered, indices, len(keys))
        digests = self.digests(keys, pages.pieces)
        there = self._blocks.fetch(digests, pages)
        return self._whole(there, pages.pieces), pages

    def save(self, keys: Sequence[str], indices: Any) -> tuple[Flags, Pages]:
        """Store pages of the host pool; tell which can be fetched, and where they came from."""
        pages = pages_of(self._registered, indices, len(keys))
        digests = self.digests(keys, pages.pieces)
        kept = self._blocks.keep(digests, pages)
        return self._whole(kept, pages.pieces), pages

    def digests(self, keys: Sequence[str], pieces: int) -> Digests:
        """Return the digests of pages in pieces, page by page; 0: of pages in one."""
        layouts = self._layouts.setdefault(pieces, self._layouts_of(pieces))
        return piece_digests(self._keyspace, layouts, map(content_of, keys))

    @property
    def _registered(self) -> Any:
        if self._pool is None:
            raise ArgumentFault("no host pool was registered, so that pages have no place")
        return self._pool

    @cached_property
    def _pieces(self) -> int:
        return pieces_of(self._registered)

    def _layouts_of(self, pieces: int) -> list[bytes]:
        if not pieces:
            return [server_layout(SERVER, self._facts)]
        return [
            server_layout(SERVER, self._facts | {"piece": [piece, pieces]})
            for piece in range(pieces)
        ]

    @staticmethod
    def _whole(found: Flags, pieces: int) -> Flags:
        whole: Flags = np.logical_and.reduce(found.reshape(-1, max(pieces, 1)), axis=1)
        return whole


def leading(flags: Flags) -> int:
    """Return how many are true before the first that is not."""
    return int(np.argmin(flags)) if not flags.all() else len(flags)
