"""What a backend decides of a span: all of it, a part, nothing, and nonsense."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as with_fields

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.materialiser import Accept, Decision, Decline, Offer, SameLayout
from xiokv.runtime.kvcache.report import Cause
from xiokv.runtime.testing import Rig

from .conftest import Place, on_a_namespace
from .donors import Given, publish
from .plans import PLAN, ROWS, SHAPE, Hook, blocks_of, check_bytes, execute


def test_a_declined_span_leads_to_no_retrieve(rig: Rig) -> None:
    place = on_a_namespace(rig)
    given = publish(place.storage, rows=ROWS, shape=SHAPE)
    rig.controller.trace_start()
    report = execute(place.storage, PLAN, Hook(lambda offer: Decline("other RoPE base")))
    keys = {bytes.fromhex(block.key) for block in given.manifest.blocks}
    asked = [entry.data for entry in rig.controller.trace() if entry.kind == "sqe"]
    assert asked, "the trace holds what was asked to resolve the donor"
    assert not keys & {sqe[8:16] + sqe[56:64] for sqe in asked}
    assert report.spans[1].cause is Cause.DECLINED
    assert report.spans[1].reason == "other RoPE base"
    assert report.materialised == []
    assert blocks_of(report.fresh) == list(range(9))
    assert len(report.buffer) == 0


def test_a_part_of_a_span_is_taken(place: Place, given: Given) -> None:
    report = execute(place.storage, PLAN, Hook(lambda offer: Accept(Range(2, 5))))
    assert blocks_of(report.materialised) == [4, 5, 6]
    assert check_bytes(report, {"donor": given}) == 3
    assert report.spans[1].cause is Cause.DECLINED
    assert report.spans[1].reason == "blocks [2, 5) of 6 were taken"
    assert report.spans[1].bytes == 3 * 9512


def test_the_hook_sees_span_manifest_and_cost(place: Place, given: Given) -> None:
    seen: list[Offer] = []

    def decide(offer: Offer) -> Decision:
        seen.append(offer)
        return Accept()

    execute(place.storage, PLAN, Hook(decide))
    (offer,) = seen
    assert (offer.span, offer.manifest, offer.blocks) == (PLAN.spans[1], given.manifest, 6)
    assert offer.cost.bytes == 6 * 9512


class Unshowable(Exception):
    def __repr__(self) -> str:
        raise ValueError("no words")


BAD_DECISIONS: dict[str, Callable[[Offer], Any]] = {
    "an exception": lambda offer: 1 / 0,
    "nothing": lambda offer: None,
    "blocks that are not there": lambda offer: Accept(Range(3, 7)),
    "no block": lambda offer: Accept(Range(3, 3)),
    "blocks that end first": lambda offer: Accept(Range(3, 1)),
    "a tuple": lambda offer: Accept((0, 1)),  # type: ignore[arg-type]
    "halves of blocks": lambda offer: Accept(Range(0.0, 1.5)),  # type: ignore[arg-type]
    "no numbers": lambda offer: Accept(Range(None, None)),  # type: ignore[arg-type]
    "what cannot be shown": lambda offer: Unshowable(),
    "an exception that cannot be shown": lambda offer: (_ for _ in ()).throw(Unshowable()),
}


@pytest.mark.parametrize("decide", BAD_DECISIONS.values(), ids=BAD_DECISIONS)
def test_a_hook_that_fails_declines(place: Place, given: Given, decide: Any) -> None:
    report = execute(place.storage, PLAN, Hook(decide))
    assert report.materialised == []
    assert report.spans[1].cause is Cause.DECLINED
    assert "the hook" in report.spans[1].reason


def test_numbers_of_numpy_are_taken(place: Place, given: Given) -> None:
    taken = Accept(Range(np.int64(2), np.int64(5)))  # type: ignore[arg-type]
    report = execute(place.storage, PLAN, Hook(lambda offer: taken))
    assert blocks_of(report.materialised) == [4, 5, 6]
    assert json.dumps(report.as_values())


def test_a_backend_may_ask_for_its_own_layout(place: Place, given: Given) -> None:
    assert execute(place.storage, PLAN, SameLayout(SHAPE)).materialised
    rope = replace_layout(rope=None)
    report = execute(place.storage, PLAN, SameLayout(rope))
    assert report.materialised == []
    assert report.spans[1].reason.startswith("layout.rope is Rope(base=500000")


def replace_layout(**fields: Any) -> Any:

    return with_fields(SHAPE, **fields)


def test_a_reason_is_one_short_line(place: Place, given: Given) -> None:
    report = execute(place.storage, PLAN, Hook(lambda offer: Decline("not\nthis " * 200)))
    assert report.spans[1].reason.startswith("not this not this")
    assert len(report.spans[1].reason) == 300
