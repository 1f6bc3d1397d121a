"""Blocks that are bad and a storage that fails, under a plan: what is left, and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.runtime.errors import LostFault, RuntimeFault
from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.execution import Executor, Settings
from xiokv.runtime.kvcache.materialiser import Accept, Decision, Offer
from xiokv.runtime.kvcache.report import Cause
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.testing import MakeRig, Rig

from .conftest import Place, on_a_namespace
from .donors import Given, contents, publish
from .plans import PLAN, ROWS, SHAPE, Hook, blocks_of, check_bytes, execute, plan


class TestBadBlocks:
    @pytest.mark.parametrize(("policy", "left"), [("tail", [2, 3, 4]), ("span", [])])
    @pytest.mark.parametrize(
        ("change", "state"),
        [
            (lambda value: None, "MISSING"),
            (lambda value: value[:-4], "WRONG_SIZE"),
            (lambda value: value[::-1], "CORRUPT"),
        ],
    )
    def test_a_bad_block_makes_its_span_or_what_is_behind_it_fresh(
        self, place: Place, given: Given, change: Any, state: str, policy: Any, left: list[int]
    ) -> None:
        # Block 4 of the donor is block 3 of the span; its first shard is one value.
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4].key), change)
        report = execute(place.storage, PLAN, on_bad_block=policy)
        assert blocks_of(report.materialised) == left
        assert check_bytes(report, {"donor": given}) == len(left)
        assert report.spans[1].cause is Cause.BLOCK
        assert report.spans[1].reason == f"block 3, shard 0: {state}"
        assert report.spans[1].states[4:].tolist() == [[BlockState.VERIFIED] * 2] * 2

    def test_a_bad_block_that_the_backend_did_not_take_does_not_count(
        self, place: Place, given: Given
    ) -> None:
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4].key), lambda value: None)
        report = execute(place.storage, PLAN, Hook(lambda offer: Accept(Range(0, 3))))
        assert blocks_of(report.materialised) == [2, 3, 4]
        assert report.spans[1].cause is Cause.DECLINED

    def test_numbers_of_blocks_are_those_of_the_span(self, place: Place, given: Given) -> None:
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4 + 1].key), lambda value: None)
        report = execute(place.storage, PLAN, Hook(lambda offer: Accept(Range(2, 5))))
        assert report.spans[1].reason == "block 3, shard 1: MISSING"
        assert blocks_of(report.materialised) == [4]


class TestStorageThatFails:
    @pytest.fixture
    def rig(self, xiokv_make: MakeRig) -> Rig:
        """A controller that is given up on soon."""
        return xiokv_make(controller={"value_max": 8192}, queues=2, timeout=1.0)

    def test_a_block_that_times_out_leaves_the_buffer_in_danger(self, rig: Rig) -> None:
        place = on_a_namespace(rig)
        given = publish(place.storage, rows=ROWS, shape=SHAPE)
        rig.faults.drop([bytes.fromhex(given.manifest.blocks[2 * 4].key)])
        report = execute(place.storage, PLAN)
        assert report.buffer_may_be_written
        assert BlockState.TIMEOUT in report.spans[1].states
        assert check_bytes(report, {"donor": given}) <= 3
        # The queue is dead now: nothing can be asked, and nothing is an exception.
        report = execute(place.storage, PLAN)
        assert report.materialised == []
        assert report.spans[1].cause is Cause.STORAGE
        rig.faults.recover()
        assert check_bytes(execute(place.storage, PLAN), {"donor": given}) == 6

    def test_a_controller_that_dies_in_mid_plan(self, rig: Rig) -> None:
        place = on_a_namespace(rig)
        publish(place.storage, rows=ROWS, shape=SHAPE)

        def decide(offer: Offer) -> Decision:
            return Accept()

        def lease_then_die(*arguments: Any) -> Any:
            lease = lease_of(*arguments)
            rig.faults.hang()
            return lease

        lease_of = place.storage.lease_all
        place.storage.lease_all = lease_then_die  # type: ignore[method-assign]
        report = execute(place.storage, PLAN, Hook(decide))
        assert report.materialised == []
        assert (report.spans[1].states == BlockState.TIMEOUT).all()
        assert report.buffer_may_be_written

    def test_a_batch_that_cannot_be_run_is_told_by_its_reason(
        self, place: Place, given: Given
    ) -> None:
        def fail(*arguments: Any, **options: Any) -> Any:
            raise RuntimeFault("the cable is out")

        place.storage.retrieve = fail  # type: ignore[method-assign]
        for verify in ("now", "later"):
            executor = Executor(place.storage, settings=Settings(verify=verify))  # type: ignore[arg-type]
            report = executor.settle(executor.execute(PLAN))
            assert (report.spans[1].cause, report.spans[1].reason) == (
                Cause.STORAGE,
                "the cable is out",
            )
            assert report.materialised == []

    def test_a_lease_that_ends_before_the_blocks_landed(self, place: Place, given: Given) -> None:
        retrieve = place.storage.retrieve

        def late(*arguments: Any, **options: Any) -> Any:
            found = retrieve(*arguments, **options)
            place.clock.now += 31
            return retrieve(*arguments, **options) if found else found

        place.storage.retrieve = late  # type: ignore[method-assign]
        report = execute(place.storage, PLAN)
        assert report.spans[1].cause is Cause.LEASE
        assert report.spans[1].reason == "block 0, shard 0: EXPIRED"
        assert report.materialised == []

    @pytest.mark.parametrize(
        "allocate",
        [
            lambda size: np.zeros(1 << 60, np.uint8),
            lambda size: 1 / 0,
            lambda size: None,
            lambda size: np.zeros(size - 4, np.uint8),
            bytes,
        ],
        ids=["no memory", "an exception", "nothing", "too little", "read-only"],
    )
    def test_a_buffer_that_cannot_be_used_is_no_exception(
        self, place: Place, given: Given, allocate: Any
    ) -> None:
        report = Executor(place.storage, allocate=allocate).execute(PLAN)
        assert report.materialised == []
        assert report.spans[1].cause is Cause.STORAGE
        assert not report.buffer_may_be_written

    def test_after_a_device_is_lost_the_buffer_may_still_be_written(
        self, place: Place, given: Given
    ) -> None:
        def lost(*arguments: Any, **options: Any) -> Any:
            raise LostFault("the kernel failed on its device")

        place.storage.retrieve = lost  # type: ignore[method-assign]
        assert execute(place.storage, PLAN).buffer_may_be_written

    def test_what_cannot_be_verified_does_not_count(self, place: Place, given: Given) -> None:
        """As where the GPU that holds the buffer is lost before it is copied."""

        def fail(*arguments: Any) -> Any:
            raise RuntimeFault("no copy came back")

        place.storage.verify = fail  # type: ignore[method-assign]
        report = execute(place.storage, PLAN)
        assert report.materialised == []
        assert (report.spans[1].cause, report.spans[1].reason) == (
            Cause.STORAGE,
            "no copy came back",
        )

    def test_exact_blocks_that_cannot_be_counted_are_no_exception(self, rig: Rig) -> None:
        place = on_a_namespace(rig)
        publish(place.storage, rows=ROWS, shape=SHAPE)
        rig.kv.close()
        own = tuple(content.hex() for content in contents(9, 1000))
        report = execute(place.storage, plan(*PLAN.spans, contents=own), layout=SHAPE)
        assert report.exact_blocks is None
        assert report.spans[1].cause is Cause.STORAGE
