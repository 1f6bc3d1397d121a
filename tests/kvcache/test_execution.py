"""Plans carried out: what lands where, in whose memory, and what the report says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.execution import Executor, Settings
from xiokv.runtime.kvcache.materialiser import Accept, AcceptAll
from xiokv.runtime.kvcache.plan import FreshSpan
from xiokv.runtime.kvcache.report import Cause, Report
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.testing import Rig

from .conftest import Place, on_a_namespace
from .donors import Given, contents, layout, publish
from .plans import PLAN, ROWS, SHAPE, Hook, blocks_of, check_bytes, donor, execute, plan, tokens


def test_a_span_lands_where_the_report_says(place: Place, given: Given) -> None:
    report = execute(place.storage, PLAN)
    assert blocks_of(report.materialised) == [2, 3, 4, 5, 6, 7]
    assert blocks_of(report.fresh) == [0, 1, 8]
    assert [span.cause for span in report.spans] == [Cause.PLANNED, Cause.NONE, Cause.PLANNED]
    assert report.verified
    assert check_bytes(report, {"donor": given}) == 6


def test_spans_of_many_donors_are_one_batch(rig: Rig) -> None:
    place = on_a_namespace(rig)
    givens = {
        name: publish(place.storage, name, ROWS, SHAPE, seed)
        for seed, name in enumerate(("a", "b"), start=1)
    }
    executor = Executor(place.storage)
    mixed = plan(donor(0, 4, 2, "a"), donor(2, 0, 3, "b"), donor(5, 0, 1, "a"))
    executor.execute(mixed)  # what was resolved is remembered
    rig.controller.trace_start()
    report = executor.execute(mixed)
    retrieved = [
        entry for entry in rig.controller.trace() if entry.kind == "sqe" and entry.data[0] == 2
    ]
    assert check_bytes(report, givens) == 6
    # Two heads to resolve and two to lease, then two values a block of 9000 bytes.
    assert len(retrieved) == 4 + 6 * 3


def test_a_rank_fetches_its_own_blocks(place: Place) -> None:
    givens = [
        publish(place.storage, rows=ROWS, shape=layout(512, 9000, tp_rank=rank), seed=1 + rank)
        for rank in range(2)
    ]
    for rank, ours in enumerate(givens):
        assert check_bytes(execute(place.storage, PLAN, rank=rank), {"donor": ours}) == 6
    assert execute(place.storage, PLAN, rank=2).spans[1].cause is Cause.DONOR


def test_keys_that_are_the_manifests_are_taken(place: Place, given: Given) -> None:
    keys = tuple(block.key for block in given.manifest.blocks[2:6])
    report = execute(place.storage, plan(donor(0, 1, 2, keys=keys)))
    assert report.spans[0].landed == 2


def test_leases_end_with_the_plan(place: Place, given: Given) -> None:
    execute(place.storage, PLAN)
    place.storage.remove("donor")


def test_memory_is_the_callers(place: Place, given: Given) -> None:
    asked: list[int] = []

    def allocate(size: int) -> Any:
        asked.append(size)
        return np.full(size, 7, np.uint8)

    report = Executor(place.storage, allocate=allocate).execute(PLAN)
    assert asked == [6 * 9512]
    assert check_bytes(report, {"donor": given}) == 6


def test_a_plan_without_donors_fetches_nothing(place: Place) -> None:
    report = execute(place.storage, plan(FreshSpan(target=tokens(0, 4))))
    assert (report.materialised, blocks_of(report.fresh)) == ([], [0, 1, 2, 3])


def test_a_report_is_json(place: Place, given: Given) -> None:
    values = json.loads(json.dumps(execute(place.storage, PLAN).as_values()))
    assert values["materialised"] == [[32, 128]]
    assert values["spans"][1] == {
        "span": 1,
        "target": [32, 128],
        "donor": "donor",
        "offered_blocks": 6,
        "accepted_blocks": 6,
        "landed_blocks": 6,
        "bytes": 6 * 9512,
        "cause": "",
        "reason": "",
        "states": {"VERIFIED": 12},
    }


class TestVerification:
    def test_later_finds_what_now_finds(self, place: Place, given: Given) -> None:
        place.damage(bytes.fromhex(given.manifest.blocks[2 * 4].key), lambda value: value[::-1])
        executor = Executor(place.storage, settings=Settings(verify="later"))
        report = executor.execute(PLAN)
        assert not report.verified
        assert report.spans[1].landed == 6
        settled = executor.settle(report)
        now = execute(place.storage, PLAN)
        assert settled.verified
        assert settled.spans[1].landed == now.spans[1].landed == 3
        assert settled.spans[1].reason == now.spans[1].reason
        assert executor.settle(settled) is settled

    def test_later_keeps_why_the_backend_took_a_part(self, place: Place, given: Given) -> None:
        hook = Hook(lambda offer: Accept(Range(0, 2)))
        executor = Executor(place.storage, hook, settings=Settings(verify="later"))
        report = executor.execute(PLAN)
        for found in (report, executor.settle(report)):
            span = found.spans[1]
            assert (span.landed, span.cause) == (2, Cause.DECLINED)
            assert span.reason == "blocks [0, 2) of 6 were taken"

    def test_never_says_so(self, place: Place, given: Given) -> None:
        report = execute(place.storage, PLAN, verify="never")
        assert not report.verified
        assert (report.spans[1].states == BlockState.LANDED).all()


class TestExactBlocks:
    def test_they_are_counted_where_contents_and_layout_are_given(
        self, place: Place, given: Given
    ) -> None:
        own = [content.hex() for content in contents(9, 1000)]
        asked = plan(*PLAN.spans, contents=tuple(own))
        assert execute(place.storage, asked, layout=SHAPE).exact_blocks == ROWS
        assert execute(place.storage, asked, layout=layout(512)).exact_blocks == ROWS
        assert execute(place.storage, asked, layout=layout(512, 9000, tp_rank=1)).exact_blocks == 0

    def test_otherwise_nobody_knows(self, place: Place, given: Given) -> None:
        assert execute(place.storage, PLAN, layout=SHAPE).exact_blocks is None
        own = tuple(content.hex() for content in contents(9, 1000))
        assert execute(place.storage, plan(*PLAN.spans, contents=own)).exact_blocks is None


def test_exact_hits_end_with_the_first_block_that_is_not_there(place: Place, given: Given) -> None:
    place.damage(bytes.fromhex(given.manifest.blocks[2 * 3].key), lambda value: None)
    if hasattr(place.storage, "blocks"):  # a namespace tells by the record beside the block
        digests = place.storage.resolve("donor").table.digests
        place.storage.blocks.delete(digests[6:7], sizes=512)
    asked = plan(*PLAN.spans, contents=tuple(one.hex() for one in contents(9, 1000)))
    assert execute(place.storage, asked, layout=SHAPE).exact_blocks == 3


class TestSupplied:
    def test_what_the_backend_measured_is_kept(self, place: Place, given: Given) -> None:
        class Backend(AcceptAll):
            def supplied(self, report: Report) -> Mapping[str, Any]:
                return {"ttft_seconds": 0.25, "blocks": report.spans[1].landed}

        assert execute(place.storage, PLAN, Backend()).supplied == {
            "ttft_seconds": 0.25,
            "blocks": 6,
        }

    def test_a_backend_that_fails_at_it_loses_nothing_else(
        self, place: Place, given: Given
    ) -> None:
        class Backend(AcceptAll):
            def supplied(self, report: Report) -> Mapping[str, Any]:
                raise ValueError("no clock")

        report = execute(place.storage, PLAN, Backend())
        assert report.supplied == {}
        assert report.spans[1].landed == 6
