"""SGLang's HiCache storage on a key-value namespace.

`XiokvHiCacheStorage` is made on SGLang's `HiCacheStorage` when it is first asked for, which is
what SGLang's loader of dynamic backends does; `Storage` has all of its methods and works
without SGLang. Pages are immutable: their keys are hashes of their tokens and of all before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from xiokv.runtime.connectors.attachment import Attachment
from xiokv.runtime.connectors.blocks import Blocks
from xiokv.runtime.connectors.guard import Guard
from xiokv.runtime.connectors.host_pool import Pages, is_anchor, page_bytes
from xiokv.runtime.connectors.options import read_options
from xiokv.runtime.connectors.raw import bytes_of
from xiokv.runtime.connectors.sglang_hybrid import found_class, policy_of, restorable
from xiokv.runtime.connectors.sglang_metrics import Meter, Metrics, metrics_class
from xiokv.runtime.connectors.sglang_pages import KV_POOL, PagePool, leading
from xiokv.runtime.connectors.slots import HostSlots
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.wanted import one_after_the_other

_T = TypeVar("_T")

#: Names in the configuration that are SGLang's own.
SGLANG_OPTIONS = (
    "backend_name",
    "module_path",
    "class_name",
    "interface_v1",
    "prefetch_threshold",
    "prefetch_timeout_base",
    "prefetch_timeout_per_ki_token",
    "hicache_storage_pass_prefix_keys",
    "tp_lcm_size",
)


class Storage:
    """Pages of one rank of a server.

    No method raises: a page that could not be moved is False, or None where pages are
    returned, and what happened is logged once a kind.

    Args:
        storage_config: SGLang's `HiCacheStorageConfig`; its extra_config has the `Options`.
        kwargs: what SGLang adds; nothing of it is used.

    Raises:
        ArgumentFault: an option is unknown, missing or not allowed.
        RuntimeFault: the controller cannot be reached.
    """

    def __init__(self, storage_config: Any, kwargs: Mapping[str, Any] | None = None) -> None:
        extra = storage_config.extra_config or {}
        options = read_options(extra, SGLANG_OPTIONS)
        self._config = storage_config
        self._in_pieces = bool(extra.get("interface_v1", 0))
        # Its pages lie on the host, whatever computes them.
        self._attachment = Attachment(options, "host")
        self._guard = Guard("the SGLang connector")
        self._blocks = Blocks(self._attachment, self._guard)
        self._meter = Meter()
        self.mem_pool_host: Any = None
        self.registered_pools: dict[Any, Any] = {}
        self._pools: dict[str, PagePool] = {}
        self._kv = self._page_pool(KV_POOL, None)

    @property
    def failures(self) -> dict[str, int]:
        """How often each kind of failure was met."""
        return self._guard.counts

    # Pools

    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        """Take the pool whose pages the calls without a pool's name are about."""
        self.mem_pool_host = mem_pool_host
        self._kv = self._guarded(
            "register", lambda: self._page_pool(KV_POOL, mem_pool_host), self._kv
        )

    def register_mem_host_pool_v2(self, host_pool: Any, host_pool_name: Any) -> None:
        """Take a pool of a model with several."""
        self.registered_pools[host_pool_name] = host_pool

        def register() -> None:
            name = _name(host_pool_name)
            self._pools[name] = self._page_pool(name, host_pool)

        self._guarded("register", register, None)

    # Pages in memory of their own

    def get(self, key: str, target_location: Any = None, target_sizes: Any = None) -> Any:
        """Fill a page's memory and return it, or None where the page is not there."""
        sizes = None if target_sizes is None else [target_sizes]
        return self.batch_get([key], [target_location], sizes)[0]

    def batch_get(
        self, keys: Sequence[str], target_locations: Any = None, target_sizes: Any = None
    ) -> list[Any]:
        """Fill the memory of pages; return it for each that is there, and None for others."""

        def run() -> list[Any]:
            outs = _memories(keys, target_locations, target_sizes)
            sizes = np.array([out.size for out in outs], np.int64)
            offsets = one_after_the_other(sizes)
            landing = np.zeros(int((offsets + sizes).max(initial=0)), np.uint8)
            begun = time.monotonic()
            there = self._blocks.fetch(
                self._kv.digests(keys, 0), HostSlots(landing, offsets, sizes)
            )
            self._note("prefetch", there.sum(), sizes[there].sum(), begun)
            for index in np.flatnonzero(there).tolist():
                begin = offsets[index]
                outs[index][:] = landing[begin : begin + sizes[index]]
            return [at if ok else None for at, ok in zip(target_locations, there, strict=True)]

        return self._guarded("get", run, [None] * _count(keys))

    def set(
        self, key: str, value: Any = None, target_location: Any = None, target_sizes: Any = None
    ) -> bool:
        """Store a page unless it is there; tell whether it can be fetched."""
        values = None if value is None else [value]
        locations = None if target_location is None else [target_location]
        sizes = None if target_sizes is None else [target_sizes]
        return self.batch_set([key], values, locations, sizes)

    def batch_set(
        self,
        keys: Sequence[str],
        values: Any = None,
        target_locations: Any = None,
        target_sizes: Any = None,
    ) -> bool:
        """Store pages that are not there; tell whether all of them can be fetched."""

        def run() -> bool:
            given = target_locations if values is None else values
            pages = _memories(keys, given, target_sizes)
            sizes = np.array([page.size for page in pages], np.int64)
            offsets = one_after_the_other(sizes)
            joined = np.zeros(int((offsets + sizes).max(initial=0)), np.uint8)
            for page, begin in zip(pages, offsets.tolist(), strict=True):
                joined[begin : begin + page.size] = page
            begun = time.monotonic()
            kept = self._blocks.keep(self._kv.digests(keys, 0), HostSlots(joined, offsets, sizes))
            self._note("backup", kept.sum(), sizes[kept].sum(), begun)
            return bool(kept.all())

        return self._guarded("set", run, False)

    # Pages in the host pool

    def batch_get_v1(
        self, keys: Sequence[str], host_indices: Any, extra_info: Any = None
    ) -> list[bool]:
        """Fetch pages into the host pool; tell for each whether it is there."""
        return self._moved("prefetch", self._kv, keys, host_indices)

    def batch_set_v1(
        self, keys: Sequence[str], host_indices: Any, extra_info: Any = None
    ) -> list[bool]:
        """Store pages of the host pool; tell for each whether it can be fetched."""
        return self._moved("backup", self._kv, keys, host_indices)

    def batch_get_v2(
        self, transfers: Sequence[Any], extra_info: Any = None
    ) -> dict[Any, list[bool]]:
        """Fetch pages into several pools: a list of truth values a pool."""
        return self._all_moved("prefetch", transfers)

    def batch_set_v2(
        self, transfers: Sequence[Any], extra_info: Any = None
    ) -> dict[Any, list[bool]]:
        """Store pages of several pools: a list of truth values a pool."""
        return self._all_moved("backup", transfers)

    # What is there

    def exists(self, key: str) -> bool:
        """Tell whether a page is there, in the form that the configuration asks for."""
        return self.batch_exists([key]) == 1

    def batch_exists(self, keys: Sequence[str], extra_info: Any = None) -> int:
        """Return how many pages are there before the first that is not."""
        return self._guarded("exists", lambda: self._leading(keys), 0)

    def batch_exists_v2(
        self,
        keys: Sequence[str],
        pool_transfers: Sequence[Any] | None = None,
        extra_info: Any = None,
    ) -> Any:
        """Return which prefixes all pools can restore: SGLang's `PoolTransferResult`."""
        kind = found_class()

        def run() -> Any:
            pages = len(keys) if is_anchor(self.mem_pool_host) else self._leading(keys)
            # Block groups are a second form of the same pages, and never gate a hit.
            gating = [t for t in pool_transfers or () if policy_of(t) != "block_groups"]
            there = [(t, self._pool(t.name).have(keys[:pages], True)) for t in gating if pages]
            return kind(*restorable(pages, there, KV_POOL))

        return self._guarded("exists", run, kind(0, {}, []))

    def clear(self) -> bool:
        """Delete all that is in the namespace, where the option `clear` allows it."""
        return self._blocks.clear()

    def get_stats(self) -> Any:
        """Return how fast pages moved since the last time: SGLang's `StorageMetrics`."""
        kind = metrics_class() if self._config.enable_storage_metrics else Metrics
        return self._guarded("stats", lambda: self._meter.taken(kind), Metrics())

    def close(self) -> None:
        """Delete the queues."""
        self._guarded("close", self._attachment.close, None)

    def _moved(self, what: str, pool: PagePool, keys: Sequence[str], indices: Any) -> list[bool]:
        def run() -> list[bool]:
            if not len(keys):
                return []
            begun = time.monotonic()
            pages: Pages
            done, pages = (pool.load if what == "prefetch" else pool.save)(keys, indices)
            moved = int(done.sum())
            self._note(what, moved, page_bytes(pages) * moved // len(keys), begun)
            return [bool(ok) for ok in done]

        return self._guarded(what, run, [False] * _count(keys))

    def _all_moved(self, what: str, transfers: Sequence[Any]) -> dict[Any, list[bool]]:
        def run() -> dict[Any, list[bool]]:
            return {t.name: self._moved_of(what, t) for t in transfers}

        return self._guarded(what, run, {})

    def _moved_of(self, what: str, transfer: Any) -> list[bool]:
        keys = transfer.keys or []
        failed = [False] * _count(keys)
        pool = self._guarded(what, lambda: self._pool(transfer.name), None)
        return self._moved(what, pool, keys, transfer.host_indices) if pool else failed

    def _leading(self, keys: Sequence[str]) -> int:
        return leading(self._kv.have(keys, self._in_pieces)) if len(keys) else 0

    def _pool(self, name: Any) -> PagePool:
        pool = self._pools.get(_name(name))
        if pool is None:
            raise ArgumentFault(f"pool {_name(name)!r} was not registered")
        return pool

    def _page_pool(self, name: str, pool: Any) -> PagePool:
        keyspace = self._attachment.keyspace
        return PagePool(self._blocks, keyspace, self._config, name, pool)

    def _note(self, what: str, pages: Any, size: Any, begun: float) -> None:
        self._meter.note(what, int(pages), int(size), time.monotonic() - begun)

    def _guarded(self, what: str, operation: Callable[[], _T], failed: _T) -> _T:
        return self._guard.run(what, operation, failed)


def _memories(keys: Sequence[str], given: Any, sizes: Any) -> list[Any]:
    """Return the bytes of one memory a key."""
    if given is None or len(given) != len(keys):
        raise ArgumentFault(f"{_count(given)} pages of memory for {len(keys)} keys; give one a key")
    wanted = [None] * len(keys) if sizes is None else list(sizes)
    return [bytes_of("page", one, size) for one, size in zip(given, wanted, strict=True)]


def _count(given: Any) -> int:
    """Return how many there are, whatever was given."""
    try:
        return len(given)
    except TypeError:
        return 0


def _name(pool: Any) -> str:
    return str(getattr(pool, "value", pool))


def __getattr__(name: str) -> Any:
    """Make the class for SGLang's loader when it is asked for."""
    if name != "XiokvHiCacheStorage":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sglang.srt.mem_cache.hicache_storage import HiCacheStorage

    made = type(
        name, (Storage, HiCacheStorage), {"__doc__": Storage.__doc__, "__module__": __name__}
    )
    globals()[name] = made
    return made
