"""List on a cluster: every key once, from any key on, and no other object."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from tests import native
from tests.targets.device import outcomes, random_values

from .attached import Attach, key_array
from .cluster import Cluster

HERE = Path(__file__).parent


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
            assert thread.is_alive(), "nothing comes and goes"
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


def test_objects_that_no_key_names_are_not_listed(attach: Attach) -> None:
    cluster, namespace = attach.cluster, attach.namespace
    listed = ["00", "6b6579", "ff" * 16]
    for name in [*listed, "6B6579", "6b657", "notes", "00" * 17, "6b6579 ", "0x00"]:
        cluster.put(name, b"value", namespace=namespace)
    cluster.rados(
        "--object-locator", "elsewhere", "put", "abcd", "-", input=b"", namespace=namespace
    )
    cluster.put("aabb", b"value", namespace="")
    cluster.put("aabbcc", b"value", namespace=f"{namespace}-other")
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
