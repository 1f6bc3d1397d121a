"""Heads of donors: one leads to its own manifest, and to no other."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace as with_fields

from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.donor_index import Head
from xiokv.runtime.testing import Rig

from .conftest import on_a_namespace
from .donors import TENANT, publish


def head_of(rig: Rig, donor: str) -> bytes:
    head = bytearray(8192)
    size = int(rig.kv.retrieve([TENANT.donor_key(donor, 0)], head).value_size[0])
    return bytes(head[:size])


def test_the_head_of_another_donor_is_not_followed(rig: Rig) -> None:
    """Its blocks would all be right by their checksums, and of other tokens."""
    place = on_a_namespace(rig)
    publish(place.storage, "one")
    publish(place.storage, "two", seed=2)
    rig.kv.store([TENANT.donor_key("two", 0)], [head_of(rig, "one")]).raise_for_status()
    with pytest.raises(DocumentFault, match=r"'two' of rank 0: under its key .* donor 'one'"):
        place.storage.resolve("two")


@pytest.mark.parametrize("field", ["donor", "generation"])
def test_a_head_leads_to_its_own_manifest_alone(rig: Rig, field: str) -> None:
    place = on_a_namespace(rig)
    publish(place.storage, "one", generation=1)
    changed = {"donor": "two", "generation": 2}[field]
    head = with_fields(Head.from_json(head_of(rig, "one")), **{field: changed})
    rig.kv.store([TENANT.donor_key(head.donor, 0)], [head.canonical]).raise_for_status()
    with pytest.raises(DocumentFault, match="leads to the manifest of donor 'one' of rank 0"):
        place.storage.resolve(head.donor)


@pytest.mark.parametrize(
    "fields", [{"bytes": (1 << 53) - 1}, {"bytes": 1 << 30, "part_bytes": 1}], ids=str
)
def test_a_head_that_asks_for_more_than_there_is_memory_is_refused(rig: Rig, fields: Any) -> None:
    place = on_a_namespace(rig)
    publish(place.storage)
    head = with_fields(Head.from_json(head_of(rig, "donor")), **fields)
    rig.kv.store([TENANT.donor_key("donor", 0)], [head.canonical]).raise_for_status()
    with pytest.raises(DocumentFault, match="bytes: "):
        place.storage.resolve("donor")
