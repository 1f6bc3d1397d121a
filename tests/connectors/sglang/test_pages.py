"""The calls of SGLang's storage: pages come back, are counted, and belong to somebody."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import numpy as np
import pytest

from tests.connectors.host_pools import HostPool
from tests.connectors.sglang.storing import KEYS, PAGES, Config, Make, landing, pages_of
from tests.connectors.tensors import float16
from xiokv.runtime.connectors.sglang import Storage

LAYOUTS = ("page_first", "page_first_direct", "page_head", "layer_first")


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


# What is there.


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


# Whose pages they are.


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
