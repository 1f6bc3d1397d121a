"""Leases, and what removing leaves while there is one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.kvcache.storage import (
    DonorMissingFault,
    Fetch,
    GenerationFault,
    LeasedFault,
    NewDonor,
)
from xiokv.runtime.testing import Rig

from .conftest import Place, on_a_namespace
from .donors import TENANT, contents, joined, layout, publish


def test_blocks_of_a_lease_that_ended_do_not_count(place: Place) -> None:
    given = publish(place.storage)
    donor = place.storage.resolve(given.name)
    lease = place.storage.lease(donor, 10)
    place.clock.now += 10
    fetch = Fetch(lease, np.arange(2), np.arange(2) * 4096)
    (states,) = place.storage.retrieve([fetch], np.zeros(8192, np.uint8))
    assert states.tolist() == [BlockState.EXPIRED] * 2


def test_an_ended_lease_does_not_strike_another(place: Place) -> None:
    donor = place.storage.resolve(publish(place.storage).name)
    short, long = (place.storage.lease(donor, seconds) for seconds in (1, 10))
    place.clock.now += 5
    fetches = [
        Fetch(lease, np.arange(1), np.array([at * 4096])) for at, lease in enumerate((short, long))
    ]
    ended, held = place.storage.retrieve(fetches, np.zeros(8192, np.uint8))
    assert (ended[0], held[0]) == (BlockState.EXPIRED, BlockState.VERIFIED)


def test_what_is_leased_is_not_removed(place: Place) -> None:
    donor = place.storage.resolve(publish(place.storage).name)
    lease = place.storage.lease(donor, 10)
    with pytest.raises(LeasedFault, match=r"leased for 10\.0 s more"):
        place.storage.remove("donor", blocks=True)
    place.storage.release(lease)
    place.storage.release(lease)
    place.storage.remove("donor", blocks=True)
    with pytest.raises(DonorMissingFault):
        place.storage.resolve("donor")
    assert not place.storage.present(donor.table.digests).any()


def test_a_lease_that_has_ended_keeps_nothing(place: Place) -> None:
    place.storage.lease(place.storage.resolve(publish(place.storage).name), 10)
    place.clock.now += 10
    place.storage.remove("donor")


def test_another_generation_gives_no_lease(place: Place) -> None:
    publish(place.storage, generation=1)
    donor = place.storage.resolve("donor")
    publish(place.storage, generation=2, seed=2)
    with pytest.raises(GenerationFault, match="generation 1 was resolved"):
        place.storage.lease(donor, 10)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "1"])
def test_a_lease_has_an_end(place: Place, seconds: Any) -> None:
    donor = place.storage.resolve(publish(place.storage).name)
    with pytest.raises(ArgumentFault, match="seconds"):
        place.storage.lease(donor, seconds)


def test_a_lease_that_ends_while_blocks_land_gives_none(place: Place) -> None:
    storage: Any = place.storage
    donor = storage.resolve(publish(storage).name)
    lease = storage.lease(donor, 10)
    times = iter([place.clock.now, place.clock.now + 10])
    storage._leases._clock = lambda: next(times)
    (states,) = storage.retrieve([Fetch(lease, np.arange(1), np.arange(1))], np.zeros(4096, "u1"))
    assert states.tolist() == [BlockState.EXPIRED]


def test_no_lease_is_given_while_its_donor_is_removed(rig: Rig) -> None:
    storage: Any = on_a_namespace(rig).storage
    publish(storage)
    donor = storage.resolve("donor")
    erase = storage._index.erase

    with ThreadPoolExecutor(1) as pool:
        given: list[Any] = []

        def erase_while_somebody_leases(*arguments: Any) -> Any:
            given.append(pool.submit(storage.lease, donor, 10))
            wait(given, timeout=0.2)
            return erase(*arguments)

        storage._index.erase = erase_while_somebody_leases
        storage.remove("donor")
        with pytest.raises(DonorMissingFault):
            given[0].result()


def test_removing_takes_the_parts_of_whoever_stored_them(rig: Rig) -> None:
    writer = KvStorage(rig.kv, TENANT, part_bytes=4096)
    publish(writer, shape=layout(20000))
    on_a_namespace(rig).storage.remove("donor", blocks=True)
    assert list(rig.kv.list()) == []


def test_blocks_that_another_donor_has_leased_stay(place: Place) -> None:
    given = publish(place.storage, "one")
    place.storage.publish(NewDonor("two", layout(), contents(8, 1000)), joined(given.blocks))
    lease = place.storage.lease(place.storage.resolve("one"), 10)
    place.storage.remove("two", blocks=True)
    assert place.storage.present(lease.donor.table.digests).all()
    place.storage.release(lease)
    place.storage.remove("one", blocks=True)
    assert not place.storage.present(lease.donor.table.digests).any()
