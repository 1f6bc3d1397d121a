"""The vendor command Exec, from a module that was built with it."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.targets.device import Target, content, keys_of
from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime import ArgumentFault, Buffer, MemoryMode, Outcome, Place
from xiokv.runtime.emulator import ExecOperation

EXEC = 0x83
COUNT = 300


@pytest.mark.parametrize("queues", [1, 3])
def test_every_key_gets_its_own_output(target: Target, place: Place, queues: int) -> None:
    """Inputs of different lengths, a missing key and one that fails; completions in any order."""
    controller, kv = target.attach(
        {"exec": True, "strict": True, "seed": 3},
        module=target.exec_module,
        queues=queues,
        depth=64,
    )
    assert EXEC not in set(Opcode)
    keys = keys_of(COUNT)
    values = [bytes((number + i) % 251 for i in range(number)) for number in range(COUNT)]
    kv.store(keys, values).raise_for_status()
    controller.fault("reorder", amount=16)
    controller.fault("status", key=keys[20], opcode=EXEC, sct=0, sc=0x88)
    before = np.full((COUNT, 32), 0xEE, np.uint8)
    out = target.memory(before, place)
    inputs = [struct.pack("<QQ", 1, 3)] * COUNT
    inputs[30] = b"not what it takes"

    result = kv.exec([*keys[:-1], b"none"], ExecOperation.RANGE, input=inputs, out=out)

    assert result.counts == {Outcome.OK: COUNT - 3, Outcome.MISSING: 1, Outcome.ERROR: 2}
    assert [result.nvme_status["sc"][index] for index in (20, 30)] == [0x88, 0x02]
    fine = np.flatnonzero(result.status == Outcome.OK).tolist()
    for number in fine:
        part = values[number][1:4]
        assert result.value_size[number] == len(part)
        before[number, : len(part)] = list(part)
    assert (content(out, before) == before).all()


def test_an_output_larger_than_its_room_is_truncated(target: Target, place: Place) -> None:
    """Over more than two pages, by a list of PRP entries; the block is where values are."""
    mode = MemoryMode.DATA if place is Place.DEVICE else 0
    _, kv = target.attach({"exec": True}, module=target.exec_module, depth=4, memory_mode=int(mode))
    value = np.random.default_rng(2).integers(0, 256, 20_000, np.uint8)
    kv.store([b"k"], target.memory(value, place)).raise_for_status()
    before = np.full(16384, 0xEE, np.uint8)
    out = target.memory(before, place)
    sent = struct.pack("<QQ", 100, 15_000)

    result = kv.exec([b"k"], ExecOperation.RANGE, input=sent, out=out, sizes=12_000)

    assert (result.status[0], result.value_size[0]) == (Outcome.TRUNCATED, 15_000)
    before[:12_000] = value[100:12_100]
    assert (content(out, before) == before).all()


def test_an_output_leaves_the_rest_as_the_device_wrote_it(target: Target, place: Place) -> None:
    """It is copied through the host, which had not seen the value that lies there."""
    _, kv = target.attach({"exec": True}, module=target.exec_module, depth=4)
    value = np.random.default_rng(3).integers(0, 256, 64, np.uint8)
    kv.store([b"k"], target.memory(value, place)).raise_for_status()
    out = target.memory(np.zeros(64, np.uint8), place)
    kv.retrieve([b"k"], out).raise_for_status()
    sent = struct.pack("<QQ", 60, 4)
    kv.exec([b"k"], ExecOperation.RANGE, input=sent, out=out, sizes=4).raise_for_status()
    value[:4] = value[60:]
    assert (content(out, value) == value).all()


def test_a_dropped_completion_is_a_timeout_of_that_key(target: Target) -> None:
    controller, kv = target.attach({"exec": True}, module=target.exec_module, depth=16)
    keys = keys_of(20)
    kv.store(keys, target.memory(np.zeros((20, 8), np.uint8))).raise_for_status()
    controller.fault("drop", key=keys[4], opcode=EXEC)
    result = kv.exec(keys, ExecOperation.CHECKSUM, out=bytearray(80), timeout=0.5)
    assert result.counts == {Outcome.OK: 19, Outcome.TIMEOUT: 1}
    assert result.status[4] == Outcome.TIMEOUT


class Foreign:
    """An array of another library in the GPU."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.__cuda_array_interface__ = buffer.__cuda_array_interface__


@pytest.mark.targets("gfx942", "cuda")
def test_another_library_s_memory_in_the_gpu_is_refused(target: Target) -> None:
    controller, kv = target.attach({"exec": True}, module=target.exec_module)
    out = Foreign(target.memory(np.zeros(8, np.uint8), Place.DEVICE))
    with pytest.raises(ArgumentFault, match=r"another library .* Module\.empty\(\)"):
        kv.exec([b"k"], ExecOperation.LENGTH, out=out)
    assert controller.counters().commands == 0
