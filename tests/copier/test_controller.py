"""The embedded controller with a copier as its hook: values that the CPU does not touch."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.abi import Outcome
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.emulator.library import DmaFlush, DmaHook, DmaRead, DmaWrite

COUNT = 200
BLOCK = 5000


def hook_of(gpu: Any) -> DmaHook:
    return DmaHook(
        gpu.copier,
        DmaRead(("xiokv_copier_read", gpu.library)),
        DmaWrite(("xiokv_copier_write", gpu.library)),
        DmaFlush(("xiokv_copier_flush", gpu.library)),
    )


def test_values_go_to_far_memory_and_back(gpu: Any, module: Any) -> None:
    far = np.frombuffer(gpu.far.view, np.uint8)
    stored, out = np.split(far[: 2 * COUNT * BLOCK], 2)
    stored[:] = np.frombuffer(Random(1).randbytes(stored.size), np.uint8)
    keys = [b"key %d" % number for number in range(COUNT)]

    with Emulator(threads=2) as controller:
        controller.set_dma(hook_of(gpu))
        with module.attach(controller, queues=3, block_size=BLOCK) as kv:
            kv.store(keys, stored).raise_for_status()
            kv.retrieve(keys, out).raise_for_status()

    assert bytes(out) == bytes(stored)
    assert gpu.launches >= 1


@pytest.mark.parametrize("call", ["store", "retrieve"])
def test_a_copier_that_fails_fails_the_command(
    make_gpu: Callable[..., Any], module: Any, call: str
) -> None:
    gpu = make_gpu(patience=0.05)
    near = np.zeros(16, np.uint8)
    far = np.frombuffer(gpu.far.view, np.uint8)[:16]
    with Emulator() as controller:
        controller.set_dma(hook_of(gpu))
        with module.attach(controller, block_size=16) as kv:
            kv.store([b"key"], near).raise_for_status()
            gpu.works = False

            failed = getattr(kv, call)([b"key"], far)

            assert failed.counts == {Outcome.ERROR: 1}
            assert failed.nvme_status["sc"].tolist() == [0x04]
