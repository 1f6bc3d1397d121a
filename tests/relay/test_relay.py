"""A relay between queues and a controller: what it carries, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.runtime.forking import in_child
from xiokv.runtime import abi
from xiokv.runtime.abi import Outcome
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.gpu.relay import Relay

KEYS = [b"key %03d" % number for number in range(100)]


def blocks(count: int = len(KEYS), size: int = 64) -> np.ndarray[Any, Any]:
    return np.arange(count * size, dtype=np.uint32).astype(np.uint8).reshape(count, size)


def check_round_trip(kv: Any) -> None:
    """Store, look up, retrieve, list and delete all keys."""
    values, out = blocks(), np.zeros_like(blocks())
    kv.store(KEYS, values).raise_for_status()
    assert kv.exist([*KEYS, b"absent"]).counts == {Outcome.OK: 100, Outcome.MISSING: 1}
    kv.retrieve(KEYS, out).raise_for_status()
    assert (out == values).all()
    assert sorted(kv.list()) == KEYS
    kv.delete(KEYS).raise_for_status()
    assert list(kv.list()) == []


@pytest.mark.parametrize("mode", range(16))
def test_every_memory_mode_carries_every_command(relay: Any, module: Any, mode: int) -> None:
    with module.attach(relay, block_size=64, memory_mode=mode) as kv:
        check_round_trip(kv)


@pytest.mark.parametrize("depth", [2, 3, 5, 64])
def test_rings_go_round(relay: Any, module: Any, depth: int) -> None:
    with module.attach(relay, depth=depth, window=depth, block_size=64, memory_mode=7) as kv:
        for _ in range(3):
            check_round_trip(kv)


def test_queues_of_several_modes_work_side_by_side(relay: Any, module: Any) -> None:
    with module.attach(relay, queues=4, block_size=64, memory_mode=[0, 1, 6, 7]) as kv:
        check_round_trip(kv)


def test_queues_come_and_go_while_others_stay(relay: Any, module: Any) -> None:
    with module.attach(relay, block_size=64, memory_mode=7) as stays:
        for _ in range(3):
            with module.attach(relay, queues=2, block_size=64, memory_mode=7) as goes:
                check_round_trip(goes)
            check_round_trip(stays)


def test_completions_out_of_order_find_their_keys(relay: Any, controller: Any, module: Any) -> None:
    controller.fault("reorder", amount=16)
    with module.attach(relay, block_size=64, memory_mode=7) as kv:
        check_round_trip(kv)


def test_a_dead_controller_is_a_timeout_and_a_reset_brings_it_back(
    relay: Any, controller: Any, module: Any
) -> None:
    with module.attach(relay, block_size=64, memory_mode=7, timeout=0.2) as kv:
        controller.kill()
        assert kv.exist(KEYS).counts == {Outcome.TIMEOUT: len(KEYS)}

        controller.reset()
        kv.reset()

        check_round_trip(kv)


def test_an_idle_relay_runs_nothing(
    relay: Any, module: Any, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    launches: list[int] = []
    launch = relay._kernel.launch
    relay._kernel.launch = lambda *given: launches.append(1) or launch(*given)
    with module.attach(relay, block_size=64, memory_mode=7):
        wait_until(lambda: len(launches) > 2)
    time.sleep(0.01)
    count = len(launches)
    time.sleep(0.2)

    assert len(launches) == count


def test_a_kernel_that_fails_is_told_where_a_queue_is_wanted(
    controller: Any, module: Any, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    def fail(*given: Any) -> Any:
        raise RuntimeFault("out of luck")

    with Relay(controller, module) as relay:
        relay._kernel.launch = fail
        with module.attach(relay, block_size=64, memory_mode=7, timeout=0.1) as kv:
            wait_until(lambda: relay._keeper.failure is not None)
            assert kv.exist([b"key"]).counts == {Outcome.TIMEOUT: 1}
        with pytest.raises(RuntimeFault, match="kernel failed: out of luck"):
            module.attach(relay, block_size=64, memory_mode=7)


def test_a_closed_relay_takes_no_queue(relay: Any, module: Any) -> None:
    relay.close()
    relay.close()

    with pytest.raises(RuntimeFault, match="the relay is closed"):
        module.attach(relay, block_size=64)


def test_closing_deletes_queues_that_are_left(relay: Any, controller: Any, module: Any) -> None:
    kv = module.attach(relay, block_size=64, memory_mode=7)

    relay.close()

    with module.attach(controller, block_size=64) as other:
        assert [pair.qid for pair in other.queues] == [1]
    kv.close()


def test_another_module_s_driver_is_refused(relay: Any, module: Any) -> None:
    with pytest.raises(ArgumentFault, match="another module"):
        relay.connect(object())


def test_a_child_of_fork_leaves_the_relay_to_its_parent(
    controller: Any, relay: Any, module: Any
) -> None:
    with module.attach(relay, block_size=64, memory_mode=7) as kv:
        with relay._lock:  # as another thread may, when the process forks
            assert in_child(relay.close) == "None"
            assert "this relay is of process" in in_child(lambda: relay.create_queue(None))
        check_round_trip(kv)


def test_a_relay_that_could_not_be_made_leaves_no_kernel(
    controller: Any, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = module.driver
    kernel = driver.side_kernel("relay")

    def refuse(driver: Any, size: int) -> None:
        raise RuntimeFault("no memory")

    monkeypatch.setattr(type(driver), "side_kernel", lambda driver, name: kernel)
    monkeypatch.setattr(type(driver), "allocate", refuse)
    with pytest.raises(RuntimeFault, match="no memory"):
        Relay(controller, module)
    with pytest.raises(RuntimeFault, match="closed"):
        kernel.launch(abi.Batch(), 1)


def test_a_queue_whose_deletion_was_interrupted_can_be_deleted_again(
    relay: Any, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kv = module.attach(relay, block_size=64, memory_mode=7)
    check_round_trip(kv)

    def interrupted() -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(relay._keeper, "paused", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kv.close()
    kv.close()

    assert relay._free_slot() == 0
    with module.attach(relay, block_size=64, memory_mode=7) as again:
        check_round_trip(again)
