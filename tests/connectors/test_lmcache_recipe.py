"""The recipe for LMCache, as the documents have it, on LMCache's own base class and loader.

Tried with lmcache 0.5.6, whose wheel is taken without its dependencies and without its compiled
parts, of which `Bitmap` is written here; no server ran.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.connectors.peers import LMCACHE, NoWheel, importable, sources
from tests.docs.pages import ROOT, blocks_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("lmcache")]

ADAPTERS = "lmcache.v1.distributed.l2_adapters"
REAL = (
    "lmcache.v1.distributed.api",
    "lmcache.v1.distributed.internal_api",
    f"{ADAPTERS}.base",
    f"{ADAPTERS}.config",
    f"{ADAPTERS}.factory",
    f"{ADAPTERS}.plugin_l2_adapter",
)


class Bitmap(set[int]):
    """LMCache's, as much as the recipe uses."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def set(self, index: int) -> None:
        assert 0 <= index < self.size
        self.add(index)


@dataclass
class Object:
    """Memory of LMCache's."""

    array: np.ndarray

    @property
    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def get_size(self) -> int:
        return self.array.nbytes


@pytest.fixture(scope="module")
def lmcache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Return LMCache's modules by their last names, and the recipe's settings."""
    try:
        root = sources(LMCACHE)
    except NoWheel as reason:
        pytest.skip(f"no wheel of {reason}")
    page = blocks_of(ROOT / "docs" / "connectors.md")
    (recipe,) = (block for block in page if block.tag("file") == "xiokv_lmcache.py")
    (settings,) = (json.loads(block.text) for block in page if block.tag("file") == "lmcache.json")
    folder = tmp_path_factory.mktemp("recipe")
    (folder / "xiokv_lmcache.py").write_text(recipe.text, encoding="utf-8")
    with importable(root, REAL), pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        native: Any = import_module("lmcache.lmcache_native")
        native.Bitmap = Bitmap
        bus: Any = import_module("lmcache.v1.mp_observability.event_bus")
        bus.get_event_bus = lambda: SimpleNamespace(publish=lambda event: None)
        names = {name.rpartition(".")[2]: import_module(name) for name in REAL}
        yield SimpleNamespace(**names, settings=settings)
        sys.modules.pop("xiokv_lmcache", None)


@pytest.fixture
def adapter(lmcache: Any, stand: Any) -> Iterator[Any]:
    """Return the adapter, as LMCache's plugin makes it."""
    plugin = lmcache.plugin_l2_adapter
    settings = {**lmcache.settings, "adapter_params": stand.options(timeout=2)}
    assert settings.pop("type") == "plugin"
    made = plugin._create_plugin_adapter(plugin.PluginL2AdapterConfig.from_dict(settings))
    yield made
    made.close()


@pytest.fixture
def keys(lmcache: Any) -> list[Any]:
    return [
        lmcache.api.ObjectKey(chunk_hash=bytes([n]) * 8, model_name="m", kv_rank=0)
        for n in range(4)
    ]


def objects(seed: int | None = None) -> list[Object]:
    """Return memory of several sizes, with bytes of a seed or none."""
    pick = np.random.default_rng(seed or 0)
    sizes = (64, 200, 4096, 12)
    return [
        Object(pick.integers(0, 256, size, np.uint8) if seed else np.zeros(size, np.uint8))
        for size in sizes
    ]


def wait(fd: int) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    assert poll.poll(20_000), "nothing was signalled"
    os.eventfd_read(fd)


def stored(adapter: Any, keys: Any, given: Any) -> Any:
    task = adapter.submit_store_task(keys, given)
    wait(adapter.get_store_event_fd())
    return adapter.pop_completed_store_tasks()[task]


def loaded(adapter: Any, keys: Any, given: Any) -> Any:
    task = adapter.submit_load_task(keys, given)
    wait(adapter.get_load_event_fd())
    found = adapter.query_load_result(task)
    assert adapter.query_load_result(task) is None
    return found


def test_the_plugin_loader_takes_it_and_objects_come_back(
    lmcache: Any, adapter: Any, keys: list[Any]
) -> None:
    assert isinstance(adapter, lmcache.base.L2AdapterInterface)
    given, out = objects(1), objects()
    result = stored(adapter, keys, given)
    assert (result.is_successful(), result.bytes_transferred()) == (True, 4372)
    assert adapter.get_usage().total_bytes_used == 4372
    task = adapter.submit_lookup_and_lock_task(keys, {})
    wait(adapter.get_lookup_and_lock_event_fd())
    assert adapter.query_lookup_and_lock_result(task) == {0, 1, 2, 3}
    assert loaded(adapter, keys, out) == {0, 1, 2, 3}
    assert all((a.array == b.array).all() for a, b in zip(given, out, strict=True))
    adapter.submit_unlock(keys)


def test_events_have_descriptors_of_their_own(adapter: Any) -> None:
    fds = {
        adapter.get_store_event_fd(),
        adapter.get_lookup_and_lock_event_fd(),
        adapter.get_load_event_fd(),
    }
    assert len(fds) == 3


def test_other_salts_and_ranks_do_not_find_objects(
    lmcache: Any, adapter: Any, keys: list[Any]
) -> None:
    stored(adapter, keys, objects(1))
    others = [
        lmcache.api.ObjectKey(keys[0].chunk_hash, "m", 1),
        lmcache.api.ObjectKey(keys[1].chunk_hash, "m", 0, cache_salt="s"),
        lmcache.api.ObjectKey(keys[2].chunk_hash, "n", 0),
        keys[3],
    ]
    assert loaded(adapter, others, objects()) == {3}


def test_failures_come_as_results(adapter: Any, keys: list[Any], stand: Any) -> None:
    stored(adapter, keys[:2], objects(1)[:2])
    stand.rig.faults.flip(stand.stored()[:1])
    assert len(loaded(adapter, keys, objects())) == 1
    stand.rig.faults.hang()
    assert loaded(adapter, keys, objects()) == set()
    assert not stored(adapter, keys, objects(1)).is_successful()
