"""What every storage does: donors are published and resolved, their blocks retrieved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.kvcache.storage import Donor, DonorMissingFault, Fetch, Lease
from xiokv.runtime.testing import Rig

from .conftest import Place, on_a_namespace
from .donors import TENANT, layout, publish

SHAPES = {
    "one small shard": layout(4096),
    "shards of odd sizes": layout(1, 4095, 511),
    "a shard larger than a value": layout(20000, 8192, 8196),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_blocks_come_back_where_they_are_asked_for(place: Place, shape: Any) -> None:
    given = publish(place.storage, shape=shape)
    order = list(reversed(range(len(given.blocks))))
    states, slots = place.fetched(given, order)
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
        states, slots = place.fetched(given, list(range(8)))
        assert states.tolist() == [BlockState.VERIFIED] * 3 + [state] + [BlockState.VERIFIED] * 4
        others = [0, 1, 2, 4, 5, 6, 7]
        assert (slots[others, :4096] == np.stack(given.blocks)[others]).all()

    def test_without_verification_a_block_has_landed_at_best(self, place: Place) -> None:
        given = publish(place.storage)
        place.damage(bytes.fromhex(given.manifest.blocks[0].key), lambda value: value[::-1])
        states, _ = place.fetched(given, list(range(8)), verify=False)
        assert (states == BlockState.LANDED).all()


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


def test_nothing_to_retrieve_is_no_fault(place: Place) -> None:
    assert place.storage.retrieve([], np.zeros(0, np.uint8)) == []


def test_costs_count_commands_and_bytes(place: Place) -> None:
    given = publish(place.storage, shape=layout(100, 20000))
    donor = place.storage.resolve(given.name)
    cost = place.storage.estimate_fetch_cost(donor, np.arange(4))
    assert (cost.bytes, cost.seconds) == (40200, None)
    place.fetched(given, list(range(16)))
    if cost.commands == 4:  # in memory nothing is split
        return
    assert cost.commands == 2 + 2 * 3
    assert (place.storage.estimate_fetch_cost(donor, np.arange(4)).seconds or 0) > 0


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
