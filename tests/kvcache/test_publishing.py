"""Publishing: whose bytes stay, which generation, and what is refused before it is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as with_fields

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.donor_index import DonorIndex
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.manifest import Manifest, Rope
from xiokv.runtime.kvcache.states import BlockState, PutState
from xiokv.runtime.kvcache.storage import DonorMissingFault, GenerationFault, NewDonor, PublishFault
from xiokv.runtime.testing import Rig

from .conftest import Place, on_a_namespace
from .donors import TENANT, Given, contents, joined, layout, payloads, publish


def test_a_second_writer_of_a_content_learns_whose_bytes_are_there(place: Place) -> None:
    given = publish(place.storage)
    others = payloads(layout(), 8, seed=2)
    manifest = place.storage.publish(NewDonor("again", layout(), contents(8, 1000)), joined(others))
    assert manifest.blocks == given.manifest.blocks
    states, slots = place.fetched(Given(manifest, given.blocks), list(range(8)))
    assert (states == BlockState.VERIFIED).all()
    assert (slots[:, :4096] == np.stack(given.blocks)).all()


@pytest.mark.parametrize("generation", [2, 3])
def test_what_is_not_newer_is_refused(place: Place, generation: int) -> None:
    publish(place.storage, generation=3)
    with pytest.raises(GenerationFault, match=f"generation {generation} is offered"):
        publish(place.storage, generation=generation)


def test_a_newer_generation_takes_the_place(place: Place) -> None:
    publish(place.storage, generation=3)
    newer = publish(place.storage, generation=4, seed=5)
    assert place.storage.resolve("donor").manifest == newer.manifest


@pytest.mark.parametrize(
    ("offered", "said"),
    [
        ({"start": 8}, "source: .* whole blocks"),
        ({"contents": [b"short"]}, "5 bytes"),
        ({"contents": [b"c" * 32] * 2}, "2 blocks have 1 different keys"),
    ],
)
def test_what_does_not_fit_is_refused(place: Place, offered: dict[str, Any], said: str) -> None:
    with pytest.raises((DocumentFault, ArgumentFault), match=said):
        publish(place.storage, rows=len(offered.get("contents", "12")), **offered)
    with pytest.raises(DonorMissingFault):
        place.storage.resolve("donor")


def test_what_a_publisher_changes_afterwards_is_not_resolved(place: Place) -> None:
    scaling: dict[str, str | int | float | bool] = {"type": "yarn", "factor": 4}
    shape = with_fields(layout(), rope=Rope(base=500000, scaling=scaling))
    manifest = publish(place.storage, shape=shape).manifest
    shape.rope.scaling["factor"] = 8  # type: ignore[union-attr]
    found = place.storage.resolve("donor").manifest
    assert found.layout.rope == Rope(base=500000, scaling={"type": "yarn", "factor": 4})
    assert found == manifest


def test_a_manifest_says_what_its_documentation_says(place: Place) -> None:
    given = publish(place.storage, shape=layout(100, 200), rows=2)
    manifest = Manifest.from_json(given.manifest.canonical)
    assert manifest == given.manifest
    assert [block.bytes for block in manifest.blocks] == [100, 200, 100, 200]
    assert [block.content for block in manifest.blocks] == [
        content.hex() for content in contents(2, 1000) for _ in range(2)
    ]


def test_a_manifest_whose_keys_are_not_those_of_its_contents_is_refused(rig: Rig) -> None:
    """Whoever writes under the tenant's keys still cannot name another's blocks."""
    place = on_a_namespace(rig)
    given = publish(place.storage, shape=layout(100, 200))
    other = publish(place.storage, "other", shape=layout(100, 200), seed=2)
    blocks = list(given.manifest.blocks)
    blocks[3] = with_fields(
        blocks[3], key=other.manifest.blocks[3].key, digest=other.manifest.blocks[3].digest
    )
    forged = with_fields(given.manifest, blocks=tuple(blocks))
    DonorIndex(rig.kv, TENANT, 8192).write(forged)
    with pytest.raises(DocumentFault, match=r"blocks\[3\]\.digest: .* is not that of its content"):
        place.storage.resolve("donor")


UNREADABLE: dict[str, dict[str, Any]] = {
    "a donor without a name": {"donor": ""},
    "a name that is too long": {"donor": "d" * 1025},
    "a name that is no text": {"donor": "\ud800"},
    "a generation below 0": {"generation": -1},
    "a position below 0": {"target_start": -16},
    "a position past any": {"start": 1 << 53},
    "a start within a block": {"start": 8},
    "no tokens in a block": {"layout": with_fields(layout(), block_tokens=0)},
    "no shards": {"layout": with_fields(layout(), shards=())},
    "a shard of no bytes": {"layout": layout(0)},
    "a shard past any": {"layout": layout(1 << 63)},
    "a dtype that is no text": {"layout": with_fields(layout(), dtype=16)},
    "a rank past the ranks": {"layout": layout(tp_rank=1 << 40)},
    "no number": {
        "layout": with_fields(layout(), rope=Rope(base=1, scaling={"factor": float("nan")}))
    },
}


@pytest.mark.parametrize("fields", UNREADABLE.values(), ids=UNREADABLE)
def test_nothing_is_stored_of_what_could_not_be_read(place: Place, fields: Any) -> None:
    kept = publish(place.storage).manifest
    before = stored(place)
    offer = {"donor": "donor", "layout": layout(), "contents": contents(2), "generation": 1}
    with pytest.raises(DocumentFault):
        place.storage.publish(NewDonor(**(offer | fields)), np.zeros(8192, np.uint8))
    assert stored(place) == before
    assert place.storage.resolve("donor").manifest == kept


def stored(place: Place) -> set[bytes]:
    storage: Any = place.storage
    return set(storage.blocks.kv.list() if hasattr(storage, "blocks") else storage.values)


def test_a_donor_of_many_bytes_is_refused_before_it_is_split(place: Place) -> None:
    for size in (1 << 40, (1 << 53) - 1):
        with pytest.raises(ArgumentFault, match="payloads have 8192 bytes; the blocks have"):
            place.storage.publish(
                NewDonor("donor", layout(size), contents(2)), np.zeros(8192, np.uint8)
            )


class Colliding(Keyspace):
    """BLAKE2b gives no two digests that begin with the same 16 bytes; this does."""

    def digests(self, layout: bytes, contents: Any) -> Any:
        found = super().digests(layout, contents).copy()
        found[:, :16] = 7
        return found


def test_a_donor_whose_key_is_another_contents_is_not_published(place: Place) -> None:
    storage = place.another(Colliding("colliding"))
    given = publish(storage, "first", rows=1)
    with pytest.raises(PublishFault, match="COLLISION") as fault:
        publish(storage, "second", rows=1, seed=2)
    assert fault.value.states.tolist() == [PutState.COLLISION]
    assert storage.resolve("first").manifest == given.manifest
    with pytest.raises(DonorMissingFault):
        storage.resolve("second")


def test_an_older_manifest_does_not_stay(rig: Rig) -> None:
    storage = on_a_namespace(rig).storage
    seen = []
    for generation in range(3):
        publish(storage, generation=generation)
        seen.append(len(list(rig.kv.list())))
    assert len(set(seen)) == 1
