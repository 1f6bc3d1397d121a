"""What is dropped without being closed is given back, once nothing can touch it any more."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import abandoned
from xiokv.runtime.abi import Outcome
from xiokv.runtime.drivers.host import Stream
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.module import Module
from xiokv.runtime.queues import QueuePair

from .queue_fakes import Controller


@pytest.fixture(autouse=True)
def _nothing_from_before() -> None:
    """Close what other tests dropped."""
    gc.collect()
    abandoned.close_idle()


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """Return a controller that has queues for one KV of two, and no more."""
    with Emulator(queues=2) as emulator:
        yield emulator


def test_a_dropped_kv_gives_its_queues_back_to_the_next(
    module: Module, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        kv = module.attach(emulator, queues=2)
        assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]
        del kv
        gc.collect()
    assert caplog.text.count("dropped without close()") == 2
    module.attach(emulator, queues=2).close()


def test_a_kv_that_was_closed_is_none_that_was_dropped(
    module: Module, emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        module.attach(emulator).close()
        gc.collect()
    assert caplog.text == ""


def test_a_dropped_kv_gives_back_what_it_took_over(
    module: Module, pointers: dict[str, Any]
) -> None:
    kv = module.attach(None, queues=[QueuePair.from_pointers(**pointers)])
    del kv
    gc.collect()
    QueuePair.from_pointers(**pointers).close()


def test_a_dropped_queue_pair_has_no_owner_any_more(pointers: dict[str, Any]) -> None:
    pair = QueuePair.from_pointers(**pointers)
    with pytest.raises(ArgumentFault, match="owned by another"):
        QueuePair.from_pointers(**pointers)
    del pair
    gc.collect()
    QueuePair.from_pointers(**pointers).close()


def test_a_dropped_dead_queue_stays_owned(
    module: Module, pointers: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    kv = module.attach(None, queues=[QueuePair.from_pointers(**pointers)])
    pair = weakref.ref(kv.queues.pairs[0])
    assert kv.exist([b"a"], timeout=0.01).status.tolist() == [Outcome.TIMEOUT]
    del kv
    for _ in range(2):
        gc.collect()
        with pytest.raises(ArgumentFault, match="owned by another"):
            QueuePair.from_pointers(**pointers)
    held = pair()
    assert held is not None
    held.confirm_deleted()
    QueuePair.from_pointers(**pointers).close()


def test_a_dropped_kv_is_not_closed_while_a_batch_runs(module: Module, emulator: Emulator) -> None:
    may_begin = threading.Event()
    with Stream() as stream:
        stream.submit(may_begin.wait)
        value, out = np.arange(64, dtype=np.uint8), np.zeros(64, np.uint8)
        kv = module.attach(emulator)
        stored = kv.store([b"a"], value, stream=stream)
        retrieved = kv.retrieve([b"a"], out, stream=stream)
        pair = kv.queues.pairs[0]
        del kv
        gc.collect()
        module.attach(emulator).close()
        assert not pair.closed
        may_begin.set()
        stored.raise_for_status()
        retrieved.raise_for_status()
    assert (out == value).all()
    module.attach(emulator).close()
    assert pair.closed


def test_a_dropped_kv_that_cannot_be_closed_keeps_no_other_from_attaching(
    module: Module, caplog: pytest.LogCaptureFixture
) -> None:
    controller = Controller()
    kv = module.attach(controller, depth=8)
    controller.refuses_to_delete = True
    del kv
    gc.collect()
    other = module.attach(controller, depth=8)
    assert "does not answer" in caplog.text
    controller.refuses_to_delete = False
    other.close()


def test_a_controller_and_a_kv_leave_nothing_to_the_garbage_collector(module: Module) -> None:
    gc.collect()
    gc.disable()
    try:
        with Emulator() as emulator, module.attach(emulator) as kv:
            kv.exist([b"a"])
        gone = weakref.ref(emulator)
        del emulator, kv
        assert gone() is None
    finally:
        gc.enable()
