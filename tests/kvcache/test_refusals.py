"""Why a store refuses: the status, what it means and what to do are in the message."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from xiokv.generated.nvme_kv import Status
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.keyspace import record_keys, token_digests
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.operation import Operation
from xiokv.runtime.results import BatchFault
from xiokv.runtime.testing import Rig

from .donors import TENANT, publish

REFUSALS = {
    Status.OPERATION_DENIED: "of a Ceph pool, look at the user's caps",
    Status.COMMAND_NAMESPACE_IS_PROTECTED: "leave read_only out of its URL to write",
    Status.CAPACITY_EXCEEDED: "there is no room for the value, or a quota is reached",
    Status.NAMESPACE_NOT_READY: "the store did not answer in time",
    Status.INVALID_NAMESPACE_OR_FORMAT: "what the store was opened on is not there",
}


def refuse(rig: Rig, operation: Operation, status: Status) -> None:
    rig.controller.fault("status", opcode=operation.opcode, sc=status)


@pytest.mark.parametrize(("status", "advice"), REFUSALS.items(), ids=lambda one: str(one)[:20])
def test_a_donor_that_is_refused_says_why(rig: Rig, status: Status, advice: str) -> None:
    storage = KvStorage(rig.kv, TENANT)
    publish(storage)
    said = rf"(?s){status.name} \(SCT 0h, SC {int(status):02X}h, DNR 0\).*{advice}"
    refuse(rig, Operation.STORE, status)
    with pytest.raises(RuntimeFault, match=f"not published.*FAILED, {said[4:]}"):
        publish(storage, "another", seed=2)
    refuse(rig, Operation.RETRIEVE, status)
    with pytest.raises(RuntimeFault, match=f"its head was not read: ERROR, {said[4:]}"):
        storage.resolve("donor")
    rig.faults.clear()
    refuse(rig, Operation.DELETE, status)
    with pytest.raises(BatchFault, match=said):
        storage.remove("donor")


def test_a_manifest_that_is_refused_says_why(rig: Rig) -> None:
    storage = KvStorage(rig.kv, TENANT)
    publish(storage)
    head = TENANT.donor_key("donor", 0)
    others = [key for key in rig.kv.list() if key != head]
    rig.faults.fail(others, sc=Status.OPERATION_DENIED, operation=Operation.RETRIEVE)
    with pytest.raises(RuntimeFault, match=r"its manifest was not read: FAILED, OPERATION_DENIED"):
        KvStorage(rig.kv, TENANT).resolve("donor")


def test_why_blocks_failed_is_told_once_and_to_the_thread_that_asked(rig: Rig) -> None:
    storage = KvStorage(rig.kv, TENANT)
    blocks, digests = storage.blocks, TENANT.digests(b"l", token_digests(range(16), 16))
    refuse(rig, Operation.EXIST, Status.NAMESPACE_NOT_READY)
    assert not blocks.exist(digests).any()
    assert blocks.take_refusal().startswith("NAMESPACE_NOT_READY (SCT 0h, SC 82h, DNR 0): the")
    assert blocks.take_refusal() == ""
    rig.faults.clear()
    assert not blocks.exist(digests).any()
    assert blocks.take_refusal() == ""


def test_statuses_are_counted_once_and_by_the_thread_that_asked(rig: Rig) -> None:
    blocks = KvStorage(rig.kv, TENANT).blocks
    digests = TENANT.digests(b"l", token_digests(range(16 * 5), 16))
    keys = record_keys(digests)
    statuses = {Status.NAMESPACE_NOT_READY: keys[:3], Status.CAPACITY_EXCEEDED: keys[3:4]}
    for status, some in statuses.items():
        rig.faults.fail(some, sc=status, operation=Operation.EXIST)
    blocks.exist(digests)
    blocks.exist(digests)
    with ThreadPoolExecutor(1) as others:
        assert others.submit(blocks.take_refusals).result() == {}
    assert blocks.take_refusals() == {
        "NAMESPACE_NOT_READY (SCT 0h, SC 82h, DNR 0)": 6,
        "CAPACITY_EXCEEDED (SCT 0h, SC 81h, DNR 0)": 2,
    }
    assert blocks.take_refusals() == {}


PATHING: dict[str, Any] = {"sct": 3, "sc": 0x60}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            PATHING,
            "CONTROLLER_PATHING_ERROR (SCT 3h, SC 60h, DNR 0): the store has shut this client out",
        ),
        ({"sc": 0x88}, "UNRECOVERED_ERROR (SCT 0h, SC 88h, DNR 0)"),
        ({"sc": 0x87}, ""),
    ],
)
def test_a_result_says_why_its_first_error_came(
    rig: Rig, status: dict[str, Any], said: str
) -> None:
    rig.controller.fault("status", opcode=Operation.STORE.opcode, **status)
    result = rig.kv.store([b"a", b"b"], np.zeros((2, 8), np.uint8))
    assert result.refusal.startswith(said)
    assert bool(result.refusal) == bool(said)
