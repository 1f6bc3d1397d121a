"""From a device's queues to objects of a cluster, and back: every key's outcome and every byte.

Each device works in a process of its own; what it stored is looked at by librados's C calls and
by `rados`. AMD code objects run in software.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import native
from tests.hip.standin_process import CALLER, NAME, Standin, build
from tests.targets.device import ARCHITECTURES, random_values

from . import moving
from .attached import PATIENCE, Attach, key_array
from .cluster import Cluster
from .objects import Objects

SIZE = 4096

Call = Callable[..., Any]


@pytest.fixture
def call(own_surroundings: None, tmp_path: Path) -> Call:
    """Return what calls a function in a process with a device, by the name of the target."""

    def in_process(target: str, function: Callable[..., Any], *arguments: object) -> Any:
        if target in ARCHITECTURES:
            pytest.importorskip("hip", reason="hip-python is not installed: pip install hip-python")
            standin = Standin(build(), tmp_path / "rocm")
            standin.offer(NAME)
            return standin.call(function, "hip", *arguments, arch=ARCHITECTURES[target])
        where = (moving.__file__, function.__name__, json.dumps([target, *arguments]))
        done = subprocess.run(
            [sys.executable, "-c", CALLER, *where, native.ROOT],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=dict(os.environ),
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return in_process


@pytest.fixture
def objects(cluster: Cluster, namespace: str) -> Iterator[Objects]:
    """Return what reads the objects of the test's namespace, by librados alone."""
    with Objects(cluster, namespace) as objects:
        yield objects


@pytest.mark.parametrize(
    ("target", "place"),
    [("host", "HOST"), ("gfx942", "HOST"), ("gfx942", "DEVICE"), ("gfx1100", "DEVICE")],
)
def test_a_device_and_rados_see_the_same_bytes(
    call: Call, cluster: Cluster, namespace: str, objects: Objects, target: str, place: str
) -> None:
    theirs = {
        b"whole".hex(): random_values(1, SIZE, 5).tobytes(),
        "00" * 16: random_values(1, 100, 6).tobytes(),
        b"long".hex(): random_values(1, SIZE + 1, 7).tobytes(),
    }
    for name, value in theirs.items():
        cluster.put(name, value, namespace=namespace)
    count = 400
    url = cluster.url(namespace=namespace, timeout=PATIENCE)
    asked = [*theirs, b"nobody's".hex()]
    found = call(target, moving.store_and_retrieve, url, place, count, SIZE, asked)
    slots = [
        *(value[:SIZE].ljust(SIZE, b"\xee") for value in theirs.values()),
        b"\xee" * SIZE,
    ]
    assert found == [
        ["OK", SIZE, sha256(slots[0]).hexdigest()],
        ["OK", 100, sha256(slots[1]).hexdigest()],
        ["TRUNCATED", SIZE + 1, sha256(slots[2]).hexdigest()],
        ["MISSING", 0, sha256(slots[3]).hexdigest()],
    ]

    keys, values = key_array(count), random_values(count, SIZE)
    check_objects(cluster, namespace, objects, keys, values, list(theirs))


def check_objects(
    cluster: Cluster,
    namespace: str,
    objects: Objects,
    keys: Any,
    values: Any,
    others: list[str],
) -> None:
    """Check that a namespace holds these values, and others' objects besides."""
    names = [key.tobytes().hex() for key in keys]
    assert cluster.names(namespace) == sorted([*names, *others])
    for name, value in zip(names, values, strict=True):
        assert objects.read(name, len(value) + 1) == value.tobytes()
    for at in (0, len(names) // 2, len(names) - 1):
        assert cluster.get(names[at], namespace=namespace) == values[at].tobytes()
        stat = cluster.rados("stat", names[at], namespace=namespace).decode()
        assert stat.rstrip().endswith(f"size {len(values[at])}")


@pytest.mark.parametrize("target", ["host", pytest.param("gfx942", marks=pytest.mark.slow)])
def test_ten_thousand_blocks_on_a_controller_that_errs(
    call: Call, cluster: Cluster, pool: str, target: str
) -> None:
    """Late, twice, out of order, of nobody, or failed: each key has the outcome that is true."""
    count = 10_000
    seen = call(
        target, moving.endure, cluster.url(pool=pool, namespace="t", timeout=PATIENCE), count, SIZE
    )
    assert all(number > 0 for number in seen.values()), seen
    keys, values = key_array(count), random_values(count, SIZE)
    assert cluster.names("t", pool) == sorted(key.tobytes().hex() for key in keys)
    with Objects(cluster, "t", pool) as objects:
        for key, value in zip(keys, values, strict=True):
            assert objects.read(key.tobytes().hex(), SIZE + 1) == value.tobytes()


@pytest.mark.parametrize("target", ["host", "gfx1100"])
def test_a_completion_that_never_comes_is_a_timeout(
    call: Call, cluster: Cluster, namespace: str, target: str
) -> None:
    """That key has its new value, or its old one; those that were acknowledged have the new."""
    counts = call(
        target,
        moving.lose_a_completion,
        cluster.url(namespace=namespace, timeout=PATIENCE),
        500,
        SIZE,
    )
    assert counts["TIMEOUT"] >= 1
    assert counts["OK"] > 0


def test_four_controllers_of_one_namespace(
    cluster: Cluster, namespace: str, module: Any, own_surroundings: None, objects: Objects
) -> None:
    """Each on a thread, with values of its own; all find all of them afterwards."""
    count = 2000
    keys, values = key_array(count), random_values(count, SIZE)
    with ExitStack() as stack:
        attach = Attach(cluster, namespace, module, stack)
        kvs = [attach(queues=2, depth=32, block_size=SIZE) for _ in range(4)]
        stored: list[Any] = [None] * 4

        def store(part: int) -> None:
            mine = [np.ascontiguousarray(array[part::4]) for array in (keys, values)]
            stored[part] = kvs[part].store(*mine)

        threads = [threading.Thread(target=store, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in stored:
            result.raise_for_status()
        for kv in kvs:
            out = np.zeros_like(values)
            kv.retrieve(keys, out).raise_for_status()
            assert (out == values).all()
    check_objects(cluster, namespace, objects, keys, values, [])


@pytest.mark.parametrize(("writer", "reader"), [("host", "gfx942"), ("gfx1100", "host")])
def test_a_plan_is_carried_out_by_another_process(
    call: Call, cluster: Cluster, namespace: str, writer: str, reader: str
) -> None:
    """The one that published is gone; values are there, and each byte lands where it is due."""
    url = cluster.url(namespace=namespace, timeout=PATIENCE)
    published = call(writer, moving.publish, url)
    assert call(reader, moving.carry_out, url) == published
    assert call(reader, moving.carry_out, f"{url}&read_only=1") == published
