"""Pages that are spoilt, controllers that die and calls that cannot be: what SGLang is told."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import numpy as np
import pytest

from tests.connectors.host_pools import HostPool
from tests.connectors.sglang.storing import KEYS, PAGES, Config, Make, landing, pages_of
from tests.connectors.tensors import Tensor
from xiokv.runtime.connectors.sglang import Storage

# Where commands are meant to time out.
SOON = {"timeout": 0.5}


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


# Calls that fail as a whole.


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
