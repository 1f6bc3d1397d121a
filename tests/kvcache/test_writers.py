"""Writers of one content at the same moment: each has the bytes that are there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.kvcache import putting
from xiokv.runtime.kvcache.block_store import BlockStore
from xiokv.runtime.kvcache.states import BlockState, PutState
from xiokv.runtime.testing import Rig

from .donors import TENANT, contents


@pytest.mark.parametrize("size", [4096, 20000], ids=["one value", "several"])
def test_a_writer_waits_for_the_record_of_another(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Its values are there already, with other last bits."""
    monkeypatch.setattr(putting, "_PAUSES", (0.0, 0.05, 0.5, 5.0))  # a slow machine fails nothing
    first, second = BlockStore(rig.kv), BlockStore(rig.kv)
    digests = TENANT.digests(b"l" * 32, contents(2))
    values_stored, store_records = Event(), first.store_records

    def later(*arguments: Any, **options: Any) -> Any:
        values_stored.set()
        sleep(0.02)
        return store_records(*arguments, **options)

    first.store_records = later  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as pool:
        given = pool.submit(first.put, digests, np.full((2, size), 1, np.uint8), sizes=size)
        assert values_stored.wait(10)
        put = second.put(digests, np.full((2, size), 2, np.uint8), sizes=size)
        assert put.states.tolist() == [PutState.SHARED] * 2
        assert (put.checksums == given.result().checksums).all()


def test_values_of_a_block_are_all_of_one_writer(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second comes when the first has stored no more than the first value."""
    monkeypatch.setattr(putting, "_PAUSES", (0.0, 0.05, 0.5, 5.0))
    size = 20000
    first, second = BlockStore(rig.kv), BlockStore(rig.kv)
    digests = TENANT.digests(b"l" * 32, contents(2))
    firsts_stored, looked = Event(), Event()
    store_rest, look_up = first.store_rest, second.look_up

    def rest_later(*arguments: Any, **options: Any) -> Any:
        firsts_stored.set()
        assert looked.wait(10)
        return store_rest(*arguments, **options)

    def look(*arguments: Any) -> Any:
        found = look_up(*arguments)
        looked.set()
        return found

    first.store_rest = rest_later  # type: ignore[method-assign]
    second.look_up = look  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as pool:
        given = pool.submit(first.put, digests, np.full((2, size), 1, np.uint8), sizes=size)
        assert firsts_stored.wait(10)
        put = second.put(digests, np.full((2, size), 2, np.uint8), sizes=size)
        assert given.result().states.tolist() == [PutState.STORED] * 2
    assert put.states.tolist() == [PutState.SHARED] * 2
    out = np.zeros((2, size), np.uint8)
    states = second.get(digests, out, sizes=size, checksums=put.checksums)
    assert states.tolist() == [BlockState.VERIFIED] * 2
    assert (out == 1).all()
