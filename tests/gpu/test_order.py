"""Streams, kernels beside ours, queues that are taken over, and controllers that hang."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xiokv.generated
from xiokv.runtime import Outcome, QueuePair, Relay, load
from xiokv.runtime.controller import Rings
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import DeadQueueFault
from xiokv.runtime.toolchain import build_cached, host_recipe

COUNT, BLOCK = 300, 4096
KEYS = [b"key %06d" % number for number in range(COUNT)]
MODES = (0, 7)


@pytest.fixture
def block(array: Any) -> Any:
    """Return memory of the device for all values."""
    return array(COUNT * BLOCK, "device")


def test_work_before_and_after_in_the_caller_s_stream_stays_in_order(
    api: Any, attach: Any, array: Any, block: Any
) -> None:
    _, kv = attach(block_size=BLOCK)
    pinned = array(COUNT * BLOCK, "pinned")
    with api.using(0):
        stream = api.stream_create()
        for value in (1, 2, 3):
            filling = np.full(COUNT * BLOCK, value, np.uint8)
            pinned.fill(filling)
            api.copy(block.address, pinned.address, block.size, stream)
            stored = kv.store(KEYS, block, stream=stream)
            api.zero(block.address, block.size, stream)
            retrieved = kv.retrieve(KEYS, block, stream=stream)
            api.copy(pinned.address, block.address, block.size, stream)
            api.stream_synchronize(stream)
            stored.raise_for_status()
            retrieved.raise_for_status()
            assert pinned.bytes() == filling.tobytes()
        kv.quiesce()
        api.stream_destroy(stream)


@pytest.mark.parametrize("mode", MODES)
def test_a_kernel_that_spins_holds_nothing_up(
    attach: Any, block: Any, spinner: Any, some_bytes: Callable[..., bytes], mode: int
) -> None:
    _, kv = attach(block_size=BLOCK, memory_mode=mode)
    data = some_bytes(block.size, 1)
    block.fill(data)
    spinner.start()

    kv.store(KEYS, block).raise_for_status()
    kv.retrieve(KEYS, block).raise_for_status()

    assert spinner.runs
    assert block.bytes() == data


@pytest.mark.parametrize("mode", MODES)
def test_many_streams_share_what_queues_the_hardware_has(
    api: Any, attach: Any, block: Any, mode: int
) -> None:
    """More streams than hardware queues: none of ours may come behind one that waits."""
    with api.using(0):
        streams = [api.stream_create() for _ in range(40)]
    _, kv = attach(block_size=BLOCK, memory_mode=mode)
    for stream in streams:
        kv.store(KEYS, block, stream=stream).raise_for_status()
        kv.retrieve(KEYS, block, stream=stream).raise_for_status()
    with api.using(0):
        for stream in streams:
            api.stream_destroy(stream)


@pytest.mark.parametrize("mode", MODES)
def test_what_waits_for_the_device_does_not_wait_for_us(
    api: Any, attach: Any, block: Any, mode: int
) -> None:
    _, kv = attach(block_size=BLOCK, memory_mode=mode)
    kv.store(KEYS, block).raise_for_status()

    begin = time.monotonic()
    for _ in range(5):
        with api.using(0):
            api.device_free(api.device_alloc(64 << 20, False))
            host, _ = api.host_alloc(1 << 20)
            api.host_free(host)
            api._call("cuCtxSynchronize")

    assert time.monotonic() - begin < 2.0


@pytest.mark.parametrize("mode", MODES)
def test_a_controller_that_hangs_is_reset_and_goes_on(
    api: Any, attach: Any, block: Any, some_bytes: Callable[..., bytes], mode: int
) -> None:
    emulator, kv = attach(queues=2, block_size=BLOCK, memory_mode=mode, timeout=0.3)
    data = some_bytes(block.size, 1)
    block.fill(data)
    kv.store(KEYS, block).raise_for_status()

    emulator.kill()
    begin = time.monotonic()
    assert kv.retrieve(KEYS, block).counts == {Outcome.TIMEOUT: COUNT}
    assert time.monotonic() - begin < 3.0
    with pytest.raises(DeadQueueFault):
        kv.exist(KEYS)
    with api.using(0):  # the GPU is free
        api.device_free(api.device_alloc(1 << 20, False))

    emulator.reset()
    kv.reset()
    block.fill(bytes(block.size))
    kv.retrieve(KEYS, block).raise_for_status()
    assert block.bytes() == data


def test_a_queue_is_taken_over_handed_back_and_taken_over_by_the_cpu(
    module: Any, block: Any, some_bytes: Callable[..., bytes]
) -> None:
    """One queue pair under three owners: the GPU, the host module, the GPU again."""
    depth = 32
    data = some_bytes(block.size, 1)
    block.fill(data)
    memory = module.driver.allocate(2 * 4096)
    generated = Path(xiokv.generated.__file__).parent
    host = load(module=build_cached(host_recipe(generated, version("xiokv"))))
    state = {"tail": 0, "head": 0, "phase": 1}
    with Emulator() as emulator:
        emulator.connect(module.driver)
        created = emulator.create_queue(Rings(memory.iova, memory.iova + 4096, depth, depth))
        stride = created.cq_doorbell - created.sq_doorbell
        bar = emulator.registers + 0x1000 + 2 * created.qid * stride

        def owner(at: int, sq_doorbell: int, kept: dict[str, int]) -> QueuePair:
            return QueuePair.from_pointers(
                sq=at,
                cq=at + 4096,
                sq_doorbell=sq_doorbell,
                cq_doorbell=sq_doorbell + stride,
                qid=created.qid,
                sq_depth=depth,
                cq_depth=depth,
                nsid=1,
                limits=emulator.limits(1),
                max_transfer=BLOCK,
                **kept,
            )

        pair = owner(memory.address, created.sq_doorbell, state)
        with module.attach(None, queues=[pair], block_size=BLOCK) as kv:
            kv.store(KEYS, block).raise_for_status()
        state = dict(pair.release())
        pair = owner(memory.iova, bar, state)
        with host.attach(None, queues=[pair], block_size=BLOCK) as kv:
            assert kv.exist(KEYS).counts == {Outcome.OK: COUNT}
        state = dict(pair.release())
        pair = owner(memory.address, created.sq_doorbell, state)
        block.fill(bytes(block.size))
        with module.attach(None, queues=[pair], block_size=BLOCK) as kv:
            kv.retrieve(KEYS, block).raise_for_status()
        emulator.delete_queue(created.qid)
    assert block.bytes() == data


def test_a_relay_and_its_controller_serve_two_modes_at_once(module: Any, array: Any) -> None:
    values = array(64 * COUNT, "device")
    with (
        Emulator(threads=2) as emulator,
        Relay(emulator, module) as relay,
        module.attach(relay, queues=3, block_size=64, memory_mode=[1, 2, 7]) as far,
        module.attach(emulator, block_size=64) as near,
    ):
        far.store(KEYS, values).raise_for_status()
        assert near.exist(KEYS).counts == {Outcome.OK: COUNT}


def test_copies_wait_for_no_lease_to_end(module: Any, attach: Any) -> None:
    """A copier's lease is 2 ms; what comes at once takes a fraction of one."""
    size = 1 << 20
    _, kv = attach(block_size=size)
    block = module.empty(size)
    kv.store([b"key"], block).raise_for_status()

    def seconds() -> float:
        begin = time.perf_counter()
        kv.retrieve([b"key"], block).raise_for_status()
        return time.perf_counter() - begin

    assert statistics.median(seconds() for _ in range(51)) < 1e-3
