"""The calls on the GPU driver: host kernels play the GPU's, on memory as the driver places it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import abi
from xiokv.runtime.abi import Outcome, QueueState
from xiokv.runtime.buffers import NO_VALUES
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault, DeadQueueFault, LostFault, RuntimeFault
from xiokv.runtime.keys import pack_keys
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module
from xiokv.runtime.semantic import NO_SEMANTIC
from xiokv.runtime.slabs import IN_PLACE_MAX, Slab
from xiokv.runtime.staging import Copy

from .gpu_fakes import Api, attempt

KEYS = [b"one", b"two", b"three"]
BLOCK = 64
BLOCKS = np.arange(3 * BLOCK, dtype=np.uint8)


class Gpu(Api):
    """A GPU whose kernels are the host module's, done when the launch returns."""

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._library = ctypes.CDLL(str(library))

    def clock_hz(self, device: int) -> int:
        return 10**9

    def launch(self, function: str, groups: int, lanes: int, stream: int, argument: Any) -> None:
        super().launch(function, groups, lanes, stream, argument)
        entry = self._library[function]
        entry.argtypes = (ctypes.POINTER(abi.Batch), ctypes.c_uint32)
        for number in range(groups):
            entry(argument, number)


@pytest.fixture
def gpu(module: Module) -> Gpu:
    return Gpu(module.path)


@pytest.fixture
def on_gpu(module: Module, gpu: Gpu) -> Module:
    """Return the module of this checkout, on the GPU."""
    return Module(module.description, module.image, GpuDriver(GpuDevice(gpu), b"image"))


Attach = Callable[..., tuple[Emulator, KV]]


@pytest.fixture
def attach(on_gpu: Module) -> Iterator[Attach]:
    with ExitStack() as stack:

        def make(**options: Any) -> tuple[Emulator, KV]:
            controller = stack.enter_context(Emulator())
            chosen = {"depth": 16, "window": 15, "block_size": BLOCK, **options}
            return controller, stack.enter_context(on_gpu.attach(controller, **chosen))

        yield make


@pytest.fixture
def kv(attach: Attach) -> KV:
    return attach(queues=2)[1]


def stored(kv: KV) -> KV:
    kv.store(KEYS, BLOCKS, copy=True).raise_for_status()
    return kv


# Where values may lie.


@pytest.mark.parametrize("place", Place)
def test_blocks_go_and_come_in_the_modules_buffers(kv: KV, on_gpu: Module, place: Place) -> None:
    given, taken = (on_gpu.empty(BLOCKS.size, place=place) for _ in range(2))
    given.view[:] = BLOCKS
    given.upload()
    kv.store(KEYS, given).raise_for_status()
    kv.retrieve(KEYS, taken).raise_for_status()
    taken.download()
    assert taken.view.tobytes() == BLOCKS.tobytes()


def test_pageable_memory_is_refused_with_the_ways_out(kv: KV) -> None:
    for call in (lambda: kv.store(KEYS, BLOCKS), lambda: kv.retrieve(KEYS, BLOCKS.copy())):
        with pytest.raises(ArgumentFault, match=r"pageable.*pin_memory.*Module\.empty.*copy=True"):
            call()


def test_pageable_memory_is_copied_when_asked(kv: KV) -> None:
    out = np.zeros(BLOCKS.size, np.uint8)
    stored(kv).retrieve(KEYS, out, copy=True).raise_for_status()
    assert out.tobytes() == BLOCKS.tobytes()


def test_page_locked_memory_is_never_copied(kv: KV, on_gpu: Module, gpu: Gpu) -> None:
    buffer = on_gpu.empty(BLOCKS.size, place=Place.HOST)
    gpu.calls.clear()
    kv.store(KEYS, buffer, copy=True).raise_for_status()
    assert "host_alloc" not in gpu.names()


def test_a_copy_leaves_alone_what_no_value_covers(kv: KV) -> None:
    kv.store(KEYS, [b"a", b"bb", b""]).raise_for_status()
    out = np.full(3 * BLOCK, 0xEE, np.uint8)
    kv.retrieve(KEYS, out, copy=True).raise_for_status()
    filled = [bytes(out[at : at + 3]) for at in (0, BLOCK, 2 * BLOCK)]
    assert filled == [b"a\xee\xee", b"bb\xee", b"\xee\xee\xee"]
    assert (np.count_nonzero(out != 0xEE)) == 3


def test_a_copy_may_lie_anywhere(kv: KV) -> None:
    out = np.zeros(BLOCKS.size + 1, np.uint8)[1:]
    stored(kv).retrieve(KEYS, out, copy=True).raise_for_status()
    assert out.tobytes() == BLOCKS.tobytes()


def test_batches_share_the_block_for_copies(kv: KV, gpu: Gpu) -> None:
    stored(kv)
    gpu.calls.clear()
    stored(kv).store(KEYS, [bytes(BLOCK)] * 3).raise_for_status()
    assert "host_alloc" not in gpu.names()


def test_read_only_memory_is_refused_even_for_a_copy(kv: KV) -> None:
    with pytest.raises(ArgumentFault, match="read-only"):
        stored(kv).retrieve(KEYS, BLOCKS.tobytes(), copy=True)


def test_an_interrupt_while_values_are_copied_back_loses_nothing(
    kv: KV, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(kv)
    take_back, interrupts = Copy.take_back, [KeyboardInterrupt()]

    def interrupted(copy: Copy, records: Any) -> None:
        if interrupts:
            raise interrupts.pop()
        take_back(copy, records)

    monkeypatch.setattr(Copy, "take_back", interrupted)
    out = np.zeros(BLOCKS.size, np.uint8)
    with pytest.raises(KeyboardInterrupt):
        kv.retrieve(KEYS, out, copy=True)
    assert out.tobytes() == BLOCKS.tobytes()
    slabs = kv._submitter._pool._free
    assert len(set(slabs)) == len(slabs)


def test_keys_are_listed(kv: KV) -> None:
    assert sorted(stored(kv).list()) == sorted(KEYS)


def test_data_of_the_runtime_lies_in_the_gpu_where_the_mode_says(attach: Attach, gpu: Gpu) -> None:
    _, kv = attach(memory_mode=8)
    gpu.calls.clear()
    out = np.zeros(BLOCKS.size, np.uint8)
    stored(kv).retrieve(KEYS, out, copy=True).raise_for_status()
    assert out.tobytes() == BLOCKS.tobytes()
    assert sorted(kv.list()) == sorted(KEYS)
    assert "device_alloc" in gpu.names()


def test_work_that_made_a_value_goes_before_the_kernel(kv: KV, on_gpu: Module, gpu: Gpu) -> None:
    class Made:
        def __init__(self) -> None:
            self.buffer = on_gpu.empty(BLOCKS.size)
            self.__cuda_array_interface__ = {**self.buffer.__cuda_array_interface__, "stream": 9}

    gpu.calls.clear()
    kv.store(KEYS, Made(), stream=5).raise_for_status()
    names = [call[:1] + call[2:] for call in gpu.calls]
    recorded = names.index(("event_record", 9))
    assert gpu.calls[recorded + 1][:2] == ("stream_wait", 5)
    assert recorded < next(i for i, call in enumerate(gpu.calls) if call[0] == "launch")


# What a batch needs beside.


@pytest.mark.parametrize("count", [1, IN_PLACE_MAX, IN_PLACE_MAX + 1, 1000])
def test_few_keys_are_read_in_place_and_many_are_copied(
    on_gpu: Module, gpu: Gpu, count: int
) -> None:
    slab = Slab(on_gpu.driver, 1000, ())
    gpu.calls.clear()
    keys = pack_keys([f"{i:x}".encode() for i in range(count)], None, 16)
    batch = slab.fill(keys, NO_VALUES, NO_SEMANTIC)
    slab.upload(5)
    copied = [call[3:] for call in gpu.calls if call[0] == "copy"]
    bytes_of_a_key = 16 + 1 * (count > 16)
    assert copied == [(count * bytes_of_a_key, 5)] * (count > IN_PLACE_MAX)
    rows = np.ctypeslib.as_array((ctypes.c_uint8 * (16 * count)).from_address(batch.keys))
    assert rows.tobytes() == keys.rows.tobytes()
    slab.free()


def test_what_the_host_polls_and_reads_lies_on_the_host(on_gpu: Module, gpu: Gpu) -> None:
    slab = Slab(on_gpu.driver, 1000, ())
    batch = slab.fill(pack_keys([b"a"] * 1000, None, 16), NO_VALUES, NO_SEMANTIC)
    kinds = {name: gpu.pointer(getattr(batch, name)).kind.name for name in ("stop", "results")}
    kinds |= {name: gpu.pointer(getattr(batch, name)).kind.name for name in ("state", "keys")}
    assert kinds == {"stop": "PINNED", "results": "PINNED", "state": "DEVICE", "keys": "DEVICE"}
    slab.free()


def test_a_batch_allocates_nothing(kv: KV, gpu: Gpu) -> None:
    stored(kv)
    gpu.calls.clear()
    kv.exist(KEYS * 200).raise_for_status()
    assert {"host_alloc", "device_alloc", "host_register"}.isdisjoint(gpu.names())


def test_all_memory_is_free_after_close(attach: Attach, gpu: Gpu) -> None:
    controller, kv = attach(queues=2, memory_mode=8)
    registers = controller.registers
    stored(kv).close()
    assert gpu.in_use == [registers]


# What may go wrong.


def test_a_timeout_keeps_the_copy_from_later_batches(attach: Attach, gpu: Gpu) -> None:
    controller, kv = attach(timeout=0.2)
    stored(kv)
    controller.fault("drop", opcode=2)
    out = np.zeros(BLOCKS.size, np.uint8)
    result = kv.retrieve(KEYS, out, copy=True)
    assert set(result.status) == {Outcome.TIMEOUT}
    assert result.buffer_may_be_written
    controller.clear_faults()
    before = len(gpu.in_use)
    kv.reset()
    assert not result.buffer_may_be_written
    assert len(gpu.in_use) == before - 1
    kv.retrieve(KEYS, out, copy=True).raise_for_status()
    assert out.tobytes() == BLOCKS.tobytes()


def test_a_kernel_that_failed_is_no_success_and_leaves_dead_queues(kv: KV, gpu: Gpu) -> None:
    stored(kv)
    gpu.fails = "hipEventQuery: hipErrorLaunchFailure (719)"
    with pytest.raises(LostFault, match="failed on its device"):
        kv.exist(KEYS)
    gpu.fails = ""
    assert {pair.state for pair in kv.queues} == {QueueState.DEAD}
    with pytest.raises(DeadQueueFault):
        kv.exist(KEYS)
    kv.reset()
    kv.exist(KEYS).raise_for_status()


def test_a_failed_attach_leaves_nothing_behind(on_gpu: Module, gpu: Gpu) -> None:
    """Each call of the library is refused in turn, until all succeed."""
    options = {"depth": 16, "block_size": BLOCK, "memory_mode": 8}
    with Emulator() as controller:
        on_gpu.attach(controller, **options).close()
        gpu.calls.clear()
        before = gpu.in_use, gpu.handles
        for granted in range(1000):
            gpu.granted = granted
            if attempt(lambda: on_gpu.attach(controller, **options).close()):
                return
            assert (granted, gpu.in_use, gpu.handles) == (granted, *before)
    pytest.fail("it is never attached")


@pytest.mark.parametrize("when", ["at the launch", "later"])
def test_what_a_device_ran_that_fails_for_good_can_be_closed(
    attach: Attach, gpu: Gpu, when: str
) -> None:
    _, kv = attach()

    def fail(kernel: str, batch: Any) -> None:
        gpu.broken = gpu.fails = "hipErrorLaunchFailure (719)"

    if when == "at the launch":
        gpu.on_launch = fail
        with pytest.raises(RuntimeFault, match="hipErrorLaunchFailure"):
            kv.exist(KEYS)
    else:
        gpu.ended = False
        result = kv.exist(KEYS, stream=5)
        fail("", None)
        with pytest.raises(LostFault):
            result.wait()
    kv.close()


def test_a_copy_that_does_not_come_back_fails_its_batch_and_keeps_nothing(
    attach: Attach, gpu: Gpu
) -> None:
    controller, kv = attach(memory_mode=8)
    stored(kv)
    gpu.ended = False
    result = kv.retrieve(KEYS, np.zeros(BLOCKS.size, np.uint8), copy=True, stream=5)
    gpu.ended, gpu.granted = True, 0
    with pytest.raises(RuntimeFault, match="copy refused"):
        result.wait()
    kv.close()
    assert gpu.in_use == [controller.registers]


def test_a_batch_that_was_not_launched_gets_its_stream_to_end(kv: KV, gpu: Gpu) -> None:
    keys = KEYS * IN_PLACE_MAX
    kv.exist(keys)
    gpu.calls.clear()
    gpu.granted = 1  # The event of the launch before may be had, the upload not.
    with pytest.raises(RuntimeFault, match="refused"):
        kv.exist(keys, stream=5)
    assert gpu.calls[-1] == ("stream_synchronize", 5)
    gpu.granted = None
    kv.exist(keys).raise_for_status()


def test_what_a_failed_kernel_ran_on_can_be_closed(attach: Attach, gpu: Gpu) -> None:
    _, kv = attach()
    gpu.fails = "hipEventQuery: hipErrorLaunchFailure (719)"
    with pytest.raises(LostFault):
        kv.exist(KEYS)
    kv.close()
