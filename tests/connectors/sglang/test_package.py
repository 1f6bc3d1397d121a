"""The same storage on SGLang's own classes: loader, abstract class, controller, host pools.

Tried with sglang 0.5.23, whose wheel is taken without its dependencies; PyTorch and whatever
else its modules import is a stand-in, and no server ran.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from queue import Queue
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.connectors import tensors
from tests.connectors.host_pools import HostPool
from tests.connectors.peers import SGLANG, NoWheel, importable, sources
from tests.connectors.sglang import storing
from tests.connectors.sglang.storing import Config

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sglang")]

KEYS, PAGES = storing.KEYS[:6], storing.PAGES[:6]
MEMORY = "sglang.srt.mem_cache"
REAL = (
    "sglang.srt.environ",
    "sglang.srt.managers.cache_controller",
    f"{MEMORY}.hicache_storage",
    f"{MEMORY}.storage",
    f"{MEMORY}.storage.backend_factory",
    f"{MEMORY}.pool_host.base",
    f"{MEMORY}.pool_host.mha",
    f"{MEMORY}.pool_host.mla",
    "sglang.srt.observability.metrics_collector",
)


@pytest.fixture(scope="module")
def sglang() -> Iterator[SimpleNamespace]:
    """Return SGLang's modules, by their last names."""
    from importlib import import_module

    import xiokv.runtime.connectors.sglang as connector

    try:
        root = sources(SGLANG)
    except NoWheel as reason:
        pytest.skip(f"no wheel of {reason}")
    with importable(root, REAL):
        import_module("torch").zeros = tensors.zeros
        yield SimpleNamespace(**{name.rpartition(".")[2]: import_module(name) for name in REAL})
        vars(connector).pop("XiokvHiCacheStorage", None)


@pytest.fixture
def make(sglang: Any, stand: Any) -> Iterator[Any]:
    """Return a function that lets SGLang's factory make a storage."""
    made = []

    def make(pool: Any, v1: bool = True, soon: bool = False, **config: Any) -> Any:
        extra = stand.options(
            timeout=0.5 if soon else 10,
            backend_name="xiokv",
            module_path="xiokv.runtime.connectors.sglang",
            class_name="XiokvHiCacheStorage",
            interface_v1=int(v1),
        )
        facts = vars(Config(extra, **config))
        storage_config = sglang.hicache_storage.HiCacheStorageConfig(**facts)
        factory = sglang.backend_factory.StorageBackendFactory
        storage = factory.create_backend("dynamic", storage_config, pool)
        storage.register_mem_pool_host(pool)
        storage.on_host_pools_registered()
        made.append(storage)
        return storage

    yield make
    for storage in made:
        storage.close()


def test_the_dynamic_loader_takes_the_class(sglang: Any, make: Any, pool: HostPool) -> None:
    storage = make(pool)
    assert isinstance(storage, sglang.hicache_storage.HiCacheStorage)
    assert storage.batch_set_v1(KEYS, pool.indices(PAGES)) == [True] * 6
    assert storage.batch_exists(KEYS) == 6


def test_no_abstract_method_is_left_and_parameters_are_the_bases(sglang: Any) -> None:
    from xiokv.runtime.connectors.sglang import XiokvHiCacheStorage

    base = sglang.hicache_storage.HiCacheStorage
    assert not XiokvHiCacheStorage.__abstractmethods__
    calls = [name for name in vars(base) if inspect.isfunction(vars(base)[name])]
    assert len(calls) > 15
    for name in calls:
        theirs = inspect.signature(getattr(base, name)).parameters
        ours = inspect.signature(getattr(XiokvHiCacheStorage, name)).parameters
        assert [(p.name, p.kind, p.default) for p in ours.values()] == [
            (p.name, p.kind, p.default) for p in theirs.values()
        ], name


def test_an_unknown_option_ends_the_attachment(sglang: Any, stand: Any) -> None:
    factory = sglang.backend_factory.StorageBackendFactory
    extra = stand.options(
        backend_name="x",
        module_path="xiokv.runtime.connectors.sglang",
        class_name="XiokvHiCacheStorage",
        tennant="x",
    )
    config = SimpleNamespace(extra_config=extra)
    with pytest.raises(ValueError, match="the nearest is 'tenant'"):
        factory.create_backend("dynamic", config, None)


# The controller's own code


class Operation(SimpleNamespace):
    """A prefetch or a backup."""

    def is_terminated(self) -> bool:
        return False


def controller(sglang: Any, storage: Any, pool: Any, v1: bool) -> Any:
    """Return SGLang's controller with a storage, and no thread, device or process group."""
    controllers = sglang.cache_controller
    made = controllers.HiCacheController.__new__(controllers.HiCacheController)
    made.storage_backend, made.page_size = storage, pool.page_size
    made.storage_host_pool = made.mem_pool_host = pool
    made.prefetch_sync_queue = Queue()
    made.page_get_func = made._page_get_zero_copy if v1 else made._generic_page_get
    made.page_set_func = made._page_set_zero_copy if v1 else made._generic_page_set
    return made


def operation(pool: HostPool, pages: list[int]) -> Operation:
    return Operation(
        request_id="r", hash_value=list(KEYS), host_indices=pool.indices(pages),
        prefix_keys=None, completed_tokens=0, pool_transfers=None, token_ids=[], last_hash=None,
    )  # fmt: skip


@pytest.mark.parametrize("layout", ["page_first", "page_head", "layer_first"])
@pytest.mark.parametrize("v1", [False, True])
def test_sglangs_controller_backs_up_finds_and_prefetches_pages(
    sglang: Any, make: Any, monkeypatch: pytest.MonkeyPatch, layout: str, v1: bool
) -> None:
    pool, out = HostPool(layout), HostPool(layout)
    pool.fill(1)
    storage = make(pool, v1)
    backup = operation(pool, PAGES)
    controller(sglang, storage, pool, v1)._page_backup(backup)
    assert backup.completed_tokens == 6 * pool.page_size
    monkeypatch.setattr(sglang.cache_controller, "get_storage_hash_str", lambda *a, **k: KEYS)
    storage.register_mem_pool_host(out)
    reader = controller(sglang, storage, out, v1)
    places = PAGES[::-1]
    prefetch = operation(out, places)
    assert reader._storage_hit_query(prefetch) == (KEYS, 6 * pool.page_size)
    assert reader._page_transfer(prefetch) == 6
    assert [out.page(at) for at in places] == [pool.page(at) for at in PAGES]


@pytest.mark.parametrize("v1", [False, True])
def test_sglangs_controller_stops_at_a_page_that_is_gone(
    sglang: Any, make: Any, pool: HostPool, stand: Any, v1: bool
) -> None:
    storage = make(pool, v1)
    stand.stored()
    page = operation(pool, PAGES)
    page.hash_value, page.host_indices = [KEYS[4]], pool.indices([PAGES[4]])
    controller(sglang, storage, pool, v1)._page_backup(page)
    gone = stand.stored()
    controller(sglang, storage, pool, v1)._page_backup(operation(pool, PAGES))
    stand.rig.faults.miss(gone)
    assert controller(sglang, storage, pool, v1)._page_transfer(operation(pool, PAGES)) == 4


@pytest.mark.parametrize("v1", [False, True])
def test_sglangs_controller_goes_on_when_the_storage_is_dead(
    sglang: Any, make: Any, pool: HostPool, stand: Any, v1: bool
) -> None:
    storage = make(pool, v1, soon=True)
    stand.rig.faults.hang()
    backup = operation(pool, PAGES)
    controller(sglang, storage, pool, v1)._page_backup(backup)
    assert backup.completed_tokens == 0
    assert controller(sglang, storage, pool, v1)._page_transfer(operation(pool, PAGES)) == 0


# The pools' own code


class MhaPool(HostPool):
    """A pool of keys and values that asks SGLang's own code where its pages are."""

    def __init__(self, sglang: Any, layout: str) -> None:
        super().__init__(layout)
        self._own = sglang.mha.MHATokenToKVPoolHost

    def get_page_buffer_meta(self, indices: Any) -> Any:
        return self._own.get_page_buffer_meta(self, indices)


class MlaPool(HostPool):
    """A pool of latents that asks SGLang's own code where its pages are."""

    dcp_size, kv_cache_dim = 1, HostPool.head_num * HostPool.head_dim

    def __init__(self, sglang: Any, layout: str) -> None:
        super().__init__(layout, latent=True)
        self._own = sglang.mla.MLATokenToKVPoolHost
        self.logical_page_size = self.page_size

    def get_page_buffer_meta(self, indices: Any) -> Any:
        return self._own.get_page_buffer_meta(self, indices)

    def _storage_page_index(self, index: int) -> int:
        return index


@pytest.mark.parametrize("kind", [MhaPool, MlaPool])
@pytest.mark.parametrize("layout", ["page_first", "page_first_direct", "layer_first"])
def test_pages_are_where_sglangs_pools_say(sglang: Any, make: Any, kind: Any, layout: str) -> None:
    pool, out = kind(sglang, layout), kind(sglang, layout)
    pool.fill(1)
    apart = HostPool.get_page_buffer_meta(pool, pool.indices(PAGES))
    assert sorted(pool.get_page_buffer_meta(pool.indices(PAGES))[0]) == sorted(apart[0])
    storage = make(pool, is_mla_model=kind is MlaPool)
    assert storage.batch_set_v1(KEYS, pool.indices(PAGES)) == [True] * 6
    storage.register_mem_pool_host(out)
    assert storage.batch_get_v1(KEYS, out.indices(PAGES[::-1])) == [True] * 6
    assert [out.page(at) for at in PAGES[::-1]] == [pool.page(at) for at in PAGES]


# Several pools


def transfer(sglang: Any, name: str, pool: Any, pages: list[int], keys: Any, policy: str) -> Any:
    own = sglang.hicache_storage
    return own.PoolTransfer(
        own.PoolName(name),
        host_indices=pool.indices(pages),
        keys=keys,
        hit_policy=own.PoolHitPolicy(policy),
    )


def test_pages_of_several_pools_come_back(sglang: Any, make: Any, pool: HostPool) -> None:
    other = HostPool("layer_first")
    other.fill(2)
    storage = make(pool)
    storage.register_mem_host_pool_v2(other, sglang.hicache_storage.PoolName("mamba"))
    state = transfer(sglang, "mamba", other, PAGES, KEYS, "all_pages")
    unknown = transfer(sglang, "swa", other, PAGES, KEYS, "all_pages")
    assert storage.batch_set_v2([state, unknown]) == {"mamba": [True] * 6, "swa": [False] * 6}
    before = [other.page(at) for at in PAGES]
    other.fill(3)
    assert storage.batch_get_v2([state]) == {"mamba": [True] * 6}
    assert [other.page(at) for at in PAGES] == before


# policy, keys of the transfer, pages of the pool that are there, what SGLang is told
QUERIES = {
    "all": ("all_pages", 6, [0, 1, 2, 3, 4, 5], 6, [1, 2, 3, 4, 5, 6]),
    "a gap": ("all_pages", 6, [0, 1, 3, 4, 5], 2, [1, 2]),
    "the last": ("trailing_pages", 1, [5], 6, [6]),
    "the last two": ("trailing_pages", 2, [1, 2, 4], 3, [3]),
    "none": ("all_pages", 6, [], 0, []),
    "a second form": ("block_groups", 1, [], 6, [1, 2, 3, 4, 5, 6]),
}


@pytest.mark.parametrize("what", QUERIES)
def test_the_prefix_is_what_all_pools_can_restore(
    sglang: Any, make: Any, pool: HostPool, what: str
) -> None:
    policy, count, there, hit, ends = QUERIES[what]
    other = HostPool()
    storage = make(pool)
    storage.register_mem_host_pool_v2(other, sglang.hicache_storage.PoolName("swa"))
    storage.batch_set_v1(KEYS, pool.indices(PAGES))
    keys = [KEYS[at] for at in there]
    if keys:
        storage.batch_set_v2(
            [transfer(sglang, "swa", other, [PAGES[at] for at in there], keys, policy)]
        )
    query = transfer(sglang, "swa", other, PAGES[:count], KEYS[:count], policy)
    result = storage.batch_exists_v2(KEYS, [query])
    assert type(result) is sglang.hicache_storage.PoolTransferResult
    assert (result.kv_hit_pages, result.restorable_prefix_pages) == (hit, ends)
    assert result.extra_pool_hit_pages.get(sglang.hicache_storage.PoolName.KV) == 6


def test_queries_of_several_pools_fail_without_raising(
    sglang: Any, make: Any, pool: HostPool, stand: Any
) -> None:
    storage = make(pool, soon=True)
    query = transfer(sglang, "swa", pool, PAGES, KEYS, "all_pages")
    assert storage.batch_exists_v2(KEYS, [query]).kv_hit_pages == 0
    stand.rig.faults.hang()
    assert storage.batch_exists_v2(KEYS, [query]).kv_hit_pages == 0
    assert storage.batch_get_v2([query]) == {"swa": [False] * 6}


def test_metrics_are_sglangs_where_it_has_them(sglang: Any, make: Any, pool: HostPool) -> None:
    storage = make(pool, enable_storage_metrics=True)
    storage.batch_set_v1(KEYS, pool.indices(PAGES))
    stats = storage.get_stats()
    assert type(stats) is sglang.metrics_collector.StorageMetrics
    assert stats.backup_pgs == [6]


def test_indices_may_be_tensors(make: Any, pool: HostPool) -> None:
    storage = make(pool)
    indices = tensors.Tensor(np.asarray(pool.indices(PAGES)), tensors.int64)
    assert storage.batch_set_v1(KEYS, indices) == [True] * 6
