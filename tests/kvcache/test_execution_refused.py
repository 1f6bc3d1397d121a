"""Spans that cannot be used, and plans and settings that cannot be: fresh, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import DocumentFault, Range
from xiokv.runtime.kvcache.execution import Executor, Settings
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.materialiser import Accept, Decision, Offer
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan
from xiokv.runtime.kvcache.report import Cause

from .conftest import Place
from .donors import BLOCK_TOKENS, Given, publish
from .plans import PLAN, ROWS, SHAPE, Hook, donor, execute, plan

UNUSABLE = {
    "no such donor": (donor(0, 0, 4, "nobody"), Cause.DONOR, "no donor 'nobody'"),
    "another generation": (donor(0, 0, 4, generation=2), Cause.GENERATION, "for generation 2"),
    "past its end": (donor(0, 5, 4), Cause.MANIFEST, "[80, 144) is not within [0, 128)"),
    "other keys": (donor(0, 0, 1, keys=("00" * 16,) * 2), Cause.MANIFEST, "key 0 of the plan"),
    "keys of another number": (donor(0, 0, 1, keys=("00" * 16,)), Cause.MANIFEST, "names 1 keys"),
}


@pytest.mark.parametrize(("span", "cause", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_span_that_cannot_be_used_is_fresh(
    place: Place, given: Given, span: DonorSpan, cause: Cause, said: str
) -> None:
    after = donor(span.target.end // BLOCK_TOKENS, 0, 1)
    report = execute(place.storage, plan(span, after))
    assert report.spans[0].cause is cause
    assert said in report.spans[0].reason
    assert report.spans[1].landed == 1, "others are not struck"


def test_blocks_of_another_length_are_not_offered(place: Place, given: Given) -> None:
    span = DonorSpan(target=Range(0, 32), donor="donor", source=Range(0, 32))
    other = Plan(request="r", tokens=32, block_tokens=32, spans=(span,))
    report = execute(place.storage, other)
    assert report.spans[0].cause is Cause.MANIFEST
    assert "have 32 tokens; those of donor 'donor' have 16" in report.spans[0].reason


def test_a_manifest_of_another_tenant_is_not_used(place: Place) -> None:
    """However it came under this tenant's key."""
    other = place.another(Keyspace("other"))
    publish(other)
    place.storage.resolve_all = other.resolve_all  # type: ignore[method-assign]
    report = execute(place.storage, plan(donor(0, 0, 2)))
    assert report.spans[0].cause is Cause.TENANT
    assert "is of tenant 'other'" in report.spans[0].reason


def test_a_donor_that_is_published_again_meanwhile_is_not_used(place: Place, given: Given) -> None:
    def decide(offer: Offer) -> Decision:
        publish(place.storage, rows=ROWS, shape=SHAPE, generation=4, seed=4)
        return Accept()

    report = execute(place.storage, PLAN, Hook(decide))
    assert report.spans[1].cause is Cause.GENERATION
    assert report.materialised == []


def test_a_plan_that_cannot_be_is_refused(place: Place) -> None:
    with pytest.raises(DocumentFault, match="leaves a gap"):
        execute(place.storage, plan(donor(1, 0, 1)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("verify", "sometimes"),
        ("on_bad_block", "block"),
        ("lease_seconds", -1),
        ("lease_seconds", "a"),
        ("rank", -1),
        ("rank", "a"),
        ("layout", 5),
    ],
)
def test_settings_are_looked_at_when_the_executor_is_made(
    place: Place, name: str, value: Any
) -> None:
    with pytest.raises(ArgumentFault, match=name):
        Executor(place.storage, settings=Settings(**{name: value}))


@pytest.mark.parametrize(
    "made",
    [
        plan(donor(0, 0, 1, name="d" * 5000)),
        plan(donor(0, 0, 1, name=5)),  # type: ignore[arg-type]
        plan(DonorSpan(target=Range(0, 16), donor="d", source=Range(1 << 53, (1 << 53) + 16))),
        Plan(request="", tokens=16, block_tokens=16, spans=(FreshSpan(target=Range(0, 16)),)),
        Plan(request="r", tokens="16", block_tokens=16, spans=()),  # type: ignore[arg-type]
    ],
)
def test_a_plan_that_could_not_be_read_back_is_refused(place: Place, made: Plan) -> None:
    with pytest.raises(DocumentFault):
        execute(place.storage, made)
