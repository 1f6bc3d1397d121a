"""The store on a cluster: every command but List, and what other clients of Ceph see of it."""

from __future__ import annotations

import os
import random
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.targets.device import Bytes, outcomes, random_values
from xiokv.runtime import KV, Emulator, Outcome
from xiokv.runtime.errors import ArgumentFault

from .attached import Attach, key_array, statuses

# All lengths; zero bytes, and keys that are others with something more.
KEYS = [
    *(bytes(range(64, 64 + length)) for length in range(1, 17)),
    *(b"abcd", b"abcd\0", b"abcd\0\0", b"abc", b"\0", b"\0\0", bytes(16), b"\xff" * 16),
    *(b"\0abc", b"ab\0cd", b"\n", b"/", b"..", b"\xc3\x28"),
]

EXEC, LENGTH, CHECKSUM = 0x83, 1, 2


def test_keys_of_every_length_are_told_apart(attach: Attach) -> None:
    kv, values = attach(), random_values(len(KEYS), 64)
    kv.store(KEYS, values).raise_for_status()
    out = np.zeros_like(values)
    kv.retrieve(KEYS, out).raise_for_status()
    assert (out == values).all()
    assert outcomes(kv.exist([*KEYS, b"ab", b"abcd\0\0\0", bytes(15)])) == [
        *["OK"] * len(KEYS),
        *["MISSING"] * 3,
    ]
    assert sorted(kv.list()) == sorted(KEYS)
    assert attach.cluster.names(attach.namespace) == sorted(key.hex() for key in KEYS)


def test_a_value_has_any_size(attach: Attach) -> None:
    """Also none, and one that a message of the cluster has to be cut for."""
    sizes = [0, 1, 3, 4, 511, 4095, 4096, 4097, 65535, 131072, (4 << 20) + 1, 32 << 20]
    kv = attach(controller={"value_max": 32 << 20}, depth=4)
    keys = [size.to_bytes(4, "little") for size in sizes]
    values = [random_values(1, size, size)[0] for size in sizes]
    kv.store(keys, values, copy=True).raise_for_status()
    for key, value in zip(keys, values, strict=True):
        out = np.full((1, max(-(-len(value) // 4), 1) * 4), 0xEE, np.uint8)
        result = kv.retrieve([key], out)
        assert (outcomes(result), result.value_size[0]) == (["OK"], len(value))
        assert (out[0, : len(value)] == value).all()
        assert (out[0, len(value) :] == 0xEE).all()
        stat = attach.cluster.rados("stat", key.hex(), namespace=attach.namespace)
        assert stat.rstrip().endswith(b"size %d" % len(value))


def test_a_small_buffer_gets_the_first_bytes_and_the_true_size(attach: Attach) -> None:
    wire, value = attach.wire(), bytes(range(200)) * 30
    assert wire.store(b"key", value) == 0
    for size in (0, 1, 4, 100, 4096, 5999, 6000):
        assert wire.retrieve(b"key", size) == (0, 6000, value[:size])
    assert wire.retrieve(b"key", 6004) == (0, 6000, value + b"\xee" * 4)
    assert wire.retrieve(b"yek", 100) == (0x87, 0, b"\xee" * 100)
    assert wire.retrieve(b"yek", 0) == (0x87, 0, b"")


def test_values_around_the_buffers_size_are_told_apart_in_one_batch(attach: Attach) -> None:
    """Those that end with the buffer or before, and those that are larger, in any order."""
    kv, room, count = attach(depth=64, controller={"value_max": 8192}), 4096, 400
    keys = key_array(count)
    sizes = random.Random(6).choices([0, 8, room - 1, room, room + 1, 2 * room], k=count)
    values = [random_values(1, size, seed)[0] for seed, size in enumerate(sizes)]
    kv.store(keys, values, copy=True).raise_for_status()
    out = np.full((count, room), 0xEE, np.uint8)
    result = kv.retrieve(keys, out)
    assert result.value_size.tolist() == sizes
    assert outcomes(result) == ["OK" if size <= room else "TRUNCATED" for size in sizes]
    for row, value, size in zip(out, values, sizes, strict=True):
        assert (row[:size] == value[:room]).all()
        assert (row[size:] == 0xEE).all()


def test_a_second_store_replaces_the_whole_value(attach: Attach) -> None:
    """Nothing of a longer one is left behind a shorter one."""
    wire = attach.wire()
    for value in (b"first" * 1000, b"2nd", b"", b"fourth" * 100):
        assert wire.store(b"key", value) == 0
        size = len(value) + 8
        assert wire.retrieve(b"key", size) == (0, len(value), value + b"\xee" * 8)
        assert attach.cluster.get(b"key".hex(), namespace=attach.namespace) == value


def test_a_store_depends_on_whether_the_key_is_there(attach: Attach) -> None:
    kv, there = attach(block_size=8), [b"a", b"b"]
    first, second, third = (random_values(4, 8, seed) for seed in range(3))
    keys = [*there, b"c", b"d"]
    assert outcomes(kv.store(keys, first, if_present=True)) == ["MISSING"] * 4
    assert list(kv.list()) == []
    kv.store(there, first[:2]).raise_for_status()
    assert outcomes(kv.store(keys, second, if_present=True)) == ["OK", "OK", "MISSING", "MISSING"]
    assert outcomes(kv.store(keys, third, if_absent=True)) == ["EXISTS", "EXISTS", "OK", "OK"]
    out = np.zeros_like(first)
    kv.retrieve(keys, out).raise_for_status()
    assert (out == np.concatenate([second[:2], third[2:]])).all()


def test_of_two_that_store_what_is_absent_one_wins(attach: Attach) -> None:
    """Two controllers, each key by both at the same time: the loser finds the winner's value."""
    racers = [attach(queues=2, depth=64, block_size=64) for _ in range(2)]
    keys = key_array(1000)
    values = [random_values(len(keys), 64, seed) for seed in range(2)]
    for _ in range(10):
        won = race(racers, keys, values)
        for kv in racers:
            out = np.zeros_like(values[0])
            kv.retrieve(keys, out).raise_for_status()
            assert (out == np.where(won[:, None], *values)).all()
        if 0 < won.sum() < len(keys):
            return
        racers[0].delete(keys).raise_for_status()
    raise AssertionError("one was always late; this was no race")


def race(racers: list[KV], keys: Bytes, values: list[Bytes]) -> Any:
    """Store each key by both, from both ends; return which of them the first has won."""
    outcomes: list[Any] = [None, None]
    start = threading.Barrier(2)

    def run(racer: int) -> None:
        order = slice(None, None, 1 - 2 * racer)
        given = [np.ascontiguousarray(array[order]) for array in (keys, values[racer])]
        start.wait()
        outcomes[racer] = racers[racer].store(*given, if_absent=True).status[order]

    threads = [threading.Thread(target=run, args=(racer,)) for racer in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first_won = outcomes[0] == Outcome.OK
    assert (outcomes[0] == np.where(first_won, Outcome.OK, Outcome.EXISTS)).all()
    assert (outcomes[1] == np.where(first_won, Outcome.EXISTS, Outcome.OK)).all()
    return first_won


@pytest.mark.parametrize("fails", [False, True])
def test_delete_of_a_missing_key_is_as_the_controller_is_set(attach: Attach, fails: bool) -> None:
    kv = attach(controller={"delete_missing_fails": fails}, block_size=8)
    kv.store([b"a"], random_values(1, 8)).raise_for_status()
    assert outcomes(kv.delete([b"a"])) == ["OK"]
    assert outcomes(kv.delete([b"a", b"b"])) == ["MISSING" if fails else "OK"] * 2
    assert attach.cluster.names(attach.namespace) == []


def test_exec_works_on_the_whole_value(attach: Attach) -> None:
    wire, value = attach.wire(exec=True), b"123456789" * 900

    def run(operation: int, key: bytes) -> tuple[int, int, bytes]:
        payload = len(key).to_bytes(2, "little") + key
        wire.data.put(0, payload)
        image = bytearray(wire.sqe(EXEC, size=len(payload), prp1=wire.data.address))
        struct.pack_into("<II", image, 48, 8, operation)
        cqe = wire.run(bytes(image))
        return cqe.status, cqe.dw0, wire.data.get(0, cqe.dw0)

    assert wire.store(b"key", value) == 0
    assert run(LENGTH, b"key") == (0, 8, len(value).to_bytes(8, "little"))
    assert run(LENGTH, b"yek")[0] == 0x87
    assert wire.store(b"key", b"123456789") == 0
    assert run(CHECKSUM, b"key") == (0, 4, (0xE3069283).to_bytes(4, "little"))
    assert wire.store(b"key", b"") == 0
    assert run(CHECKSUM, b"key") == (0, 4, bytes(4))


def test_limits_are_the_controllers_own(attach: Attach) -> None:
    """What Identify says is as of a store in memory."""
    options: dict[str, Any] = {"value_max": 1 << 20, "mdts": 5, "key_max": 12, "queues": 3}
    with Emulator(**options) as memory:
        expected = memory.limits(1)
    assert attach.controller(**options).limits(1) == expected


# What other clients of the cluster see, and put there.


def test_rados_finds_values_and_the_controller_those_of_rados(attach: Attach) -> None:
    cluster, namespace, kv = attach.cluster, attach.namespace, attach(block_size=5000)
    keys, values = [b"a", b"\0" * 16, os.urandom(16)], random_values(3, 5000)
    kv.store(keys, values).raise_for_status()
    for key, value in zip(keys, values, strict=True):
        assert cluster.get(key.hex(), namespace=namespace) == value.tobytes()

    cluster.put(b"theirs".hex(), values[1, :4999].tobytes(), namespace=namespace)
    cluster.put(keys[0].hex(), values[2].tobytes(), namespace=namespace)
    cluster.put(b"empty".hex(), b"", namespace=namespace)
    out = np.full((3, 5000), 0xEE, np.uint8)
    result = kv.retrieve([b"theirs", keys[0], b"empty"], out)
    assert outcomes(result) == ["OK"] * 3
    assert result.value_size.tolist() == [4999, 5000, 0]
    assert (out[0, :4999] == values[1, :4999]).all()
    assert (out[1] == values[2]).all()
    assert (out[2] == 0xEE).all()

    cluster.rados("rm", keys[1].hex(), namespace=namespace)
    assert outcomes(kv.exist(keys)) == ["OK", "MISSING", "OK"]


def test_a_value_that_is_larger_than_the_controller_takes_is_an_error(attach: Attach) -> None:
    """Its size is no value's of this namespace; others are unharmed."""
    kv = attach(controller={"value_max": 4096}, block_size=4096)
    attach.cluster.put(b"large".hex(), bytes(4097), namespace=attach.namespace)
    attach.cluster.put(b"full".hex(), bytes(4096), namespace=attach.namespace)
    out = np.full((2, 4096), 0xEE, np.uint8)
    result = kv.retrieve([b"large", b"full"], out)
    assert outcomes(result) == ["ERROR", "OK"]
    assert result.nvme_status["sc"].tolist() == [0x85, 0]
    assert (out[0] == 0xEE).all()


MIB = 1 << 20


@pytest.mark.parametrize(
    ("says", "asked", "found"),
    [
        ("", 33 * MIB, 33 * MIB),
        ("", 200 * MIB, 90 * MIB),
        ("osd_max_object_size = 5000", 33 * MIB, 5000),
        ("osd_max_object_size = 5000", 4096, 4096),
        ("osd_max_write_size = 4", 33 * MIB, 4 * MIB),
        ("osd_max_write_size = 300\nosd_max_object_size = 300000000", 290 * MIB, 300000000),
    ],
)
def test_the_largest_value_is_what_osds_are_known_to_take(
    attach: Attach, tmp_path: Path, says: str, asked: int, found: int
) -> None:
    conf = tmp_path / "ceph.conf"
    conf.write_text(f"{attach.cluster.conf.read_text()}\n[client]\n{says}\n", encoding="utf-8")
    controller = attach.controller(url={"conf": conf}, value_max=asked)
    assert controller.limits(1).value_max == found


@pytest.mark.parametrize(
    ("who", "found"), [("global", 4 * MIB), ("client", 4 * MIB), ("osd", 6 * MIB)]
)
def test_a_value_that_osds_do_not_take_is_refused(attach: Attach, who: str, found: int) -> None:
    """What a cluster says of OSDs alone a client does not know: the OSD refuses."""
    cluster = attach.cluster
    value, out = np.full((1, 5 * MIB), 7, np.uint8), np.zeros((1, 4 * MIB), np.uint8)
    cluster.ceph("config", "set", who, "osd_max_write_size", "4")
    cluster.ceph("config", "set", "osd", "osd_max_write_size", "4")
    try:
        kv = attach(controller={"value_max": 6 * MIB})
        assert kv.limits.value_max == found
        kv.store([b"a"], value[:, : 4 * MIB]).raise_for_status()
        if found > 4 * MIB:
            result = kv.store([b"a"], value)
            assert (outcomes(result), statuses(result)) == (["ERROR"], {0x85})
            assert result.refusal.startswith(
                "INVALID_VALUE_SIZE (SCT 0h, SC 85h, DNR 0): the value is larger than"
            )
        else:
            with pytest.raises(ArgumentFault, match="4194304"):
                kv.store([b"a"], value)
        kv.retrieve([b"a"], out).raise_for_status()
        assert (out == 7).all()
    finally:
        cluster.ceph("config", "rm", who, "osd_max_write_size")
        cluster.ceph("config", "rm", "osd", "osd_max_write_size")
