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
from xiokv.runtime.kvcache.states import PutState
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
