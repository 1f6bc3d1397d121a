"""The store on a cluster: every command by itself, and what other clients of Ceph see of it."""

from __future__ import annotations

import os
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import native
from xiokv.runtime import KV, Emulator, Outcome, RuntimeFault

from .attached import Attach, Bytes, key_array, outcomes, random_values, statuses
from .cluster import Cluster

HERE = Path(__file__).parent

# All lengths; zero bytes, and keys that are others with something more.
KEYS = [
    *(bytes(range(64, 64 + length)) for length in range(1, 17)),
    *(b"abcd", b"abcd\0", b"abcd\0\0", b"abc", b"\0", b"\0\0", bytes(16), b"\xff" * 16),
    *(b"\0abc", b"ab\0cd", b"\n", b"/", b"..", b"\xc3\x28"),
]
EXEC, LENGTH, CHECKSUM = 0x83, 1, 2


@pytest.fixture
def attach(
    cluster: Cluster, namespace: str, module: Any, own_surroundings: None
) -> Iterator[Attach]:
    """Return what makes controllers on a namespace of its own."""
    with ExitStack() as stack:
        yield Attach(cluster, namespace, module, stack)


def put(cluster: Cluster, namespace: str, name: str, value: bytes, *options: str) -> None:
    cluster.rados("put", name, "-", *options, input=value, namespace=namespace)


def get(cluster: Cluster, namespace: str, name: str) -> bytes:
    return cluster.rados("get", name, "-", namespace=namespace)


# Keys and values.


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


def test_a_second_store_replaces_the_whole_value(attach: Attach) -> None:
    """Nothing of a longer one is left behind a shorter one."""
    wire = attach.wire()
    for value in (b"first" * 1000, b"2nd", b"", b"fourth" * 100):
        assert wire.store(b"key", value) == 0
        size = len(value) + 8
        assert wire.retrieve(b"key", size) == (0, len(value), value + b"\xee" * 8)
        assert get(attach.cluster, attach.namespace, b"key".hex()) == value


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
        assert get(cluster, namespace, key.hex()) == value.tobytes()

    put(cluster, namespace, b"theirs".hex(), values[1, :4999].tobytes())
    put(cluster, namespace, keys[0].hex(), values[2].tobytes())
    put(cluster, namespace, b"empty".hex(), b"")
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
    put(attach.cluster, attach.namespace, b"large".hex(), bytes(4097))
    put(attach.cluster, attach.namespace, b"full".hex(), bytes(4096))
    out = np.full((2, 4096), 0xEE, np.uint8)
    result = kv.retrieve([b"large", b"full"], out)
    assert outcomes(result) == ["ERROR", "OK"]
    assert result.nvme_status["sc"].tolist() == [0x85, 0]
    assert (out[0] == 0xEE).all()


def test_objects_that_no_key_names_are_not_listed(attach: Attach) -> None:
    cluster, namespace = attach.cluster, attach.namespace
    listed = ["00", "6b6579", "ff" * 16]
    for name in [*listed, "6B6579", "6b657", "notes", "00" * 17, "6b6579 ", "0x00"]:
        put(cluster, namespace, name, b"value")
    cluster.rados(
        "--object-locator", "elsewhere", "put", "abcd", "-", input=b"", namespace=namespace
    )
    put(cluster, "", "aabb", b"value")
    put(cluster, f"{namespace}-other", "aabbcc", b"value")
    kv = attach()
    assert sorted(kv.list()) == sorted(map(bytes.fromhex, listed))
    assert outcomes(kv.exist([b"\xab\xcd", b"\xaa\xbb", b"\xaa\xbb\xcc"])) == ["MISSING"] * 3
    cluster.empty("")


def test_keys_that_are_longer_than_the_controllers_are_not_listed(attach: Attach) -> None:
    """No command could name them; small pages lead past them, too."""
    attach(block_size=4).store(key_array(200), random_values(200, 4)).raise_for_status()
    wire, short = attach.wire(key_max=8), [b"%07d" % number for number in range(20)]
    for key in (*short, b"12345678"):
        assert wire.store(key, b"") == 0
    assert sorted(wire.walk(44)) == sorted([*short, b"12345678"])


# List.


def test_list_pages_through_many_keys(attach: Attach) -> None:
    """10,000 keys by pages of 4 KiB: each once; and from a key that is there, the rest."""
    keys = key_array(10_000)
    kv = attach(queues=2, depth=128)
    kv.store(keys, random_values(len(keys), 4)).raise_for_status()
    wire = attach.wire()
    found = wire.walk(4096)
    assert sorted(found) == sorted(key.tobytes() for key in keys)
    assert list(kv.list()) == found
    assert list(kv.list(found[6000])) == found[6000:]
    assert list(kv.list(found[-1])) == found[-1:]
    assert list(kv.list(limit=5)) == found[:5]


def test_pages_for_two_keys_lead_through_all(attach: Attach) -> None:
    keys = key_array(300)
    attach(depth=128).store(keys, random_values(len(keys), 4)).raise_for_status()
    wire = attach.wire()
    found = wire.walk(44)
    assert sorted(found) == sorted(key.tobytes() for key in keys)
    for size, count in ((43, 1), (44, 2), (63, 2), (64, 3), (4, 0), (23, 0), (24, 1)):
        assert wire.page(b"", size)[1] == found[:count]
        assert wire.page(found[7], size)[1] == found[7 : 7 + count]


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_page_without_room_for_the_count_gets_what_fits(attach: Attach, size: int) -> None:
    wire = attach.wire()
    assert wire.store(b"a", b"") == 0
    cqe, _ = wire.page(b"", size)
    assert (cqe.status, wire.data.get(0, size)) == (0, bytes(size))


def test_an_empty_namespace_has_an_empty_page(attach: Attach) -> None:
    wire = attach.wire()
    assert wire.page(b"", 4096)[1] == []
    assert wire.page(b"nothing", 4096)[1] == []


def test_a_namespace_is_found_in_a_crowded_pool(attach: Attach, pool: str) -> None:
    """The cluster looks through the objects of all namespaces, and not in steps of a page."""
    others, count = attach(namespace="other", url={"pool": pool}, depth=256), 4000
    others.store(key_array(count), random_values(count, 4)).raise_for_status()
    wire, keys = attach.wire(url={"pool": pool}), [b"a", b"b", b"c"]
    for key in keys:
        assert wire.store(key, b"") == 0
    before = messages(attach.cluster)
    assert sorted(wire.walk(44)) == keys
    assert 8 <= messages(attach.cluster) - before < 300


def messages(cluster: Cluster) -> int:
    """Return how many messages the OSD has had."""
    counters = cluster.asked("osd", "perf", "dump")
    workers = [of for name, of in counters.items() if name.startswith("AsyncMessenger::Worker")]
    return sum(worker["msgr_recv_messages"] for worker in workers)


def test_a_list_goes_on_from_a_key_that_is_gone(attach: Attach) -> None:
    """Where it stood; and from one that never was, in a place of the order of its own."""
    kv, keys = attach(block_size=4), key_array(200)
    kv.store(keys, random_values(len(keys), 4)).raise_for_status()
    before = list(kv.list())
    gone = before[50:60]
    kv.delete(gone).raise_for_status()
    for key in gone:
        assert list(kv.list(key)) == before[60:]
    never = b"never was"
    rest = list(kv.list(never))
    kv.store([never], random_values(1, 4)).raise_for_status()
    assert list(kv.list(never)) == [never, *rest]


def test_a_list_begins_at_its_key_also_where_another_has_the_same_place(attach: Attach) -> None:
    """The cluster's order is that of a hash of 32 bits, which is the same for two keys."""
    pairs = colliding_keys(attach, 3)
    kv, keys = attach(block_size=4), [*map(bytes, key_array(100)), *(k for p in pairs for k in p)]
    kv.store(keys, random_values(len(keys), 4)).raise_for_status()
    found = attach.wire().walk(44)
    assert sorted(found) == sorted(keys)
    for pair in pairs:
        first, second = sorted(pair, key=found.index)
        at = found.index(first)
        assert found[at + 1] == second
        assert list(kv.list(first)) == found[at:]
        assert list(kv.list(second)) == found[at + 1 :]
        kv.delete([first]).raise_for_status()
        found.remove(first)
        assert list(kv.list(first)) == found[at:]


def colliding_keys(attach: Attach, count: int) -> list[tuple[bytes, bytes]]:
    """Return pairs of keys that librados itself gives the same hash."""
    asked = ["g++", "-print-file-name=librados.so"]
    library = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    program = native.program("colliding", [HERE / "colliding.cpp"], link=[library])
    place = (attach.cluster.conf, attach.cluster.pool, attach.namespace, str(count))
    said = subprocess.run([program, *place], capture_output=True, text=True, check=True).stdout
    pairs = [line.split() for line in said.splitlines()]
    return [(bytes.fromhex(first), bytes.fromhex(second)) for first, second in pairs]


def test_a_list_meets_every_key_that_stays_while_others_come_and_go(attach: Attach) -> None:
    keys = key_array(1000)
    stay, change = keys[:500], keys[500:]
    kv, other = attach(depth=128), attach(depth=128)
    kv.store(keys, random_values(len(keys), 4)).raise_for_status()
    ends, rounds = threading.Event(), []

    def come_and_go() -> None:
        while not ends.is_set():
            other.delete(change).raise_for_status()
            other.store(change, random_values(len(change), 4)).raise_for_status()
            rounds.append(1)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        wire = attach.wire()
        while len(rounds) < 2:
            # A page may begin at a key that is gone: one that is new has its place, too.
            found: list[bytes] = []
            while fresh := [
                key
                for key in wire.page(found[-1] if found else b"", 4096)[1]
                if key not in found[-1:]
            ]:
                found += fresh
            assert len(set(found)) == len(found)
            assert {key.tobytes() for key in stay} <= set(found)
            assert set(found) <= {key.tobytes() for key in keys}
    finally:
        ends.set()
        thread.join()


# Who may do what.


def test_a_store_that_is_opened_to_read_changes_nothing(attach: Attach) -> None:
    attach(block_size=8).store([b"a"], random_values(1, 8)).raise_for_status()
    kv = attach(url={"read_only": 1}, block_size=8)
    value, out = random_values(1, 8, 2), np.zeros((1, 8), np.uint8)
    for options in ({}, {"if_absent": True}, {"if_present": True}):
        for key in (b"a", b"b"):
            result = kv.store([key], value, **options)
            assert (outcomes(result), statuses(result)) == (["ERROR"], {0x20})
    result = kv.delete([b"a", b"b"])
    assert (outcomes(result), statuses(result)) == (["ERROR", "ERROR"], {0x20})
    kv.retrieve([b"a"], out).raise_for_status()
    assert (out == random_values(1, 8)).all()
    assert outcomes(kv.exist([b"a", b"b"])) == ["OK", "MISSING"]
    assert list(kv.list()) == [b"a"]


def test_a_user_who_may_only_read_is_denied_the_rest(attach: Attach) -> None:
    attach(block_size=8).store([b"a"], random_values(1, 8)).raise_for_status()
    user = f"reader-{attach.namespace}"
    attach.cluster.make_user(user, mon="allow r", osd="allow r pool=xiokv")
    kv = attach(url={"user": user}, block_size=8)
    result = kv.store([b"a", b"b"], random_values(2, 8, 2))
    assert (outcomes(result), statuses(result)) == (["ERROR", "ERROR"], {0x15})
    result = kv.delete([b"a"])
    assert (outcomes(result), statuses(result)) == (["ERROR"], {0x15})
    out = np.zeros((1, 8), np.uint8)
    kv.retrieve([b"a"], out).raise_for_status()
    assert (out == random_values(1, 8)).all()
    assert list(kv.list()) == [b"a"]


def test_a_tenant_sees_a_namespace_and_no_other(attach: Attach) -> None:
    """By name alone: the same key is another value; and by rights: what is not his is denied."""
    cluster, other = attach.cluster, f"{attach.namespace}-other"
    mine, theirs = random_values(1, 8, 1), random_values(1, 8, 2)
    kv, neighbour = attach(block_size=8), attach(namespace=other, block_size=8)
    kv.store([b"a"], mine).raise_for_status()
    neighbour.store([b"a", b"b"], np.concatenate([theirs, theirs])).raise_for_status()
    out = np.zeros_like(mine)
    kv.retrieve([b"a"], out).raise_for_status()
    assert (out == mine).all()
    assert list(kv.list()) == [b"a"]
    assert outcomes(kv.exist([b"b"])) == ["MISSING"]

    user = f"tenant-{attach.namespace}"
    caps = f"allow rw pool=xiokv namespace={attach.namespace}"
    cluster.make_user(user, mon="allow r", osd=caps)
    tenant = attach(url={"user": user}, block_size=8)
    tenant.store([b"c"], mine).raise_for_status()
    assert sorted(tenant.list()) == [b"a", b"c"]
    intruder = attach(namespace=other, url={"user": f"client.{user}"}, block_size=8)
    for result in (
        intruder.retrieve([b"a"], out),
        intruder.store([b"a"], mine),
        intruder.delete([b"a"]),
        intruder.exist([b"a"]),
    ):
        assert (outcomes(result), statuses(result)) == (["ERROR"], {0x15})
    with pytest.raises(RuntimeFault, match="15h"):
        list(intruder.list())
    neighbour.retrieve([b"a"], out).raise_for_status()
    assert (out == theirs).all()


# What cannot be opened.


def refusal(url: str, seconds: float = 15.0) -> str:
    """Return why a store is refused, which is one line, and comes in time."""
    begin = time.monotonic()
    with pytest.raises(RuntimeFault) as caught:
        Emulator(store=url)
    assert time.monotonic() - begin < seconds
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_a_pool_that_is_not_there_is_named(cluster: Cluster) -> None:
    said = refusal(cluster.url(pool="no-pool", namespace="t"))
    assert said == (
        "store no-pool/t: the cluster has no pool no-pool; make it (ceph osd pool create no-pool)"
        " or name another"
    )


def test_a_user_whom_nobody_knows_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """Without a keyring, and by a key that is another's, a wrong one, or none."""
    keyring = tmp_path / "keyring"
    said = refusal(cluster.url(user="nobody"))
    refused = "store xiokv/: the cluster does not take client.nobody"
    missing = f"{refused}: there is no keyring that can be read at"
    assert said.startswith(f"{missing} {cluster.folder}/client.nobody.keyring: ")
    said = refusal(cluster.url(user="client.nobody", keyring=keyring))
    assert said.startswith(f"{missing} {keyring}: ")
    for user, key in (
        ("client.nobody", "AQBSdFhcAAAAABAAvp0TwWuXBsu5GLHXpJTcFg=="),
        ("client.admin", "AQBSdFhcAAAAABAAvp0TwWuXBsu5GLHXpJTcFg=="),
        ("client.admin", "AQ"),
    ):
        keyring.write_text(f"[{user}]\n\tkey = {key}\n", encoding="ascii")
        said = refusal(cluster.url(user=user, keyring=keyring))
        assert f"does not take {user} by the key in keyring {keyring}: " in said


def test_a_configuration_that_is_of_no_use_is_named(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "ceph.conf"
    url = f"rados://xiokv/t?conf={path}&connect_timeout=2"
    unreadable = f"store xiokv/t: cannot read the configuration {path}: "
    assert refusal(url) == f"{unreadable}No such file or directory"
    path.write_text("[global\nmon_host", encoding="ascii")
    assert refusal(url) == f"{unreadable}Invalid argument"
    path.write_text("[global]\n", encoding="ascii")
    assert refusal(url).startswith(f"store xiokv/t: no monitor is found by mon_host '' of {path}: ")
    path.write_text("[global]\nmon_host = no-host.invalid\n", encoding="ascii")
    assert f"no monitor is found by mon_host 'no-host.invalid' of {path}: " in refusal(url)


def test_what_was_refused_leaves_nothing_behind(cluster: Cluster) -> None:
    before = held()
    for _ in range(5):
        refusal(cluster.url(pool="no-pool"))
    assert all(now <= then for now, then in zip(held(), before, strict=True))


def held() -> tuple[int, int]:
    """Return how many threads and open files this process has."""
    threads, files = (len(list(Path(f"/proc/self/{name}").iterdir())) for name in ("task", "fd"))
    return threads, files


def test_a_controller_that_is_closed_leaves_nothing_behind(attach: Attach) -> None:
    """Neither threads nor connections of librados."""
    after = []
    for _ in range(4):
        with ExitStack() as stack:
            here = Attach(attach.cluster, attach.namespace, attach.module, stack)
            kv = here(queues=2, depth=64, block_size=4096)
            kv.store(key_array(200), random_values(200, 4096)).raise_for_status()
            assert len(list(kv.list())) == 200
        after.append(held())
    assert after[-1] == after[0]
