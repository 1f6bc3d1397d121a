"""Storages of both kinds, which hold to the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.memory_storage import MemoryStorage
from xiokv.runtime.kvcache.storage import Fetch, Storage
from xiokv.runtime.testing import MakeRig, Rig

from .donors import TENANT, Given, publish
from .plans import ROWS, SHAPE


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


@dataclass
class Clock:
    """A clock that goes when it is told to."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Place:
    """A storage of one kind, and what else its tests need.

    Attributes:
        storage: of the tenant of the tests.
        another: makes a storage of another tenant on the same values.
        damage: changes the value under a key, or takes it away.
        clock: of the leases.
    """

    storage: Storage
    another: Callable[[Keyspace], Storage]
    damage: Callable[[bytes, Callable[[bytes], bytes | None]], None]
    clock: Clock = field(default_factory=Clock)

    def fetched(self, given: Given, which: list[int], **options: Any) -> tuple[Any, Any]:
        """Return states and buffer of a Retrieve of some blocks, in slots with room between."""
        donor = self.storage.resolve(given.name)
        lease = self.storage.lease(donor, 10)
        slot = 64 + max(map(len, given.blocks)) // 4 * 4
        out = np.full(slot * len(which), 0xEE, np.uint8)
        fetch = Fetch(lease, np.array(which), np.arange(len(which)) * slot)
        (states,) = self.storage.retrieve([fetch], out, **options)
        self.storage.release(lease)
        return states, out.reshape(-1, slot)


def in_memory() -> Place:
    clock = Clock()
    storage = MemoryStorage(TENANT, clock=clock)

    def damage(key: bytes, change: Callable[[bytes], bytes | None]) -> None:
        changed = change(storage.values.pop(key))
        if changed is not None:
            storage.values[key] = changed

    def another(keyspace: Keyspace) -> Storage:
        other = MemoryStorage(keyspace, clock=clock)
        other.values = storage.values
        return other

    return Place(storage, another, damage, clock)


def on_a_namespace(rig: Rig) -> Place:
    clock = Clock()
    storage = KvStorage(rig.kv, TENANT, clock=clock)

    def damage(key: bytes, change: Callable[[bytes], bytes | None]) -> None:
        value = bytearray(rig.kv.limits.value_max)
        size = int(rig.kv.retrieve([key], value).value_size[0])
        changed = change(bytes(value[:size]))
        if changed is None:
            rig.kv.delete([key]).raise_for_status()
        else:
            rig.kv.store([key], [changed]).raise_for_status()

    def another(keyspace: Keyspace) -> Storage:
        return KvStorage(rig.kv, keyspace, clock=clock)

    return Place(storage, another, damage, clock)


@pytest.fixture
def rig(xiokv_make: MakeRig) -> Rig:
    """A controller whose values are small, so that larger blocks are split."""
    return xiokv_make(controller={"value_max": 8192}, queues=2, timeout=20.0)


@pytest.fixture(params=["memory", "nvme-kv"])
def place(request: pytest.FixtureRequest) -> Any:
    """A storage of each kind in turn."""
    if request.param == "memory":
        return in_memory()
    return on_a_namespace(request.getfixturevalue("rig"))


@pytest.fixture
def given(place: Place) -> Given:
    """The donor that the plans of `plans.py` name, in each storage."""
    return publish(place.storage, rows=ROWS, shape=SHAPE, generation=3)
