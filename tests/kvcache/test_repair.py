"""Publishing over what is damaged, half written or unreadable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.keyspace import record_keys
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.kvcache.storage import DonorMissingFault, GenerationFault, NewDonor, PublishFault
from xiokv.runtime.testing import Rig

from .conftest import Place, on_a_namespace
from .donors import TENANT, Given, contents, joined, layout, payloads, publish

CHANGES = {
    "missing": lambda value: None,
    "truncated": lambda value: value[:-4],
    "a bit": lambda value: bytes([value[0] ^ 1]) + value[1:],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_damaged_is_stored_again(place: Place, change: Any) -> None:
    shape = layout(100, 20000)
    given = publish(place.storage, shape=shape)
    place.damage(bytes.fromhex(given.manifest.blocks[3].key), change)
    place.storage.publish(
        NewDonor("donor", shape, contents(8, 1000)), joined(given.blocks), repair=True
    )
    states, slots = place.fetched(given, list(range(16)))
    assert (states == BlockState.VERIFIED).all()
    assert (slots[3, :20000] == given.blocks[3]).all()


def test_what_is_whole_stays_as_it_is(place: Place) -> None:
    given = publish(place.storage)
    others = joined(payloads(layout(), 8, seed=2))
    offer = NewDonor("another", layout(), contents(8, 1000))
    manifest = place.storage.publish(offer, others, repair=True)
    assert manifest.blocks == given.manifest.blocks
    states, _ = place.fetched(given, list(range(8)))
    assert (states == BlockState.VERIFIED).all()


def test_an_older_generation_stays_refused(place: Place) -> None:
    given = publish(place.storage, generation=3)
    offer = NewDonor("donor", layout(), contents(8, 1000), generation=2)
    with pytest.raises(GenerationFault):
        place.storage.publish(offer, joined(given.blocks), repair=True)


def test_what_a_writer_left_who_was_interrupted_is_stored_over(rig: Rig) -> None:
    """Values of other last bits, and no record."""
    place = on_a_namespace(rig)
    given = publish(place.storage, shape=layout(20000))
    rig.kv.delete(record_keys(place.storage.resolve("donor").table.digests)).raise_for_status()
    others = payloads(layout(20000), 8, seed=2)
    offer = NewDonor("donor", layout(20000), contents(8, 1000), generation=1)
    with pytest.raises(PublishFault, match="block 0: CONFLICT"):
        place.storage.publish(offer, joined(others))
    manifest = place.storage.publish(offer, joined(others), repair=True)
    states, slots = place.fetched(Given(manifest, given.blocks), list(range(8)))
    assert (states == BlockState.VERIFIED).all()
    assert (slots[:, :20000] == np.stack(others)).all()


def test_a_head_that_cannot_be_read_is_published_over_or_removed(rig: Rig) -> None:
    storage = on_a_namespace(rig).storage
    publish(storage)
    key = TENANT.donor_key("donor", 0)
    for mend in (
        lambda: storage.publish(
            NewDonor("donor", layout(), contents(8, 1000)),
            joined(payloads(layout(), 8)),
            repair=True,
        ),
        lambda: storage.remove("donor"),
    ):
        rig.kv.store([key], [b"no head"]).raise_for_status()
        with pytest.raises(DocumentFault, match="its head cannot be read"):
            publish(storage)
        mend()
    with pytest.raises(DonorMissingFault):
        storage.resolve("donor")


def test_a_head_of_another_donor_is_not_removed(rig: Rig) -> None:
    storage = on_a_namespace(rig).storage
    publish(storage, "one")
    head = bytearray(4096)
    size = int(rig.kv.retrieve([TENANT.donor_key("one", 0)], head).value_size[0])
    rig.kv.store([TENANT.donor_key("two", 0)], [bytes(head[:size])]).raise_for_status()
    with pytest.raises(DocumentFault, match="is the head of donor 'one'"):
        storage.remove("two")
    assert storage.resolve("one")
