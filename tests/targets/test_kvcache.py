"""KV-cache plans on every target: blocks land in the module's memory, and each is checked there."""

from __future__ import annotations

from functools import partial

from tests.kvcache.donors import TENANT, Given, contents, joined, layout, payloads
from tests.kvcache.plans import PLAN, ROWS, check_bytes
from tests.targets.device import Target
from xiokv.runtime import Place
from xiokv.runtime.kvcache import Cause, Executor, KvStorage, NewDonor, Settings
from xiokv.runtime.testing.rig import make_rig

SHAPE = layout(64, 1500)  # the second is split into values of 1 KiB at most
CONTROLLER = {"value_max": 1024}


def test_a_plan_is_carried_out(target: Target, place: Place) -> None:
    blocks = payloads(SHAPE, ROWS)
    with make_rig(target.module, controller=CONTROLLER, queues=2, timeout=20.0) as rig:
        storage = KvStorage(rig.kv, TENANT)
        memory = target.memory(joined(blocks), place)
        manifest = storage.publish(NewDonor("donor", SHAPE, contents(ROWS)), memory)
        allocate = partial(target.module.empty, place=place)
        report = Executor(storage, allocate=allocate).execute(PLAN)
        assert report.verified
        given = {"donor": Given(manifest, blocks)}
        assert check_bytes(report, given) == 6

        rig.faults.flip([bytes.fromhex(manifest.blocks[2 * 3].key)])
        executor = Executor(storage, allocate=allocate, settings=Settings(verify="later"))
        report = executor.settle(executor.execute(PLAN))
        assert (report.spans[1].landed, report.spans[1].cause) == (2, Cause.BLOCK)
        assert report.spans[1].reason == "block 2, shard 0: CORRUPT"
        assert check_bytes(report, given) == 2
