"""Pages of SGLang's host pools: a pool and indices in, where the pieces of pages lie out.

A pool says for each page where its pieces are: one for a page-first latent cache, one for keys
and one for values of another, two a layer where layers come first. Each piece is a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xiokv.runtime.connectors.slots import HostSlots, slots_at
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.states import Ints

# What of a pool makes the bytes of its pages mean something else.
_FACTS = (
    "layout",
    "dtype",
    "page_size",
    "layer_num",
    "start_layer",
    "end_layer",
    "head_num",
    "head_dim",
    "kv_cache_dim",
    "size_per_token",
    "storage_format_tag",
)


@dataclass(frozen=True, slots=True)
class Pages(HostSlots):
    """Where the pieces of pages lie, page by page.

    Attributes:
        pieces: of one page.
    """

    pieces: int


def pages_of(pool: Any, indices: Any, count: int) -> Pages:
    """Return where pages lie.

    Args:
        pool: SGLang's `HostKVCache`.
        indices: of the tokens of the pages.
        count: of pages.

    Raises:
        ArgumentFault: the pool speaks of another number of pages.
    """
    addresses, sizes = (_flat(column) for column in pool.get_page_buffer_meta(indices))
    if not len(addresses) or len(addresses) != len(sizes) or len(addresses) % count:
        raise ArgumentFault(
            f"the host pool gives {len(addresses)} addresses and {len(sizes)} sizes for"
            f" {count} pages"
        )
    slots = slots_at(addresses, sizes, pool)
    return Pages(slots.memory, slots.offsets, sizes, len(addresses) // count)


def pieces_of(pool: Any) -> int:
    """Return the pieces of one page of a pool."""
    tokens = getattr(pool, "logical_page_size", None) or pool.page_size
    return pages_of(pool, np.zeros(tokens, np.int64), 1).pieces


def is_anchor(pool: Any) -> bool:
    """Tell whether a pool has indices alone, and its pages are those of other pools."""
    return getattr(pool, "kv_buffer", pool) is None


def pool_facts(pool: Any) -> dict[str, str]:
    """Return what of a pool is part of its pages' identity."""
    facts = {name: getattr(pool, name, None) for name in _FACTS}
    return {name: str(value) for name, value in facts.items() if value is not None}


def page_bytes(pages: Pages) -> int:
    """Return the bytes of all pieces."""
    return int(pages.sizes.sum())


def _flat(column: Iterable[Any]) -> Ints:
    """Return numbers that come one by one, or in lists of those of one page."""
    return np.fromiter(_each(column), np.int64)


def _each(column: Iterable[Any]) -> Iterator[int]:
    for item in column:
        if isinstance(item, Sequence):
            yield from item
        else:
            yield item
