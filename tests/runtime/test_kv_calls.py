"""The calls, end to end: what a user stores under a key comes back, and only that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.generated.nvme_kv import Opcode, RetrieveOption, StoreOption, decode_command
from xiokv.runtime.abi import Outcome
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.results import BatchFault

OK, MISSING, EXISTS, TRUNCATED = (
    Outcome.OK,
    Outcome.MISSING,
    Outcome.EXISTS,
    Outcome.TRUNCATED,
)
ERROR = Outcome.ERROR


def blocks(count: int, size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, size), np.uint8)


def keys_of(count: int) -> list[bytes]:
    return [b"key-%d" % i for i in range(count)]


def commands(controller: Any) -> list[Any]:
    """Return the commands that the controller has fetched since the trace was started."""
    return [decode_command(record.data) for record in controller.trace() if record.kind == "sqe"]


@pytest.mark.parametrize("queues", [1, 3])
def test_what_was_stored_comes_back(attach, queues: int) -> None:
    _, kv = attach(queues=queues)
    keys, values = keys_of(700), blocks(700, 100)
    kv.store(keys, values).raise_for_status()
    out = np.zeros_like(values)
    result = kv.retrieve(keys, out)
    result.raise_for_status()
    assert (out == values).all()
    assert result.value_size.tolist() == [100] * 700


def test_keys_of_all_lengths_and_with_NULs_are_told_apart(attach) -> None:
    _, kv = attach()
    keys = [b"abcdefghijklmnop"[:n] for n in range(1, 17)]
    keys += [b"abcd\0", b"abcd\0\0", b"\0", b"\0\0", b"a\0b"]
    values = [b"value of " + key for key in keys]
    kv.store(keys, values).raise_for_status()
    out = np.zeros((len(keys), 32), np.uint8)
    result = kv.retrieve(keys, out, sizes=[len(value) for value in values])
    result.raise_for_status()
    assert [bytes(out[i, :size]) for i, size in enumerate(result.value_size)] == values


def test_array_keys_are_the_bytes_of_their_rows(attach) -> None:
    _, kv = attach()
    rows = np.arange(64, dtype=np.uint8).reshape(4, 16)
    kv.store(rows, blocks(4, 8), key_lengths=[1, 2, 15, 16]).raise_for_status()
    keys = [bytes([0]), bytes([16, 17]), bytes(range(32, 47)), bytes(range(48, 64))]
    assert kv.exist(keys).status.tolist() == [OK] * 4
    assert kv.exist(rows).status.tolist() == [MISSING] * 3 + [OK]


def test_exist_and_delete_say_what_is_there(attach) -> None:
    _, kv = attach({"delete_missing_fails": True})
    kv.store([b"a"], b"1234").raise_for_status()
    assert kv.exist([b"a", b"b"]).status.tolist() == [OK, MISSING]
    assert kv.delete([b"b", b"a"]).status.tolist() == [MISSING, OK]
    assert kv.exist([b"a"]).status.tolist() == [MISSING]


def test_if_absent_keeps_the_old_value(attach) -> None:
    _, kv = attach()
    kv.store([b"a"], b"old!")
    result = kv.store([b"a", b"b"], b"new!new?", if_absent=True)
    assert result.status.tolist() == [EXISTS, OK]
    result.raise_for_status()
    out = bytearray(8)
    kv.retrieve([b"a", b"b"], out)
    assert out == b"old!new?"


def test_if_present_creates_nothing(attach) -> None:
    _, kv = attach()
    kv.store([b"a"], b"old!")
    result = kv.store([b"a", b"b"], b"new!new?", if_present=True)
    assert result.status.tolist() == [OK, MISSING]
    result.raise_for_status()
    assert kv.exist([b"a", b"b"]).status.tolist() == [OK, MISSING]


STORE_OPTIONS = {
    "if_present": StoreOption.DONT_STORE_IF_KEY_NOT_EXISTS,
    "if_absent": StoreOption.DONT_STORE_IF_KEY_EXISTS,
    "no_compress": StoreOption.DONT_COMPRESS,
}


@pytest.mark.parametrize("given", [True, 2, "yes", np.True_])
@pytest.mark.parametrize("name", STORE_OPTIONS)
def test_store_options_reach_the_wire(attach, name: str, given: Any) -> None:
    controller, kv = attach()
    controller.trace_start()
    kv.store([b"a"], b"1234", **{name: given})
    assert [command.options for command in commands(controller)] == [STORE_OPTIONS[name]]


@pytest.mark.parametrize("given", [True, 2, "yes", np.True_])
def test_retrieve_raw_reaches_the_wire(attach, given: Any) -> None:
    controller, kv = attach()
    controller.trace_start()
    kv.retrieve([b"a"], bytearray(4), raw=given)
    assert [command.options for command in commands(controller)] == [RetrieveOption.RAW]


def test_every_command_is_well_formed(attach) -> None:
    controller, kv = attach({"strict": True})
    controller.trace_start()
    kv.store(keys_of(3), blocks(3, 8)).raise_for_status()
    kv.retrieve(keys_of(3), bytearray(24)).raise_for_status()
    kv.exist(keys_of(3)).raise_for_status()
    kv.delete(keys_of(3)).raise_for_status()
    list(kv.list())
    seen = commands(controller)
    assert [command.faults for command in seen] == [()] * 13
    assert [command.opcode for command in seen] == [
        *[Opcode.STORE] * 3,
        *[Opcode.RETRIEVE] * 3,
        *[Opcode.EXIST] * 3,
        *[Opcode.DELETE] * 3,
        Opcode.LIST,
    ]


def test_a_value_larger_than_its_slot_is_truncated_with_its_whole_size(attach) -> None:
    _, kv = attach()
    kv.store([b"a", b"b"], [bytes(range(100)), b"1234"]).raise_for_status()
    out = np.full((2, 16), 0xEE, np.uint8)
    result = kv.retrieve([b"a", b"b"], out)
    assert result.status.tolist() == [TRUNCATED, OK]
    assert result.value_size.tolist() == [100, 4]
    assert bytes(out[0]) == bytes(range(16))
    assert bytes(out[1]) == b"1234" + b"\xee" * 12


def test_a_slot_of_no_bytes_asks_for_the_size_alone(attach) -> None:
    _, kv = attach()
    kv.store([b"a", b"e"], [b"123456", b""]).raise_for_status()
    result = kv.retrieve([b"a", b"e"], bytearray(), sizes=0)
    assert result.status.tolist() == [TRUNCATED, OK]
    assert result.value_size.tolist() == [6, 0]


def test_sizes_and_offsets_are_each_keys_own(attach) -> None:
    _, kv = attach()
    memory = np.arange(256, dtype=np.uint8)
    kv.store(keys_of(3), memory, sizes=[10, 0, 33], offsets=[200, 0, 4]).raise_for_status()
    out = np.zeros(256, np.uint8)
    kv.retrieve(keys_of(3), out, sizes=[10, 4, 40], offsets=[0, 16, 64]).raise_for_status()
    expected = np.zeros(256, np.uint8)
    expected[:10] = memory[200:210]
    expected[64:97] = memory[4:37]
    assert (out == expected).all()


def test_a_key_given_twice_is_retrieved_twice(attach) -> None:
    _, kv = attach()
    kv.store([b"a", b"b"], b"aaaabbbb").raise_for_status()
    out = bytearray(16)
    kv.retrieve([b"a", b"b", b"a", b"a"], out).raise_for_status()
    assert out == b"aaaabbbbaaaaaaaa"


def test_a_key_stored_twice_has_one_of_its_values(attach) -> None:
    _, kv = attach(queues=2)
    values = blocks(600, 16)
    kv.store([b"same"] * 600, values).raise_for_status()
    out = np.zeros((1, 16), np.uint8)
    kv.retrieve([b"same"], out).raise_for_status()
    assert out.tolist()[0] in values.tolist()


@pytest.mark.parametrize("sct1", [False, True])
def test_statuses_with_either_type_mean_the_same(attach, sct1: bool) -> None:
    _, kv = attach({"sct1": sct1})
    kv.store([b"a"], b"1234")
    missing = kv.retrieve([b"b"], bytearray(4))
    exists = kv.store([b"a"], b"1234", if_absent=True)
    assert [*missing.status, *exists.status] == [MISSING, EXISTS]
    assert missing.nvme_status["sct"].tolist() == [int(sct1)]
    assert missing.nvme_status["sc"].tolist() == [0x87]


def test_a_store_that_returns_its_size_is_no_truncation(attach) -> None:
    _, kv = attach({"store_returns_size": True})
    result = kv.store([b"a"], b"12345678")
    assert (result.status.tolist(), result.value_size.tolist()) == ([OK], [0])


def test_a_full_namespace_is_an_error_of_that_key(attach) -> None:
    _, kv = attach({"max_keys": 2})
    result = kv.store(keys_of(3), blocks(3, 4))
    assert result.counts == {OK: 2, ERROR: 1}
    with pytest.raises(BatchFault, match="CAPACITY_EXCEEDED"):
        result.raise_for_status()


def test_no_key_sends_no_command(attach) -> None:
    controller, kv = attach()
    results = [
        kv.store([], b""),
        kv.retrieve([], bytearray()),
        kv.exist([]),
        kv.delete(np.zeros((0, 16), np.uint8)),
    ]
    for result in results:
        result.raise_for_status()
        assert (len(result), result.done, result.status.size) == (0, True, 0)
    assert controller.counters().commands == 0


LISTS: dict[str, dict[str, Any]] = {
    "sorted": {},
    "hashed": {"hashed_list": True},
    "wrapping": {"wrap_list": True},
    "hashed and wrapping": {"hashed_list": True, "wrap_list": True},
}


@pytest.mark.parametrize("options", LISTS.values(), ids=LISTS)
def test_list_returns_every_key_once(attach, options: dict[str, Any]) -> None:
    controller, kv = attach(options)
    keys = [b"%016d" % i for i in range(9000)]
    kv.store(keys, b"", sizes=0).raise_for_status()
    listed = list(kv.list())
    assert len(listed) == 9000
    assert set(listed) == set(keys)
    assert controller.counters().commands > 9002, "several pages were needed"


def test_list_of_nothing_is_empty(attach) -> None:
    _, kv = attach()
    assert list(kv.list()) == []


def test_list_begins_at_its_start_key_and_ends_at_its_limit(attach) -> None:
    _, kv = attach()
    keys = [b"%03d" % i for i in range(100)]
    kv.store(keys, b"", sizes=0).raise_for_status()
    assert list(kv.list(b"050", 3)) == [b"050", b"051", b"052"]
    assert list(kv.list(b"0505", 2)) == [b"051", b"052"]


def test_batched_retrieve_fills_its_buffer(attach) -> None:
    _, kv = attach(block_size=64)
    values = blocks(5, 64)
    kv.store(keys_of(5), values).raise_for_status()
    out = np.zeros(5 * 64, np.uint8)
    kv.xio_batched_kv_retrieve(keys_of(5), 5, out, None).raise_for_status()
    assert (out.reshape(5, 64) == values).all()


BATCHED: dict[str, tuple[int, int, str]] = {
    "other n": (4, 5 * 64, "n is 4, and there are 5"),
    "too large": (5, 6 * 64, "384 bytes; 5 blocks of 64 bytes have 320"),
    "too small": (5, 4 * 64, "256 bytes; 5 blocks"),
}


@pytest.mark.parametrize(("n", "size", "said"), BATCHED.values(), ids=BATCHED)
def test_batched_retrieve_wants_its_buffer_to_fit(attach, n: int, size: int, said: str) -> None:
    _, kv = attach(block_size=64)
    with pytest.raises(ArgumentFault, match=said):
        kv.xio_batched_kv_retrieve(keys_of(5), n, bytearray(size), None)


def test_batched_retrieve_wants_keys_that_can_be_counted(attach) -> None:
    _, kv = attach(block_size=64)
    with pytest.raises(ArgumentFault, match="keys is a generator"):
        kv.xio_batched_kv_retrieve((key for key in keys_of(5)), 5, bytearray(320), None)


def test_batched_retrieve_takes_what_retrieve_takes(attach) -> None:
    controller, kv = attach(block_size=64)
    controller.kill()
    result = kv.xio_batched_kv_retrieve([b"a"], 1, bytearray(64), None, raw=True, timeout=0.05)
    assert result.counts == {Outcome.TIMEOUT: 1}


def test_batched_retrieve_needs_a_block_size(attach) -> None:
    _, kv = attach()
    with pytest.raises(ArgumentFault, match="needs a block_size"):
        kv.xio_batched_kv_retrieve([b"a"], 1, bytearray(4), None)


def test_a_field_that_the_profile_does_not_declare_is_refused(attach) -> None:
    _, kv = attach()
    with pytest.raises(ArgumentFault, match=r"'tier'.*declares none"):
        kv.exist([b"a"], tier=1)


@pytest.mark.slow
def test_a_million_keys(attach) -> None:
    _, kv = attach(queues=2)
    keys = np.zeros((1_000_000, 16), np.uint8)
    keys[:, :8] = np.arange(1_000_000, dtype=">u8").view(np.uint8).reshape(-1, 8)
    values = np.arange(1_000_000, dtype="<u4")
    kv.store(keys, values).raise_for_status()
    out = np.zeros_like(values)
    kv.retrieve(keys, out).raise_for_status()
    assert (out == values).all()
