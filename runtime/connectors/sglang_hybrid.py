"""SGLang's calls for models with several pools: which prefixes can be restored from all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xiokv.runtime.connectors.blocks import Flags
from xiokv.runtime.connectors.sglang_pages import leading


@dataclass
class Found:
    """What SGLang's `PoolTransferResult` has, where that is not there.

    Attributes:
        kv_hit_pages: the longest prefix that all pools can restore.
        extra_pool_hit_pages: by pool, the longest that it can.
        restorable_prefix_pages: every prefix that all pools can restore.
    """

    kv_hit_pages: int
    extra_pool_hit_pages: dict[Any, int]
    restorable_prefix_pages: list[int] | None = field(default=None)


def found_class() -> type[Any]:
    """Return SGLang's class for results, or one that is like it."""
    try:
        from sglang.srt.mem_cache.hicache_storage import PoolTransferResult
    except Exception:  # whatever an import of a server's may fail by
        return Found
    found: type[Any] = PoolTransferResult
    return found


def policy_of(transfer: Any) -> str:
    """Return the name of a transfer's hit policy."""
    policy = transfer.hit_policy
    return str(getattr(policy, "value", policy))


def prefixes(transfer: Any, there: Flags) -> set[int]:
    """Return the prefixes, in pages, that a pool can restore.

    Args:
        transfer: SGLang's `PoolTransfer`.
        there: whether the pool has each page.

    Raises:
        ValueError: its hit policy is not known here.
    """
    policy = policy_of(transfer)
    if policy == "all_pages":
        return set(range(1, leading(there) + 1))
    if policy == "trailing_pages":
        window = max(1, len(transfer.keys or ()))
        return {end for end in range(1, len(there) + 1) if there[max(0, end - window) : end].all()}
    raise ValueError(f"pool {transfer.name}: hit policy {policy!r} is not known here")


def restorable(
    pages: int, transfers: Sequence[tuple[Any, Flags]], kv_pool: Any
) -> tuple[int, dict[Any, int], list[int]]:
    """Return what SGLang is told of a query, in the order of `Found`.

    Args:
        pages: leading pages that the pool of keys and values has.
        transfers: of the other pools, with whether each page is there.
        kv_pool: name of the pool of keys and values.
    """
    hits: dict[Any, int] = {kv_pool: pages} if pages else {}
    ends = set(range(1, pages + 1))
    for transfer, there in transfers:
        own = prefixes(transfer, there)
        if own:
            hits[transfer.name] = max(own)
        ends &= own
    return max(ends, default=0), hits, sorted(ends)
