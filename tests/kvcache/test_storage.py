"""What every storage does, on a namespace and in memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as with_fields

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.donor_index import DonorIndex
from xiokv.runtime.kvcache.keyspace import Keyspace, record_keys
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.manifest import Manifest, Rope
from xiokv.runtime.kvcache.states import BlockState, PutState
from xiokv.runtime.kvcache.storage import (
    Donor,
    DonorMissingFault,
    Fetch,
    GenerationFault,
    Lease,
    LeasedFault,
    NewDonor,
    PublishFault,
)
from xiokv.runtime.testing import Rig

from .conftest import Place, on_a_namespace
from .donors import TENANT, Given, contents, joined, layout, payloads, publish

SHAPES = {
    "one small shard": layout(4096),
    "shards of odd sizes": layout(1, 4095, 511),
    "a shard larger than a value": layout(20000, 8192, 8196),
}


def fetched(place: Place, given: Given, which: list[int], **options: Any) -> tuple[Any, Any]:
    """Return states and buffer of a Retrieve of some blocks, in slots with room between."""
    donor = place.storage.resolve(given.name)
    lease = place.storage.lease(donor, 10)
    slot = 64 + max(map(len, given.blocks)) // 4 * 4
    out = np.full(slot * len(which), 0xEE, np.uint8)
    fetch = Fetch(lease, np.array(which), np.arange(len(which)) * slot)
    (states,) = place.storage.retrieve([fetch], out, **options)
    place.storage.release(lease)
    return states, out.reshape(-1, slot)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_blocks_come_back_where_they_are_asked_for(place: Place, shape: Any) -> None:
    given = publish(place.storage, shape=shape)
    order = list(reversed(range(len(given.blocks))))
    states, slots = fetched(place, given, order)
    assert states.tolist() == [BlockState.VERIFIED] * len(order)
    for slot, index in zip(slots, order, strict=True):
        block = given.blocks[index]
        assert (slot[: len(block)] == block).all()
        assert (slot[len(block) :] == 0xEE).all()


def test_a_manifest_comes_back_as_it_was_published(place: Place) -> None:
    given = publish(place.storage, generation=7, target_start=48, start=32)
    there = place.storage.resolve("donor").manifest
    assert there == given.manifest
    assert there.generation == 7
    assert (str(there.source), str(there.target)) == ("[32, 160)", "[48, 176)")


def test_a_large_manifest_is_split_as_blocks_are(place: Place) -> None:
    given = publish(place.storage, rows=200)
    assert len(given.manifest.canonical) > 8192
    assert place.storage.resolve("donor").manifest == given.manifest


def test_a_donor_that_is_not_there_is_named(place: Place) -> None:
    with pytest.raises(DonorMissingFault, match="'nobody' of rank 0"):
        place.storage.resolve("nobody")


def test_ranks_of_a_donor_are_apart(place: Place) -> None:
    ranks = [publish(place.storage, shape=layout(tp_rank=rank), seed=1 + rank) for rank in range(2)]
    for rank, given in enumerate(ranks):
        assert place.storage.resolve("donor", rank).manifest == given.manifest


@pytest.mark.parametrize(
    "keyspace",
    [
        Keyspace("other", secret=b"of acme"),
        Keyspace("acme", secret=b"another"),
        Keyspace("acme", policy="public", secret=b"of acme"),
    ],
    ids=["tenant", "secret", "policy"],
)
def test_another_tenant_finds_nothing(place: Place, keyspace: Keyspace) -> None:
    given = publish(place.storage)
    other = place.another(keyspace)
    with pytest.raises(DonorMissingFault):
        other.resolve("donor")
    stored = publish(other)
    assert not {block.key for block in stored.manifest.blocks} & {
        block.key for block in given.manifest.blocks
    }


class TestPublish:
    def test_a_second_writer_of_a_content_learns_whose_bytes_are_there(self, place: Place) -> None:
        given = publish(place.storage)
        others = payloads(layout(), 8, seed=2)
        manifest = place.storage.publish(
            NewDonor("again", layout(), contents(8, 1000)), joined(others)
        )
        assert manifest.blocks == given.manifest.blocks
        states, slots = fetched(place, Given(manifest, given.blocks), list(range(8)))
        assert (states == BlockState.VERIFIED).all()
        assert (slots[:, :4096] == np.stack(given.blocks)).all()

    @pytest.mark.parametrize("generation", [2, 3])
    def test_what_is_not_newer_is_refused(self, place: Place, generation: int) -> None:
        publish(place.storage, generation=3)
        with pytest.raises(GenerationFault, match=f"generation {generation} is offered"):
            publish(place.storage, generation=generation)

    def test_a_newer_generation_takes_the_place(self, place: Place) -> None:
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
    def test_what_does_not_fit_is_refused(
        self, place: Place, offered: dict[str, Any], said: str
    ) -> None:
        with pytest.raises((DocumentFault, ArgumentFault), match=said):
            publish(place.storage, rows=len(offered.get("contents", "12")), **offered)
        with pytest.raises(DonorMissingFault):
            place.storage.resolve("donor")


class TestDamage:
    CASES = {  # noqa: RUF012
        "missing": (lambda value: None, BlockState.MISSING),
        "truncated": (lambda value: value[:-1], BlockState.WRONG_SIZE),
        "empty": (lambda value: b"", BlockState.WRONG_SIZE),
        "lengthened": (lambda value: value + b"\0", BlockState.WRONG_SIZE),
        "a bit": (lambda value: bytes([value[0] ^ 1]) + value[1:], BlockState.CORRUPT),
        "another block": (lambda value: value[::-1], BlockState.CORRUPT),
    }

    @pytest.mark.parametrize(("change", "state"), CASES.values(), ids=CASES)
    def test_one_block_alone_is_struck(self, place: Place, change: Any, state: BlockState) -> None:
        given = publish(place.storage)
        place.damage(bytes.fromhex(given.manifest.blocks[3].key), change)
        states, slots = fetched(place, given, list(range(8)))
        assert states.tolist() == [BlockState.VERIFIED] * 3 + [state] + [BlockState.VERIFIED] * 4
        others = [0, 1, 2, 4, 5, 6, 7]
        assert (slots[others, :4096] == np.stack(given.blocks)[others]).all()

    def test_without_verification_a_block_has_landed_at_best(self, place: Place) -> None:
        given = publish(place.storage)
        place.damage(bytes.fromhex(given.manifest.blocks[0].key), lambda value: value[::-1])
        states, _ = fetched(place, given, list(range(8)), verify=False)
        assert (states == BlockState.LANDED).all()


class TestLeases:
    def test_blocks_of_a_lease_that_ended_do_not_count(self, place: Place) -> None:
        given = publish(place.storage)
        donor = place.storage.resolve(given.name)
        lease = place.storage.lease(donor, 10)
        place.clock.now += 10
        fetch = Fetch(lease, np.arange(2), np.arange(2) * 4096)
        (states,) = place.storage.retrieve([fetch], np.zeros(8192, np.uint8))
        assert states.tolist() == [BlockState.EXPIRED] * 2

    def test_an_ended_lease_does_not_strike_another(self, place: Place) -> None:
        donor = place.storage.resolve(publish(place.storage).name)
        short, long = (place.storage.lease(donor, seconds) for seconds in (1, 10))
        place.clock.now += 5
        fetches = [
            Fetch(lease, np.arange(1), np.array([at * 4096]))
            for at, lease in enumerate((short, long))
        ]
        ended, held = place.storage.retrieve(fetches, np.zeros(8192, np.uint8))
        assert (ended[0], held[0]) == (BlockState.EXPIRED, BlockState.VERIFIED)

    def test_what_is_leased_is_not_removed(self, place: Place) -> None:
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

    def test_a_lease_that_has_ended_keeps_nothing(self, place: Place) -> None:
        place.storage.lease(place.storage.resolve(publish(place.storage).name), 10)
        place.clock.now += 10
        place.storage.remove("donor")

    def test_another_generation_gives_no_lease(self, place: Place) -> None:
        publish(place.storage, generation=1)
        donor = place.storage.resolve("donor")
        publish(place.storage, generation=2, seed=2)
        with pytest.raises(GenerationFault, match="generation 1 was resolved"):
            place.storage.lease(donor, 10)

    @pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "1"])
    def test_a_lease_has_an_end(self, place: Place, seconds: Any) -> None:
        donor = place.storage.resolve(publish(place.storage).name)
        with pytest.raises(ArgumentFault, match="seconds"):
            place.storage.lease(donor, seconds)


def test_many_donors_are_fetched_at_once(place: Place) -> None:
    givens = [
        publish(place.storage, f"donor {i}", shape=layout(100, 9000), seed=1 + i) for i in range(3)
    ]
    leases = [place.storage.lease(place.storage.resolve(given.name), 10) for given in givens]
    out = np.zeros(3 * 9000, np.uint8)
    fetches = [Fetch(lease, np.array([5]), np.array([i * 9000])) for i, lease in enumerate(leases)]
    states = place.storage.retrieve(fetches, out)
    assert [found.tolist() for found in states] == [[BlockState.VERIFIED]] * 3
    for slot, given in zip(out.reshape(3, 9000), givens, strict=True):
        assert (slot == given.blocks[5]).all()


@pytest.mark.parametrize("kind", [np.int32, np.uint64], ids=lambda kind: kind.__name__)
def test_numbers_of_blocks_may_be_of_any_kind_of_integer(place: Place, kind: Any) -> None:
    given = publish(place.storage)
    lease = place.storage.lease(place.storage.resolve(given.name), 10)
    out = np.zeros(12288, np.uint8)
    fetches = [
        Fetch(lease, np.array([6, 2], kind), np.array([4096, 0], kind)),
        Fetch(lease, np.array([1]), np.array([8192])),
    ]
    states = place.storage.retrieve(fetches, out)
    assert [found.tolist() for found in states] == [
        [BlockState.VERIFIED] * 2,
        [BlockState.VERIFIED],
    ]
    assert (out == np.concatenate([given.blocks[block] for block in (2, 6, 1)])).all()


@pytest.mark.parametrize("size", [4096, 300_000], ids=str)
def test_each_donor_is_checked_by_the_algorithm_of_its_manifest(rig: Rig, size: int) -> None:
    """All of one batch: one block of each donor is damaged, and one lease has ended."""
    place = on_a_namespace(rig)
    givens = [
        publish(KvStorage(rig.kv, TENANT, checksum=checksum), name, shape=layout(size), seed=seed)
        for seed, (name, checksum) in enumerate(
            [("a", "xxh3-128"), ("b", "blake2b-128"), ("c", "xxh3-128"), ("d", "blake2b-128")], 1
        )
    ]
    leases = [place.storage.lease(place.storage.resolve(given.name), 10) for given in givens]
    for given, block in zip(givens, (1, 0, 2, 3), strict=True):
        place.damage(bytes.fromhex(given.manifest.blocks[block].key), lambda v: v[:-1] + b"?")
    place.storage.release(leases[2])
    out = np.zeros((4, 4 * size), np.uint8)
    fetches = [
        Fetch(lease, np.arange(4), 4 * size * at + size * np.arange(4))
        for at, lease in enumerate(leases)
    ]
    good, bad, ended = BlockState.VERIFIED, BlockState.CORRUPT, BlockState.EXPIRED
    assert [found.tolist() for found in place.storage.retrieve(fetches, out)] == [
        [good, bad, good, good],
        [bad, good, good, good],
        [ended] * 4,
        [good, good, good, bad],
    ]
    assert (out[0, :size] == givens[0].blocks[0]).all()


def test_what_a_publisher_changes_afterwards_is_not_resolved(place: Place) -> None:
    scaling: dict[str, str | int | float | bool] = {"type": "yarn", "factor": 4}
    shape = with_fields(layout(), rope=Rope(base=500000, scaling=scaling))
    manifest = publish(place.storage, shape=shape).manifest
    shape.rope.scaling["factor"] = 8  # type: ignore[union-attr]
    found = place.storage.resolve("donor").manifest
    assert found.layout.rope == Rope(base=500000, scaling={"type": "yarn", "factor": 4})
    assert found == manifest


def test_nothing_to_retrieve_is_no_fault(place: Place) -> None:
    assert place.storage.retrieve([], np.zeros(0, np.uint8)) == []


def test_costs_count_commands_and_bytes(place: Place) -> None:
    given = publish(place.storage, shape=layout(100, 20000))
    donor = place.storage.resolve(given.name)
    cost = place.storage.estimate_fetch_cost(donor, np.arange(4))
    assert (cost.bytes, cost.seconds) == (40200, None)
    fetched(place, given, list(range(16)))
    if cost.commands == 4:  # in memory nothing is split
        return
    assert cost.commands == 2 + 2 * 3
    assert (place.storage.estimate_fetch_cost(donor, np.arange(4)).seconds or 0) > 0


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


class TestBuffers:
    @pytest.mark.parametrize(
        ("out", "offset"),
        [
            (np.zeros(4095, np.uint8), 0),
            (np.zeros(8192, np.uint8), 4100),
            (np.zeros(8192, np.uint8), -4096),
            (bytes(4096), 0),
        ],
        ids=["too small", "past the end", "before the begin", "read-only"],
    )
    def test_one_that_does_not_fit_is_refused(self, place: Place, out: Any, offset: int) -> None:
        donor = place.storage.resolve(publish(place.storage).name)
        lease = place.storage.lease(donor, 10)
        with pytest.raises(ArgumentFault, match=r"leaves|read-only"):
            place.storage.retrieve([Fetch(lease, np.array([0]), np.array([offset]))], out)
        assert not np.frombuffer(out, np.uint8).any()

    @pytest.mark.parametrize(
        "payloads", [bytes(8191), bytes(8196), np.zeros(8192, np.float32)], ids=len
    )
    def test_payloads_are_as_long_as_the_blocks(self, place: Place, payloads: Any) -> None:
        """An array of another dtype is the usual case of longer ones."""
        with pytest.raises(ArgumentFault, match=r"payloads have .* the blocks have 8192"):
            place.storage.publish(NewDonor("donor", layout(), contents(2)), payloads)
        with pytest.raises(DonorMissingFault):
            place.storage.resolve("donor")

    @pytest.mark.parametrize(
        ("blocks", "offsets", "said"),
        [
            ([0], [1], "multiples of 4"),
            ([0, 1], [0, 4092], "slots overlap"),
            ([1, 0], [4096, 4096], "slots overlap"),
            ([8], [0], "the donor has blocks 0 to 7"),
            ([-1], [0], "the donor has blocks 0 to 7"),
            ([0, 1], [0], "offsets"),
        ],
    )
    def test_fetches_that_cannot_be_are_refused(
        self, place: Place, blocks: list[int], offsets: list[int], said: str
    ) -> None:
        donor = place.storage.resolve(publish(place.storage).name)
        lease = place.storage.lease(donor, 10)
        fetch = Fetch(lease, np.array(blocks), np.array(offsets))
        with pytest.raises(ArgumentFault, match=said):
            place.storage.retrieve([fetch], np.zeros(16384, np.uint8))
        before = Fetch(lease, np.array([2, 3]), np.array([8192, 12288]))
        with pytest.raises(ArgumentFault, match=rf"fetches(\[1\].*|: ){said}"):
            place.storage.retrieve([before, fetch], np.zeros(16384, np.uint8))

    def test_slots_of_two_donors_that_overlap_are_refused(self, place: Place) -> None:
        leases = [
            place.storage.lease(place.storage.resolve(publish(place.storage, name).name), 10)
            for name in ("one", "two")
        ]
        fetches = [
            Fetch(leases[0], np.array([0, 1]), np.array([0, 8192])),
            Fetch(leases[1], np.array([0]), np.array([4096])),
        ]
        out = np.zeros(16384, np.uint8)
        assert len(place.storage.retrieve(fetches, out)) == 2
        fetches[1] = Fetch(leases[1], np.array([0]), np.array([4100]))
        with pytest.raises(ArgumentFault, match="slots overlap"):
            place.storage.retrieve(fetches, out)

    @pytest.mark.parametrize("donor", [("donor", -1), ("donor", 1 << 32), (5, 0), ("", 0)])
    def test_what_is_no_donor_is_refused(self, place: Place, donor: Any) -> None:
        with pytest.raises((ArgumentFault, DonorMissingFault)):
            place.storage.resolve(*donor)

    def test_a_donor_has_blocks(self, place: Place) -> None:
        with pytest.raises(DocumentFault, match="contents: none"):
            place.storage.publish(NewDonor("donor", layout(), []), b"")

    def test_contents_are_bytes(self, place: Place) -> None:
        donor = NewDonor("donor", layout(), ["a" * 32])  # type: ignore[list-item]
        with pytest.raises(ArgumentFault, match="a content digest is 'aaa"):
            place.storage.publish(donor, bytes(4096))


def test_removing_takes_the_parts_of_whoever_stored_them(rig: Rig) -> None:
    writer = KvStorage(rig.kv, TENANT, part_bytes=4096)
    publish(writer, shape=layout(20000))
    on_a_namespace(rig).storage.remove("donor", blocks=True)
    assert list(rig.kv.list()) == []


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


class TestRepair:
    CHANGES = {  # noqa: RUF012
        "missing": lambda value: None,
        "truncated": lambda value: value[:-4],
        "a bit": lambda value: bytes([value[0] ^ 1]) + value[1:],
    }

    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
    def test_what_is_damaged_is_stored_again(self, place: Place, change: Any) -> None:
        shape = layout(100, 20000)
        given = publish(place.storage, shape=shape)
        place.damage(bytes.fromhex(given.manifest.blocks[3].key), change)
        place.storage.publish(
            NewDonor("donor", shape, contents(8, 1000)), joined(given.blocks), repair=True
        )
        states, slots = fetched(place, given, list(range(16)))
        assert (states == BlockState.VERIFIED).all()
        assert (slots[3, :20000] == given.blocks[3]).all()

    def test_what_is_whole_stays_as_it_is(self, place: Place) -> None:
        given = publish(place.storage)
        others = joined(payloads(layout(), 8, seed=2))
        offer = NewDonor("another", layout(), contents(8, 1000))
        manifest = place.storage.publish(offer, others, repair=True)
        assert manifest.blocks == given.manifest.blocks
        states, _ = fetched(place, given, list(range(8)))
        assert (states == BlockState.VERIFIED).all()

    def test_an_older_generation_stays_refused(self, place: Place) -> None:
        given = publish(place.storage, generation=3)
        offer = NewDonor("donor", layout(), contents(8, 1000), generation=2)
        with pytest.raises(GenerationFault):
            place.storage.publish(offer, joined(given.blocks), repair=True)

    def test_what_a_writer_left_who_was_interrupted_is_stored_over(self, rig: Rig) -> None:
        """Values of other last bits, and no record."""
        place = on_a_namespace(rig)
        given = publish(place.storage, shape=layout(20000))
        rig.kv.delete(record_keys(place.storage.resolve("donor").table.digests)).raise_for_status()
        others = payloads(layout(20000), 8, seed=2)
        offer = NewDonor("donor", layout(20000), contents(8, 1000), generation=1)
        with pytest.raises(PublishFault, match="block 0: CONFLICT"):
            place.storage.publish(offer, joined(others))
        manifest = place.storage.publish(offer, joined(others), repair=True)
        states, slots = fetched(place, Given(manifest, given.blocks), list(range(8)))
        assert (states == BlockState.VERIFIED).all()
        assert (slots[:, :20000] == np.stack(others)).all()

    def test_a_head_that_cannot_be_read_is_published_over_or_removed(self, rig: Rig) -> None:
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

    def test_a_head_of_another_donor_is_not_removed(self, rig: Rig) -> None:
        storage = on_a_namespace(rig).storage
        publish(storage, "one")
        head = bytearray(4096)
        size = int(rig.kv.retrieve([TENANT.donor_key("one", 0)], head).value_size[0])
        rig.kv.store([TENANT.donor_key("two", 0)], [bytes(head[:size])]).raise_for_status()
        with pytest.raises(DocumentFault, match="is the head of donor 'one'"):
            storage.remove("two")
        assert storage.resolve("one")


def test_blocks_that_another_donor_has_leased_stay(place: Place) -> None:
    given = publish(place.storage, "one")
    place.storage.publish(NewDonor("two", layout(), contents(8, 1000)), joined(given.blocks))
    lease = place.storage.lease(place.storage.resolve("one"), 10)
    place.storage.remove("two", blocks=True)
    assert place.storage.present(lease.donor.table.digests).all()
    place.storage.release(lease)
    place.storage.remove("one", blocks=True)
    assert not place.storage.present(lease.donor.table.digests).any()


def test_an_older_manifest_does_not_stay(rig: Rig) -> None:
    storage = on_a_namespace(rig).storage
    seen = []
    for generation in range(3):
        publish(storage, generation=generation)
        seen.append(len(list(rig.kv.list())))
    assert len(set(seen)) == 1


def test_many_donors_take_as_few_batches_as_one(rig: Rig) -> None:
    publisher, storage = on_a_namespace(rig).storage, on_a_namespace(rig).storage
    names = [f"donor {index}" for index in range(8)]
    for seed, name in enumerate(names, start=1):
        publish(publisher, name, seed=seed)
    batches: list[int] = []
    retrieve = rig.kv.retrieve

    def counted(keys: Any, *arguments: Any, **options: Any) -> Any:
        batches.append(len(keys))
        return retrieve(keys, *arguments, **options)

    rig.kv.retrieve = counted  # type: ignore[method-assign]
    found = storage.resolve_all([*names, "nobody"])
    assert batches == [9, 8]
    assert [type(one).__name__ for one in found] == ["Donor"] * 8 + ["DonorMissingFault"]
    leases = storage.lease_all([one for one in found if isinstance(one, Donor)], 10)
    assert batches == [9, 8, 8]
    assert [one.donor.manifest.donor for one in leases if isinstance(one, Lease)] == names
    storage.resolve_all(names)
    assert batches == [9, 8, 8, 8], "manifests are remembered"
    publisher.resolve_all(names)
    assert batches == [9, 8, 8, 8, 8], "so are those that were published"
