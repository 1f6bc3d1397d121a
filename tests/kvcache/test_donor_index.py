"""Heads of donors: one leads to its own manifest, and to no other."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace as with_fields

from xiokv.runtime.kvcache import donor_index
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.donor_index import Head
from xiokv.runtime.kvcache.storage import Donor, DonorMissingFault, GenerationFault
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


@pytest.mark.parametrize("known", ["from publishing it", "from resolving it", "not at all"])
@pytest.mark.parametrize("field", ["donor", "generation"])
def test_a_head_leads_to_its_own_manifest_alone(rig: Rig, field: str, known: str) -> None:
    """Also where the manifest that it names is known already."""
    place, other = on_a_namespace(rig), on_a_namespace(rig)
    publish((place if known == "from publishing it" else other).storage, "one", generation=1)
    if known == "from resolving it":
        place.storage.resolve("one")
    changed = {"donor": "two", "generation": 2}[field]
    head = with_fields(Head.from_json(head_of(rig, "one")), **{field: changed})
    rig.kv.store([TENANT.donor_key(head.donor, 0)], [head.canonical]).raise_for_status()
    with pytest.raises(DocumentFault, match="leads to the manifest of donor 'one' of rank 0"):
        place.storage.resolve(head.donor)


@pytest.mark.parametrize("length", [1, 300, 1024])
def test_heads_of_any_length_are_read_among_others(rig: Rig, length: int) -> None:
    """A name of 1,024 characters has a head beyond the usual; some characters take six bytes."""
    for seed, name in enumerate(("one", "n" * length, "\x01" * length), start=1):
        publish(on_a_namespace(rig).storage, name, generation=seed, seed=seed)
    names = ["one", "n" * length, "nobody", "\x01" * length]
    storage = on_a_namespace(rig).storage
    found = storage.resolve_all(names)
    seen = [
        (one.manifest.donor, one.manifest.generation) for one in found if isinstance(one, Donor)
    ]
    assert seen == [("one", 1), ("n" * length, 2), ("\x01" * length, 3)]
    assert isinstance(found[2], DonorMissingFault)
    donors = [one for one in found if isinstance(one, Donor)]
    assert [lease.donor for lease in storage.lease_all(donors, 10)] == donors  # type: ignore[union-attr]


@pytest.mark.parametrize("extra", [-2, -1, 0, 1, 2])
def test_a_head_about_as_long_as_is_asked_for_first_is_read_whole(rig: Rig, extra: int) -> None:
    publish(on_a_namespace(rig).storage, "n")
    length = donor_index._HEAD_USUAL - len(head_of(rig, "n")) + 1 + extra
    publish(on_a_namespace(rig).storage, "n" * length, seed=2)
    size = len(head_of(rig, "n" * length))
    assert on_a_namespace(rig).storage.resolve("n" * length).manifest.donor == "n" * length
    assert abs(size - donor_index._HEAD_USUAL) <= 4  # bytes of the manifest may have a digit more


def test_a_head_that_is_written_again_is_read_again(rig: Rig) -> None:
    """What was known of a head counts as long as its bytes are the same."""
    reader, writer = on_a_namespace(rig).storage, on_a_namespace(rig).storage
    for generation in (1, 2, 3):
        publish(writer, generation=generation)
        donor = reader.resolve("donor")
        assert donor.manifest.generation == generation
        assert reader.resolve("donor") is donor
        reader.release(reader.lease(donor, 10))
    publish(writer, generation=4)
    with pytest.raises(GenerationFault, match=r"generation 3 was resolved, .* generation 4"):
        reader.lease(donor, 10)
    writer.remove("donor")
    with pytest.raises(DonorMissingFault):
        reader.lease(donor, 10)


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
