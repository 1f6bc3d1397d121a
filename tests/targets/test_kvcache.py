"""KV-cache plans on every target: blocks land in the module's memory, and each is checked there."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.kvcache.donors import BLOCK_TOKENS, TENANT, contents, joined, layout, payloads
from tests.targets.device import Target
from xiokv.runtime import Buffer, Place
from xiokv.runtime.kvcache import (
    Cause,
    DonorSpan,
    Executor,
    FreshSpan,
    KvStorage,
    NewDonor,
    Plan,
    Range,
    Report,
    Settings,
)
from xiokv.runtime.testing.rig import make_rig

ROWS = 4
SHAPE = layout(64, 1500)  # the second is split into values of 1 KiB at most
CONTROLLER = {"value_max": 1024}
SPANS = (
    FreshSpan(target=Range(0, 32)),
    DonorSpan(target=Range(32, 80), donor="donor", source=Range(16, 64)),
)
PLAN = Plan(request="r", tokens=80, block_tokens=BLOCK_TOKENS, spans=SPANS)


def check_bytes(report: Report, blocks: list[np.ndarray]) -> None:  # type: ignore[type-arg]
    buffer = report.buffer
    assert isinstance(buffer, Buffer)
    if buffer.place is Place.DEVICE:
        buffer.view[:] = 0  # what is there next came from the device
    buffer.download()
    for _, position, offsets in report.placed():
        row = 1 + (position - 32) // BLOCK_TOKENS
        for shard, offset in enumerate(offsets):
            block = blocks[row * 2 + shard]
            assert (buffer.view[offset : offset + len(block)] == block).all()


def test_a_plan_is_carried_out(target: Target, place: Place) -> None:
    blocks = payloads(SHAPE, ROWS)
    with make_rig(target.module, controller=CONTROLLER, queues=2, timeout=20.0) as rig:
        storage = KvStorage(rig.kv, TENANT)
        memory = target.memory(joined(blocks), place)
        manifest = storage.publish(NewDonor("donor", SHAPE, contents(ROWS)), memory)
        allocate = partial(target.module.empty, place=place)
        report = Executor(storage, allocate=allocate).execute(PLAN)
        assert report.verified
        assert report.spans[1].landed == 3
        check_bytes(report, blocks)

        rig.faults.flip([bytes.fromhex(manifest.blocks[2 * 3].key)])
        executor = Executor(storage, allocate=allocate, settings=Settings(verify="later"))
        report = executor.settle(executor.execute(PLAN))
        assert (report.spans[1].landed, report.spans[1].cause) == (2, Cause.BLOCK)
        assert report.spans[1].reason == "block 2, shard 0: CORRUPT"
        check_bytes(report, blocks)
