"""Who may do what: a store that is only read, users of few rights, tenants."""

from __future__ import annotations

import numpy as np
import pytest

from tests.targets.device import outcomes, random_values
from xiokv.runtime import RuntimeFault

from .attached import Attach, statuses


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
