"""What processes of their own do to a namespace of a cluster, on the device that each one has.

Arguments and results are such as JSON has. What has to be so in the process is asserted here.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

from tests.kvcache import donors
from tests.kvcache.donors import TENANT, Given, layout, payloads
from tests.kvcache.plans import PLAN, ROWS, check_bytes
from tests.rados.attached import key_array
from tests.targets.device import Target, content, random_values
from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime import Module, Outcome, Place
from xiokv.runtime.kvcache import Executor, KvStorage
from xiokv.runtime.testing import Rig
from xiokv.runtime.testing.rig import make_rig

POISON = 0xEE
SHAPE = layout(4096, 1500)

# None of them keeps a command from being carried out.
HARMLESS: list[dict[str, Any]] = [
    {"kind": "reorder", "amount": 6},
    {"kind": "delay", "amount": 2000, "probability": 0.02},
    {"kind": "duplicate", "amount": 500, "probability": 0.02},
    {"kind": "unknown_cid", "probability": 0.01},
    {"kind": "foreign_sqid", "probability": 0.01},
]
# In place of being carried out.
FAILURES: list[dict[str, Any]] = [
    {"kind": "status", "sc": 0x06, "probability": 0.03, "opcode": opcode}
    for opcode in (Opcode.STORE, Opcode.RETRIEVE)
]


def store_and_retrieve(
    device: str, url: str, place: str, count: int, size: int, theirs: list[str]
) -> list[list[Any]]:
    """Store values; return outcome, size and hash of those that others put there."""
    with ExitStack() as stack:
        target = Target(device, stack)
        _, kv = target.attach({"store": url}, queues=2, block_size=size)
        values = target.memory(random_values(count, size), Place[place])
        kv.store(key_array(count), values).raise_for_status()
        found = np.full((len(theirs), size), POISON, np.uint8)
        out = target.memory(found, Place[place])
        result = kv.retrieve([bytes.fromhex(name) for name in theirs], out)
        rows = [sha256(row).hexdigest() for row in content(out, found)]
        sizes = result.value_size.tolist()
        names = [Outcome(status).name for status in result.status]
        return [list(entry) for entry in zip(names, sizes, rows, strict=True)]


def endure(device: str, url: str, count: int, size: int) -> dict[str, int]:
    """Store and retrieve on a controller that errs; return how many keys had which outcome."""
    with ExitStack() as stack:
        target = Target(device, stack)
        options = {"store": url, "threads": 2, "seed": 3}
        controller, kv = target.attach(options, queues=4, depth=64, block_size=size)
        keys, values = key_array(count), random_values(count, size)
        source = target.memory(values)

        for fault in (*HARMLESS, *FAILURES):
            controller.fault(**fault)
        stored = kv.store(keys, source).status
        assert set(stored) == {Outcome.OK, Outcome.ERROR}
        read = _retrieved(target, kv, keys, values)
        failed = (read == Outcome.ERROR) & (stored == Outcome.OK)
        assert (read[stored == Outcome.ERROR] != Outcome.OK).all()
        assert (read[(stored == Outcome.OK) & ~failed] == Outcome.OK).all()

        controller.clear_faults()
        for fault in HARMLESS:
            controller.fault(**fault)
        again = kv.store(keys, source, if_absent=True).status
        expected = np.where(stored == Outcome.OK, Outcome.EXISTS, Outcome.OK)
        assert (again == expected).all()
        assert (_retrieved(target, kv, keys, values) == Outcome.OK).all()
        seen = {name: sum(pair.report[name] for pair in kv.queues) for name in REPORTED}
        return {
            "store failed": int((stored == Outcome.ERROR).sum()),
            "retrieve failed": int(failed.sum()),
            **seen,
        }


REPORTED = ("stale", "unknown", "foreign")


def _retrieved(target: Target, kv: Any, keys: Any, values: Any) -> Any:
    """Retrieve all keys; return the outcomes. Every byte is right, and none is written else."""
    out = target.memory(np.full_like(values, POISON))
    result = kv.retrieve(keys, out)
    status = result.status
    sizes = np.where(status == Outcome.OK, values.shape[1], 0)
    assert (result.value_size == sizes).all()
    expected = np.where((status == Outcome.OK)[:, None], values, POISON)
    assert (content(out, values) == expected).all()
    assert set(status) <= {Outcome.OK, Outcome.ERROR, Outcome.MISSING}
    return status


def lose_a_completion(device: str, url: str, count: int, size: int) -> dict[str, int]:
    """Store over values while a completion is lost; return how many keys had which outcome."""
    with ExitStack() as stack:
        target = Target(device, stack)
        controller, kv = target.attach({"store": url}, queues=2, block_size=size)
        keys, old = key_array(count), random_values(count, size, 1)
        new = random_values(count, size, 2)
        kv.store(keys, target.memory(old)).raise_for_status()
        controller.fault("drop", key=keys[count // 2].tobytes(), opcode=Opcode.STORE)
        result = kv.store(keys, target.memory(new), timeout=2.0)
        assert set(result.status) == {Outcome.OK, Outcome.TIMEOUT}
        assert result.status[count // 2] == Outcome.TIMEOUT
        controller.clear_faults()
        kv.reset()
        out = target.memory(np.zeros_like(new))
        kv.retrieve(keys, out).raise_for_status()
        found = content(out, new)
        is_new, is_old = (found == new).all(axis=1), (found == old).all(axis=1)
        assert is_new[result.status == Outcome.OK].all()
        assert (is_new | is_old).all()
        return {outcome.name: number for outcome, number in result.counts.items()}


def publish(device: str, url: str) -> str:
    """Publish a donor; return the digest of its manifest."""
    with _rig(device, url) as rig:
        given = donors.publish(KvStorage(rig.kv, TENANT), rows=ROWS, shape=SHAPE)
        return sha256(given.manifest.canonical).hexdigest()


def carry_out(device: str, url: str) -> str:
    """Carry out a plan, and check each byte; return the digest of the donor's manifest."""
    with _rig(device, url) as rig:
        storage = KvStorage(rig.kv, TENANT)
        place = Place.DEVICE if device != "host" else Place.HOST
        allocate = partial(_module(device).empty, place=place)
        report = Executor(storage, allocate=allocate).execute(PLAN)
        assert report.verified
        manifest = storage.resolve("donor").manifest
        assert check_bytes(report, {"donor": Given(manifest, payloads(SHAPE, ROWS))}) == 6
        return sha256(manifest.canonical).hexdigest()


def _module(device: str) -> Module:
    return Target(device, ExitStack()).module


def _rig(device: str, url: str) -> Rig:
    """Return a controller whose values are smaller than a block, and what is attached to it."""
    options = {"store": url, "value_max": 2048}
    return make_rig(_module(device), controller=options, queues=2, timeout=20.0)
