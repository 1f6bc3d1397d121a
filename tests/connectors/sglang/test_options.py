"""SGLang's storage beside its pages: clearing, statistics, and options."""

from __future__ import annotations

from typing import Any

import pytest

from tests.connectors.host_pools import HostPool
from tests.connectors.sglang.storing import KEYS, PAGES, Config, Make
from xiokv.runtime import ArgumentFault, RuntimeFault
from xiokv.runtime.connectors.sglang import Storage


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
    with pytest.raises(RuntimeFault, match=message):
        Storage(Config(stand.options(**given)))


@pytest.mark.parametrize("name", ["tenant", "controller"])
def test_options_that_have_no_default_are_asked_for(stand: Any, name: str) -> None:
    options = stand.options()
    del options[name]
    with pytest.raises(ArgumentFault, match=f"the connector needs {name}"):
        Storage(Config(options))


def test_sglangs_own_options_are_passed_over(stand: Any) -> None:
    extra = stand.options(backend_name="x", module_path="m", class_name="c", prefetch_threshold=1)
    Storage(Config(extra)).close()


def test_the_controller_in_the_process_is_shared(make: Make, pool: HostPool) -> None:
    make(pool, {"controller": "emulator"}).batch_set_v1(KEYS, pool.indices(PAGES))
    assert make(pool, {"controller": "emulator"}).batch_exists(KEYS) == 8
