"""The calls of SGLang's storage: pages that come back, and what is said of those that do not."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tests.connectors.host_pools import HostPool
from tests.connectors.tensors import Tensor, float16
from xiokv.runtime import ArgumentFault
from xiokv.runtime.connectors.sglang import Storage

KEYS = [hashlib.sha256(bytes([number])).hexdigest() for number in range(8)]
PAGES = [9, 2, 14, 3, 0, 11, 6, 5]
# Where commands are meant to time out.
SOON = {"timeout": 0.5}
LAYOUTS = ("page_first", "page_first_direct", "page_head", "layer_first")


@dataclass
class Config:
    """What SGLang's `HiCacheStorageConfig` has."""

    extra_config: dict[str, Any]
    tp_rank: int = 0
    tp_size: int = 2
    pp_rank: int = 0
    pp_size: int = 1
    attn_cp_rank: int = 0
    attn_cp_size: int = 1
    is_mla_model: bool = False
    enable_storage_metrics: bool = False
    is_page_first_layout: bool = True
    model_name: str | None = "model"


Make = Callable[..., Storage]


@pytest.fixture
def make(stand: Any) -> Iterator[Make]:
    """Return a function that makes a storage, with a pool registered."""
    made: list[Storage] = []

    def make(pool: Any = None, options: Any = None, v1: bool = True, **config: Any) -> Storage:
        extra = stand.options(interface_v1=int(v1), **(options or {}))
        storage = Storage(Config(extra, **config), {})
        storage.register_mem_pool_host(HostPool() if pool is None else pool)
        made.append(storage)
        return storage

    yield make
    for storage in made:
        storage.close()


@pytest.fixture
def pool() -> HostPool:
    """Return a pool of known pages."""
    pool = HostPool()
    pool.fill(1)
    return pool


def landing(like: HostPool) -> HostPool:
    return HostPool(like.layout, latent=like.latent, dtype=like.dtype)


def pages_of(pool: HostPool, keys: list[str]) -> list[Tensor]:
    return [pool.get_data_page(PAGES[KEYS.index(key)] * pool.page_size) for key in keys]


# Pages come back


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("latent", [False, True])
def test_pages_of_every_layout_come_back_to_other_places(
    make: Make, layout: str, latent: bool
) -> None:
    pool = HostPool(layout, latent=latent)
    pool.fill(1)
    assert make(pool).batch_set_v1(KEYS, pool.indices(PAGES)) == [True] * 8
    out = landing(pool)
    places = PAGES[::-1]
    assert make(out).batch_get_v1(KEYS, out.indices(places)) == [True] * 8
    assert [out.page(at) for at in places] == [pool.page(at) for at in PAGES]


def test_pages_that_were_not_asked_for_stay_as_they_were(make: Make, pool: HostPool) -> None:
    storage = make(pool)
    storage.batch_set_v1(KEYS, pool.indices(PAGES))
    out = landing(pool)
    out.fill(2)
    before = out.page(1)
    make(out).batch_get_v1(KEYS, out.indices(PAGES))
    assert out.page(1) == before


def test_pages_in_memory_of_their_own_come_back(make: Make, pool: HostPool) -> None:
    storage = make(pool, v1=False)
    assert storage.batch_set(KEYS, pages_of(pool, KEYS)) is True
    outs = [pool.get_dummy_flat_data_page() for _ in KEYS]
    assert storage.batch_get(KEYS, outs) == outs
    assert [out.array.tobytes() for out in outs] == [pool.page(at) for at in PAGES]


def test_one_page_comes_back(make: Make, pool: HostPool) -> None:
    storage = make(pool, v1=False)
    assert storage.set(KEYS[0], pages_of(pool, KEYS)[0]) is True
    out = pool.get_dummy_flat_data_page()
    assert storage.get(KEYS[0], out) is out
    assert out.array.tobytes() == pool.page(PAGES[0])


def test_a_page_is_given_by_address_and_size_too(make: Make) -> None:
    storage = make(v1=False)
    page, out = np.arange(64, dtype=np.uint8), np.zeros(64, np.uint8)
    assert storage.set("k", None, page.ctypes.data, 64) is True
    assert storage.get("k", out.ctypes.data, 64) == out.ctypes.data
    assert out.tolist() == page.tolist()


def test_a_page_larger_than_a_value_is_split(make_stand: Any) -> None:
    stand = make_stand(value_max=128)
    pool = HostPool()
    pool.fill(3)
    storage = Storage(Config(stand.options(interface_v1=1)))
    storage.register_mem_pool_host(pool)
    assert storage.batch_set_v1(KEYS, pool.indices(PAGES)) == [True] * 8
    out = landing(pool)
    storage.register_mem_pool_host(out)
    assert storage.batch_get_v1(KEYS, out.indices(PAGES)) == [True] * 8
    assert out.page(PAGES[5]) == pool.page(PAGES[5])
    storage.close()


# What is there


@pytest.mark.parametrize("v1", [False, True])
def test_leading_pages_are_counted(make: Make, pool: HostPool, v1: bool) -> None:
    storage = make(pool, v1=v1)
    there = [0, 1, 2, 4]
    keys = [KEYS[at] for at in there]
    if v1:
        storage.batch_set_v1(keys, pool.indices([PAGES[at] for at in there]))
    else:
        storage.batch_set(keys, pages_of(pool, keys))
    assert storage.batch_exists(KEYS) == 3
    assert storage.batch_exists(KEYS[:2]) == 2
    assert storage.batch_exists(KEYS[3:]) == 0
    assert storage.batch_exists([]) == 0
    assert [storage.exists(key) for key in KEYS[:6]] == [True, True, True, False, True, False]


def test_a_page_is_there_only_with_all_its_pieces(make: Make, pool: HostPool, stand: Any) -> None:
    storage = make(pool)
    stand.stored()
    storage.batch_set_v1(KEYS[:1], pool.indices(PAGES[:1]))
    # One of the two, and its record.
    stand.rig.kv.delete(list(stand.rig.kv.list())[:2]).raise_for_status()
    assert storage.batch_get_v1(KEYS[:1], pool.indices([1])) == [False]


def test_no_pages_are_no_fault(make: Make, pool: HostPool) -> None:
    storage = make(pool)
    assert storage.batch_get_v1([], pool.indices([])) == []
    assert storage.batch_set_v1([], pool.indices([])) == []
    assert storage.batch_get([], []) == []
    assert storage.batch_set([], []) is True
    assert storage.failures == {}


# Whose pages they are

OTHERS = {
    "tenant": ({"options": {"tenant": "u"}}, None),
    "policy": ({"options": {"policy": "p"}}, None),
    "model": ({"model_name": "other"}, None),
    "TP rank": ({"tp_rank": 1}, None),
    "TP size": ({"tp_size": 4}, None),
    "PP rank": ({"pp_rank": 1}, None),
    "PP size": ({"pp_size": 2}, None),
    "CP rank": ({"attn_cp_size": 2}, None),
    "latent": ({"is_mla_model": True}, None),
    "page-first": ({"is_page_first_layout": False}, None),
    "layout": ({}, HostPool("page_head")),
    "dtype": ({}, HostPool(dtype=float16)),
}


@pytest.mark.parametrize("what", OTHERS)
def test_others_do_not_find_the_pages(make: Make, pool: HostPool, what: str) -> None:
    make(pool).batch_set_v1(KEYS, pool.indices(PAGES))
    config, other = OTHERS[what]
    storage = make(other, **config)
    assert storage.batch_exists(KEYS) == 0, what
    assert storage.batch_get_v1(KEYS, pool.indices(PAGES)) == [False] * 8
    assert storage.failures == {}


def test_another_secret_does_not_find_the_pages(make: Make, pool: HostPool, tmp_path: Any) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode() * 32)
    one, other = ({"secret_file": str(tmp_path / name)} for name in ("a", "b"))
    make(pool, one).batch_set_v1(KEYS, pool.indices(PAGES))
    assert make(pool, one).batch_exists(KEYS) == 8
    assert make(pool, other).batch_exists(KEYS) == 0
    assert make(pool).batch_exists(KEYS) == 0


def test_ranks_share_the_pages_of_a_latent(make: Make) -> None:
    pool = HostPool(latent=True)
    pool.fill(1)
    make(pool, is_mla_model=True, tp_rank=0).batch_set_v1(KEYS, pool.indices(PAGES))
    assert make(pool, is_mla_model=True, tp_rank=1).batch_exists(KEYS) == 8


def test_the_first_of_two_writers_stays(make: Make, pool: HostPool) -> None:
    storage = make(pool)
    storage.batch_set_v1(KEYS, pool.indices(PAGES))
    first = [pool.page(at) for at in PAGES]
    other = landing(pool)
    other.fill(2)
    writer = make(other)
    assert writer.batch_set_v1(KEYS, other.indices(PAGES)) == [True] * 8
    assert writer.batch_get_v1(KEYS, other.indices(PAGES)) == [True] * 8
    assert [other.page(at) for at in PAGES] == first


# What goes wrong


@pytest.fixture
def stored(make: Make, pool: HostPool, stand: Any) -> tuple[Storage, dict[str, list[bytes]]]:
    """Return a storage with all pages in it, and the keys of the values of each."""
    storage = make(pool)
    values = {}
    for key, page in zip(KEYS, PAGES, strict=True):
        storage.batch_set_v1([key], pool.indices([page]))
        values[key] = stand.stored()
        assert len(values[key]) == 2
    return storage, values


FAULTS = {
    "gone": lambda faults, keys: faults.miss(keys),
    "truncated": lambda faults, keys: faults.truncate(keys, 8),
    "longer": lambda faults, keys: faults.lengthen(keys, 4),
    "flipped": lambda faults, keys: faults.flip(keys),
    "failed": lambda faults, keys: faults.fail(keys),
    "late": lambda faults, keys: faults.drop(keys),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("piece", [0, 1])
def test_a_page_that_is_spoilt_is_reported_alone(
    make: Make, stored: Any, pool: HostPool, stand: Any, fault: str, piece: int
) -> None:
    storage, values = stored
    assert storage.batch_exists(KEYS) == 8
    FAULTS[fault](stand.rig.faults, values[KEYS[3]][piece : piece + 1])
    out = landing(pool)
    reader = make(out, SOON if fault == "late" else None)
    found = reader.batch_get_v1(KEYS, out.indices(PAGES))
    assert len(found) == 8
    assert found[3] is False
    assert all(found[at] for at in range(8) if at != 3) or fault == "late"
    assert all(out.page(p) == pool.page(p) for p, ok in zip(PAGES, found, strict=True) if ok)


@pytest.mark.parametrize("fault", FAULTS)
def test_memory_of_its_own_is_only_filled_with_what_was_stored(
    make: Make, pool: HostPool, stand: Any, fault: str
) -> None:
    storage = make(pool, v1=False)
    stand.stored()
    storage.set(KEYS[3], pages_of(pool, KEYS)[3])
    (value,) = stand.stored()
    storage.batch_set(KEYS, pages_of(pool, KEYS))
    FAULTS[fault](stand.rig.faults, [value])
    outs = [pool.get_dummy_flat_data_page() for _ in KEYS]
    reader = make(pool, SOON if fault == "late" else None, v1=False)
    found = reader.batch_get(KEYS, outs)
    assert found[3] is None
    assert not outs[3].array.any()
    assert [f for f in found if f is not None] == [
        out for out, f in zip(outs, found, strict=True) if f is not None
    ]
    assert fault == "late" or found.count(None) == 1


def test_memory_of_a_page_that_came_too_late_is_the_servers_again(
    make: Make, stored: Any, stand: Any
) -> None:
    _, values = stored
    stand.rig.faults.delay(values[KEYS[3]], 1.0)
    out = HostPool()
    reader = make(out, {"timeout": 0.3})
    assert reader.batch_get_v1(KEYS, out.indices(PAGES))[3] is False
    out.fill(5)
    ours = out.kv_buffer.array.tobytes()
    time.sleep(1.5)
    assert out.kv_buffer.array.tobytes() == ours


@pytest.mark.parametrize("fault", ["truncated", "longer", "flipped"])
def test_a_spoilt_page_can_be_stored_again(
    stored: Any, pool: HostPool, stand: Any, fault: str
) -> None:
    storage, values = stored
    FAULTS[fault](stand.rig.faults, values[KEYS[3]][:1])
    out = landing(pool)
    reader = storage
    assert reader.batch_get_v1([KEYS[3]], pool.indices([1])) == [False]
    assert storage.batch_set_v1([KEYS[3]], pool.indices([PAGES[3]])) == [True]
    storage.register_mem_pool_host(out)
    assert storage.batch_get_v1([KEYS[3]], out.indices([PAGES[3]])) == [True]
    assert out.page(PAGES[3]) == pool.page(PAGES[3])


def test_what_a_writer_left_half_done_is_replaced(stored: Any, pool: HostPool, stand: Any) -> None:
    storage, values = stored
    records = set(stand.rig.kv.list()) - {key for keys in values.values() for key in keys}
    stand.rig.kv.delete(sorted(records)).raise_for_status()
    pool.fill(7)
    assert storage.batch_exists(KEYS) == 0
    assert storage.batch_set_v1(KEYS, pool.indices(PAGES)) == [True] * 8
    out = landing(pool)
    storage.register_mem_pool_host(out)
    assert storage.batch_get_v1(KEYS, out.indices(PAGES)) == [True] * 8
    assert [out.page(at) for at in PAGES] == [pool.page(at) for at in PAGES]


def test_a_full_store_is_a_failure_of_the_pages_that_found_no_room(make_stand: Any) -> None:
    stand = make_stand(max_keys=12)
    pool = HostPool()
    pool.fill(1)
    storage = Storage(Config(stand.options(interface_v1=1)))
    storage.register_mem_pool_host(pool)
    kept = storage.batch_set_v1(KEYS, pool.indices(PAGES))
    assert len(kept) == 8
    assert not all(kept)
    out = landing(pool)
    storage.register_mem_pool_host(out)
    found = storage.batch_get_v1(KEYS, out.indices(PAGES))
    assert all(out.page(p) == pool.page(p) for p, ok in zip(PAGES, found, strict=True) if ok)
    storage.close()


def outcomes(storage: Storage, pool: HostPool) -> dict[str, Any]:
    """Return what every call answers."""
    indices, page = pool.indices(PAGES), pool.get_dummy_flat_data_page()
    return {
        "get": storage.get(KEYS[0], page),
        "batch_get": storage.batch_get(KEYS, [page] * 8),
        "set": storage.set(KEYS[0], page),
        "batch_set": storage.batch_set(KEYS, [page] * 8),
        "exists": storage.exists(KEYS[0]),
        "batch_exists": storage.batch_exists(KEYS),
        "batch_get_v1": storage.batch_get_v1(KEYS, indices),
        "batch_set_v1": storage.batch_set_v1(KEYS, indices),
        "clear": storage.clear(),
    }


FAILED = {
    "get": None,
    "batch_get": [None] * 8,
    "set": False,
    "batch_set": False,
    "exists": False,
    "batch_exists": 0,
    "batch_get_v1": [False] * 8,
    "batch_set_v1": [False] * 8,
    "clear": False,
}


def test_a_dead_controller_fails_every_call_and_raises_from_none(
    make: Make, pool: HostPool, stand: Any
) -> None:
    make(pool).batch_set_v1(KEYS, pool.indices(PAGES))
    storage = make(pool, {"clear": "namespace", "retry": 0.1, **SOON})
    stand.rig.faults.hang()
    assert outcomes(storage, pool) == FAILED
    assert storage.get_stats() is not None


def test_calls_work_again_with_the_controller(make: Make, pool: HostPool, stand: Any) -> None:
    make(pool).batch_set_v1(KEYS, pool.indices(PAGES))
    storage = make(pool, {"retry": 0.1, **SOON})
    stand.rig.faults.hang()
    assert storage.batch_get_v1(KEYS, pool.indices(PAGES)) == [False] * 8
    stand.rig.faults.recover()
    deadline = threading.Event()
    for _ in range(40):
        if storage.batch_get_v1(KEYS, pool.indices(PAGES)) == [True] * 8:
            break
        deadline.wait(0.1)
    else:
        pytest.fail(f"it did not come back: {storage.failures}")


def test_a_closed_storage_fails_every_call(make: Make, pool: HostPool) -> None:
    storage = make(pool, {"clear": "namespace"})
    storage.close()
    storage.close()
    assert outcomes(storage, pool) == FAILED


NONSENSE = {
    "too few indices": lambda s, p: s.batch_get_v1(KEYS, p.indices(PAGES[:3])),
    "no indices": lambda s, p: s.batch_set_v1(KEYS, None),
    "an address outside": lambda s, p: s.batch_get_v1(KEYS, "nonsense"),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_arguments_that_cannot_be_are_failures(make: Make, pool: HostPool, what: str) -> None:
    assert NONSENSE[what](make(pool), pool) == [False] * 8


def test_calls_without_a_place_are_failures(make: Make, pool: HostPool) -> None:
    storage = make(pool, v1=False)
    assert storage.get(KEYS[0]) is None
    assert storage.batch_get(KEYS) == [None] * 8
    assert storage.set(KEYS[0]) is False
    assert storage.batch_set(KEYS) is False
    assert storage.set(KEYS[0], Tensor(np.zeros((4, 4), np.uint16)[:, ::2])) is False


def test_a_pool_that_was_not_registered_has_no_pages(stand: Any) -> None:
    storage = Storage(Config(stand.options(interface_v1=1)))
    assert storage.batch_exists(KEYS) == 0
    assert storage.batch_get_v1(KEYS, np.arange(32)) == [False] * 8
    storage.close()


def test_a_kind_of_failure_is_logged_once(
    stored: Any, pool: HostPool, stand: Any, caplog: pytest.LogCaptureFixture
) -> None:
    storage, values = stored
    stand.rig.faults.fail([key for keys in values.values() for key in keys])
    with caplog.at_level(logging.WARNING, "xiokv"):
        for _ in range(3):
            storage.batch_get_v1(KEYS, pool.indices(PAGES))
    assert [record.message.partition(" (")[0] for record in caplog.records] == [
        "the SGLang connector: get: failed: 16 of 16 blocks: INTERNAL_DEVICE_ERROR"
    ]
    assert storage.failures == {"get: failed": 48}


def test_without_checks_damage_is_not_seen_but_wrong_sizes_are(
    make: Make, pool: HostPool, stand: Any
) -> None:
    storage = make(pool, {"verify": False})
    stand.stored()
    storage.batch_set_v1(KEYS[:1], pool.indices(PAGES[:1]))
    values = stand.stored()
    assert storage.batch_get_v1(KEYS[:1], pool.indices([1])) == [True]
    stand.rig.faults.flip(values[:1])
    assert storage.batch_get_v1(KEYS[:1], pool.indices([1])) == [True]
    stand.rig.faults.truncate(values[1:], 8)
    assert storage.batch_get_v1(KEYS[:1], pool.indices([1])) == [False]


def test_threads_get_and_set_at_once(make: Make, pool: HostPool) -> None:
    storage = make(pool)
    results: list[list[bool]] = []

    def work(number: int) -> None:
        keys = [hashlib.sha256(key.encode() + bytes([number])).hexdigest() for key in KEYS]
        for _ in range(5):
            results.append(storage.batch_set_v1(keys, pool.indices(PAGES)))
            results.append(storage.batch_get_v1(keys, pool.indices(PAGES)))

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[True] * 8] * 40


# Beside


def test_clearing_is_refused_unless_the_namespace_is_the_connectors(
    make: Make, pool: HostPool
) -> None:
    storage = make(pool)
    storage.batch_set_v1(KEYS, pool.indices(PAGES))
    assert storage.clear() is False
    assert storage.batch_exists(KEYS) == 8
    assert make(pool, {"clear": "namespace"}).clear() is True
    assert storage.batch_exists(KEYS) == 0


def test_batches_are_counted_until_they_are_asked_for(make: Make, pool: HostPool) -> None:
    storage = make(pool)
    storage.batch_set_v1(KEYS, pool.indices(PAGES))
    storage.batch_get_v1(KEYS[:3], pool.indices(PAGES[:3]))
    stats = storage.get_stats()
    assert (stats.backup_pgs, stats.prefetch_pgs) == ([8], [3])
    assert all(speed > 0 for speed in stats.backup_bandwidth + stats.prefetch_bandwidth)
    assert storage.get_stats().backup_pgs == []


OPTIONS = {
    "an unknown name": ({"tennant": "x"}, "'tennant'; the nearest is 'tenant'"),
    "no tenant": ({"tenant": ""}, "tenant is empty"),
    "no such file": ({"secret_file": "/none"}, "secret_file '/none'"),
    "no such controller": ({"controller": "x"}, "controller is 'x'"),
    "no such device": ({"controller": "/dev/none"}, "/dev/none"),
    "a word for a number": ({"queues": "4"}, "queues is '4'"),
    "a word for a truth value": ({"verify": "no"}, "verify is 'no'"),
    "no time": ({"timeout": 0}, "timeout 0"),
    "no such checksum": ({"checksum": "crc"}, "checksum is 'crc'"),
    "no such clearing": ({"clear": "all"}, "clear is 'all'"),
    "no such target": ({"target": "tpu"}, "target is 'tpu'"),
}


@pytest.mark.parametrize("what", OPTIONS)
def test_options_that_cannot_be_are_refused_at_once(stand: Any, what: str) -> None:
    given, message = OPTIONS[what]
    with pytest.raises(Exception, match=message):
        Storage(Config(stand.options(**given)))


@pytest.mark.parametrize("name", ["tenant", "controller"])
def test_options_that_have_no_default_are_asked_for(stand: Any, name: str) -> None:
    options = stand.options()
    del options[name]
    with pytest.raises(ArgumentFault, match=f"the connector needs {name}"):
        Storage(replace(Config(options)))


def test_sglangs_own_options_are_passed_over(stand: Any) -> None:
    extra = stand.options(backend_name="x", module_path="m", class_name="c", prefetch_threshold=1)
    Storage(Config(extra)).close()


def test_the_controller_in_the_process_is_shared(make: Make, pool: HostPool) -> None:
    make(pool, {"controller": "emulator"}).batch_set_v1(KEYS, pool.indices(PAGES))
    assert make(pool, {"controller": "emulator"}).batch_exists(KEYS) == 8
