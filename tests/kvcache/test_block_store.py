"""Blocks by content on a namespace: two writers, collisions, interrupted writers, splitting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from xiokv.runtime import Operation
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.block_store import BlockStore
from xiokv.runtime.kvcache.keyspace import Keyspace, part_key, record_keys
from xiokv.runtime.kvcache.records import RECORD
from xiokv.runtime.kvcache.states import BlockState, PutState
from xiokv.runtime.testing import Rig

COUNT = 6
SIZES = {"one value": 4096, "three values": 20000, "odd": 8193, "tiny": 1}

Blocks = npt.NDArray[np.uint8]


@pytest.fixture
def store(rig: Rig) -> BlockStore:
    return BlockStore(rig.kv)


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def size(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def digests() -> Any:
    return Keyspace("acme").digests(b"l" * 32, [bytes([index]) * 32 for index in range(COUNT)])


def blocks(size: int, seed: int = 1) -> Blocks:
    """Return blocks that are not equal in any byte to those of another seed."""
    first = np.random.default_rng(9).integers(0, 256, (COUNT, size), np.uint8)
    return first + np.uint8(seed)


def padded(given: Blocks) -> Blocks:
    return np.ascontiguousarray(np.pad(given, ((0, 0), (0, -given.shape[1] % 4))))


def put(store: BlockStore, digests: Any, given: Blocks, **options: Any) -> list[PutState]:
    states = store.put(digests, padded(given), sizes=given.shape[1], **options).states
    return [PutState(state) for state in states.tolist()]


def got(store: BlockStore, digests: Any, size: int, **options: Any) -> tuple[list[int], Blocks]:
    out = np.zeros((len(digests), size + -size % 4), np.uint8)
    states = store.get(digests, out, sizes=size, **options)
    return states.tolist(), out[:, :size]


def change(rig: Rig, key: bytes, value: bytes | None) -> None:
    """Put another value under a key, or none."""
    if value is None:
        rig.kv.delete([key]).raise_for_status()
    else:
        rig.kv.store([key], [value]).raise_for_status()


def test_blocks_come_back(store: BlockStore, digests: Any, size: int) -> None:
    given = blocks(size)
    assert put(store, digests, given) == [PutState.STORED] * COUNT
    states, out = got(store, digests, size)
    assert states == [BlockState.VERIFIED] * COUNT
    assert (out == given).all()


def test_the_first_of_two_writers_stays(store: BlockStore, digests: Any, size: int) -> None:
    first, second = blocks(size), blocks(size, 2)
    one = store.put(digests, padded(first), sizes=size)
    other = store.put(digests, padded(second), sizes=size)
    assert other.states.tolist() == [PutState.SHARED] * COUNT
    assert (other.checksums == one.checksums).all()
    states, out = got(store, digests, size, checksums=other.checksums)
    assert states == [BlockState.VERIFIED] * COUNT
    assert (out == first).all()


def test_replace_stores_over_what_is_there(store: BlockStore, digests: Any, size: int) -> None:
    put(store, digests, blocks(size))
    assert put(store, digests, blocks(size, 2), replace=True) == [PutState.STORED] * COUNT
    states, out = got(store, digests, size)
    assert states == [BlockState.VERIFIED] * COUNT
    assert (out == blocks(size, 2)).all()


class TestWritersThatWereInterrupted:
    """Values without a record: of the same bytes, of others, and some of each."""

    def test_the_same_bytes_are_taken_over(
        self, rig: Rig, store: BlockStore, digests: Any, size: int
    ) -> None:
        put(store, digests, blocks(size))
        rig.kv.delete(record_keys(digests)).raise_for_status()
        assert not store.exist(digests).any()
        assert put(store, digests, blocks(size)) == [PutState.STORED] * COUNT
        assert store.exist(digests).all()

    def test_other_bytes_are_a_conflict_until_they_are_replaced(
        self, rig: Rig, store: BlockStore, digests: Any, size: int
    ) -> None:
        put(store, digests, blocks(size))
        rig.kv.delete(record_keys(digests)).raise_for_status()
        assert put(store, digests, blocks(size, 2)) == [PutState.CONFLICT] * COUNT
        assert got(store, digests, size)[0] == [BlockState.MISSING] * COUNT
        assert put(store, digests, blocks(size, 2), replace=True) == [PutState.STORED] * COUNT

    def test_a_mixture_of_two_writers_is_never_taken(
        self, rig: Rig, store: BlockStore, digests: Any
    ) -> None:
        size = 20000
        put(store, digests, blocks(size))
        rig.kv.delete(record_keys(digests)).raise_for_status()
        rig.kv.delete([part_key(digest[:16].tobytes(), 1) for digest in digests])
        # The second part is now the second writer's, the rest the first's.
        assert put(store, digests, blocks(size, 2)) == [PutState.CONFLICT] * COUNT
        assert got(store, digests, size)[0] == [BlockState.MISSING] * COUNT

    def test_what_lies_behind_no_first_value_is_stored_over(
        self, rig: Rig, store: BlockStore, digests: Any
    ) -> None:
        size = 20000
        put(store, digests, blocks(size))
        rig.kv.delete(record_keys(digests)).raise_for_status()
        rig.kv.delete([digest[:16].tobytes() for digest in digests]).raise_for_status()
        assert put(store, digests, blocks(size, 2)) == [PutState.STORED] * COUNT
        states, out = got(store, digests, size)
        assert states == [BlockState.VERIFIED] * COUNT
        assert (out == blocks(size, 2)).all()

    @pytest.mark.parametrize(("seed", "state"), [(1, PutState.SHARED), (2, PutState.CONFLICT)])
    def test_a_value_that_was_evicted_comes_back_from_the_same_bytes_alone(
        self, rig: Rig, store: BlockStore, digests: Any, seed: int, state: PutState
    ) -> None:
        size = 20000
        put(store, digests, blocks(size))
        rig.kv.delete([part_key(digest[:16].tobytes(), 1) for digest in digests])
        assert put(store, digests, blocks(size, seed)) == [state] * COUNT


class TestRecords:
    def test_a_record_without_its_block_takes_the_new_bytes(
        self, rig: Rig, store: BlockStore, digests: Any, size: int
    ) -> None:
        """The device may have evicted the values; the record then speaks of other bytes."""
        put(store, digests, blocks(size))
        record = bytearray(RECORD.itemsize)
        rig.kv.retrieve(record_keys(digests)[:1], record, copy=True).raise_for_status()
        store.delete(digests[:1], sizes=size)
        change(rig, record_keys(digests)[0].tobytes(), bytes(record))
        assert put(store, digests, blocks(size, 2))[0] == PutState.STORED
        states, out = got(store, digests[:1], size)
        assert states == [BlockState.VERIFIED]
        assert (out == blocks(size, 2)[:1]).all()

    def test_a_content_with_the_same_key_is_told_apart(
        self, rig: Rig, store: BlockStore, digests: Any, size: int
    ) -> None:
        put(store, digests, blocks(size))
        other = digests.copy()
        other[:, 16:] ^= 1  # BLAKE2b gives no two digests that begin with the same 16 bytes
        assert put(store, other, blocks(size, 2)) == [PutState.COLLISION] * COUNT
        assert put(store, other, blocks(size, 2), replace=True) == [PutState.COLLISION] * COUNT
        assert got(store, other, size)[0] == [BlockState.COLLISION] * COUNT
        states, out = got(store, digests, size)
        assert states == [BlockState.VERIFIED] * COUNT
        assert (out == blocks(size)).all()

    def test_it_is_told_apart_by_a_store_of_another_algorithm(
        self, rig: Rig, store: BlockStore, digests: Any
    ) -> None:
        put(store, digests, blocks(4096))
        other, another = digests.copy(), BlockStore(rig.kv, checksum="blake2b-128")
        other[:, 16:] ^= 1
        assert put(another, other, blocks(4096, 2)) == [PutState.COLLISION] * COUNT
        assert put(another, other, blocks(4096, 2), replace=True) == [PutState.COLLISION] * COUNT
        assert got(another, other, 4096)[0] == [BlockState.COLLISION] * COUNT
        assert (got(store, digests, 4096)[1] == blocks(4096)).all()

    @pytest.mark.parametrize(
        "record", [b"", b"x" * RECORD.itemsize, bytes(RECORD.itemsize), bytes(RECORD.itemsize + 1)]
    )
    def test_what_is_no_record_is_not_believed(
        self, rig: Rig, store: BlockStore, digests: Any, record: bytes
    ) -> None:
        put(store, digests, blocks(4096))
        change(rig, record_keys(digests)[2].tobytes(), record)
        states, _ = got(store, digests, 4096)
        assert [state == BlockState.VERIFIED for state in states] == [
            index != 2 for index in range(COUNT)
        ]
        assert put(store, digests, blocks(4096, 2))[2] in (PutState.CONFLICT, PutState.COLLISION)

    @pytest.mark.parametrize("byte", range(RECORD.itemsize))
    def test_a_record_with_a_flipped_bit_is_none(
        self, rig: Rig, store: BlockStore, digests: Any, byte: int
    ) -> None:
        """It speaks of no other content, size or algorithm, and the same bytes make it good."""
        put(store, digests, blocks(4096))
        key = record_keys(digests)[2].tobytes()
        record = bytearray(RECORD.itemsize)
        rig.kv.retrieve([key], record, copy=True).raise_for_status()
        record[byte] ^= 1
        change(rig, key, bytes(record))
        assert got(store, digests, 4096)[0][2] == BlockState.CORRUPT
        assert put(store, digests[2:3], blocks(4096)[2:3]) == [PutState.STORED]
        assert got(store, digests, 4096)[0] == [BlockState.VERIFIED] * COUNT

    def test_repair_stores_over_what_a_damaged_record_is_of(
        self, rig: Rig, store: BlockStore, digests: Any
    ) -> None:
        put(store, digests, blocks(4096))
        rig.faults.flip([record_keys(digests)[2].tobytes()])
        assert put(store, digests, blocks(4096, 2))[2] == PutState.CONFLICT
        assert put(store, digests, blocks(4096, 2), repair=True)[2] == PutState.STORED
        assert got(store, digests, 4096)[0] == [BlockState.VERIFIED] * COUNT

    def test_another_size_is_told(self, store: BlockStore, digests: Any) -> None:
        put(store, digests, blocks(4096))
        assert got(store, digests, 4092)[0] == [BlockState.WRONG_SIZE] * COUNT
        assert put(store, digests, blocks(4092)) == [PutState.CONFLICT] * COUNT


def test_one_block_that_fails_does_not_strike_the_others(
    rig: Rig, store: BlockStore, digests: Any, size: int
) -> None:
    rig.faults.fail([digests[3, :16].tobytes()], operation=Operation.STORE)
    states = put(store, digests, blocks(size))
    assert states == [PutState.FAILED if index == 3 else PutState.STORED for index in range(COUNT)]
    rig.faults.clear()
    assert store.exist(digests).tolist() == [index != 3 for index in range(COUNT)]


def test_a_failed_record_leaves_its_block_unpublished(
    rig: Rig, store: BlockStore, digests: Any
) -> None:
    rig.faults.fail([record_keys(digests)[3].tobytes()], operation=Operation.STORE)
    states = put(store, digests, blocks(4096))
    assert states[3] == PutState.FAILED
    assert states.count(PutState.STORED) == COUNT - 1


def test_deleting_takes_block_and_record(store: BlockStore, digests: Any, size: int) -> None:
    put(store, digests, blocks(size))
    store.delete(digests[:2], sizes=size)
    assert store.exist(digests).tolist() == [False] * 2 + [True] * (COUNT - 2)
    assert len(list(store.kv.list())) == (COUNT - 2) * (1 + -(-size // store.part_bytes))
    store.delete(digests, sizes=size)
    assert list(store.kv.list()) == []


def test_a_call_is_one_batch_however_many_parts(rig: Rig, store: BlockStore, digests: Any) -> None:
    put(store, digests, blocks(20000))
    checksums = store.put(digests, padded(blocks(20000)), sizes=20000).checksums
    before = rig.controller.counters().commands
    got(store, digests, 20000, checksums=checksums)
    assert rig.controller.counters().commands - before == 3 * COUNT


@pytest.mark.parametrize("algorithm", ["xxh3-128", "blake2b-128"])
def test_each_algorithm_finds_a_flipped_bit(rig: Rig, digests: Any, algorithm: Any) -> None:
    store = BlockStore(rig.kv, checksum=algorithm)
    put(store, digests, blocks(4096))
    rig.faults.flip([digests[1, :16].tobytes()])
    assert got(store, digests, 4096)[0] == [BlockState.VERIFIED, BlockState.CORRUPT] + [
        BlockState.VERIFIED
    ] * (COUNT - 2)


def test_a_record_of_another_algorithm_is_not_taken_for_a_match(rig: Rig, digests: Any) -> None:
    put(BlockStore(rig.kv, checksum="blake2b-128"), digests, blocks(4096))
    assert got(BlockStore(rig.kv), digests, 4096)[0] == [BlockState.CORRUPT] * COUNT


class TestArguments:
    @pytest.fixture(autouse=True)
    def _nothing_is_submitted(self, rig: Rig) -> Iterator[None]:
        before = rig.controller.counters().commands
        yield
        assert rig.controller.counters().commands == before

    @pytest.mark.parametrize("part_bytes", [0, 3, 6, 8196, -4, "4096", 4096.0])
    def test_parts_have_a_size_that_the_namespace_takes(self, rig: Rig, part_bytes: Any) -> None:
        with pytest.raises(ArgumentFault, match="part_bytes"):
            BlockStore(rig.kv, part_bytes=part_bytes)

    def test_checksums_are_of_a_known_kind(self, rig: Rig) -> None:
        with pytest.raises(ArgumentFault, match="allowed are xxh3-128, blake2b-128"):
            BlockStore(rig.kv, checksum="md5")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "wrong", [b"d" * 32, np.zeros((2, 16), np.uint8), np.zeros((2, 32), np.int8), [b"d" * 32]]
    )
    def test_digests_are_rows_of_32_bytes(self, store: BlockStore, wrong: Any) -> None:
        with pytest.raises(ArgumentFault, match="digests are an"):
            store.get(wrong, bytearray(8192), sizes=4096)

    @pytest.mark.parametrize("sizes", [0, -1, [4096], "4096", [0] * COUNT])
    def test_blocks_have_sizes(self, store: BlockStore, digests: Any, sizes: Any) -> None:
        with pytest.raises(ArgumentFault, match="sizes"):
            store.get(digests, bytearray(COUNT * 4096), sizes=sizes)

    def test_a_buffer_that_is_too_small_is_refused(self, store: BlockStore, digests: Any) -> None:
        with pytest.raises(ArgumentFault):
            store.put(digests, bytearray(COUNT * 4096 - 1), sizes=4096)
        with pytest.raises(ArgumentFault):
            store.get(digests, bytearray(COUNT * 4096 - 1), sizes=4096, checksums=digests[:, :16])

    @pytest.mark.parametrize("size", [1 << 40, (1 << 53) - 1, (1 << 63) - 1])
    def test_so_is_one_for_blocks_of_any_size(
        self, store: BlockStore, digests: Any, size: int
    ) -> None:
        with pytest.raises(ArgumentFault):
            store.put(digests, bytearray(8192), sizes=size)
        with pytest.raises(ArgumentFault):
            store.get(digests, bytearray(8192), sizes=size, checksums=digests[:, :16])


def test_no_blocks_are_no_fault(store: BlockStore) -> None:
    none = np.zeros((0, 32), np.uint8)
    assert store.put(none, b"", sizes=4096).states.tolist() == []
    assert store.get(none, bytearray(0), sizes=4096).tolist() == []
    assert store.exist(none).tolist() == []
    store.delete(none, sizes=4096)
