"""Metrics are what can be counted by hand, and say so where nobody measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.execution import Executor, Settings
from xiokv.runtime.kvcache.manifest import Manifest
from xiokv.runtime.kvcache.materialiser import Accept, AcceptAll, Decision, Decline, Offer
from xiokv.runtime.kvcache.metrics import NOT_SUPPLIED, SCHEMA, SUPPLIED, Metrics, percentiles
from xiokv.runtime.kvcache.metrics_text import json_line, table
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan
from xiokv.runtime.kvcache.report import Report

from .conftest import Place
from .donors import BLOCK_TOKENS, contents, layout, publish

SHAPE = layout(4096, 20000)
ROW = 4096 + 20000


class Choosy(AcceptAll):
    """Takes the donors that it knows, all or a part of them."""

    def __init__(self, decisions: Mapping[str, Decision], supplied: Mapping[str, Any]) -> None:
        self._decisions, self._supplied = decisions, supplied

    def consider(self, offer: Offer) -> Decision:
        return self._decisions[offer.manifest.donor]

    def supplied(self, report: Report) -> Mapping[str, Any]:
        return self._supplied


def rows(first: int, count: int) -> Range:
    return Range(first * BLOCK_TOKENS, (first + count) * BLOCK_TOKENS)


def donor(name: str, target: int, source: int, count: int) -> DonorSpan:
    return DonorSpan(target=rows(target, count), donor=name, source=rows(source, count))


def the_plan(**more: Any) -> Plan:
    """20 whole blocks and 5 tokens; donors for 4, 3, 5 and 2 of them."""
    return Plan(
        request="a request",
        tokens=20 * BLOCK_TOKENS + 5,
        block_tokens=BLOCK_TOKENS,
        spans=(
            FreshSpan(target=rows(0, 2)),
            donor("whole", 2, 1, 4),
            donor("declined", 6, 0, 3),
            donor("in part", 9, 2, 5),
            donor("nowhere", 14, 0, 2),
            FreshSpan(target=Range(16 * BLOCK_TOKENS, 20 * BLOCK_TOKENS + 5)),
        ),
        **more,
    )


def damaged(place: Place, manifest: Manifest, block: int, change: Callable[[bytes], Any]) -> None:
    place.damage(bytes.fromhex(manifest.blocks[block].key), change)


def executed(place: Place, plan: Plan, supplied: Mapping[str, Any] = {}, **more: Any) -> Report:
    """Carry a plan out: of "in part" blocks 1 to 5 are taken."""
    decisions = {
        "whole": Accept(),
        "declined": Decline("no"),
        "in part": Accept(Range(1, 5)),
    }
    settings = Settings(layout=SHAPE, **more)
    return Executor(place.storage, Choosy(decisions, supplied), settings=settings).execute(plan)


@pytest.fixture
def published(place: Place) -> Place:
    for seed, name in enumerate(("whole", "declined", "in part"), 1):
        publish(place.storage, name, shape=SHAPE, seed=seed)
    return place


def test_every_count_is_the_one_made_by_hand(published: Place) -> None:
    # Blocks 0 and 1 of the request are those of "whole" at the same place.
    known = [*contents(2, 1000), *contents(18, 77777)]
    plan = the_plan(contents=tuple(content.hex() for content in known))
    metrics = Metrics()
    spans = metrics.add(executed(published, plan))
    run = metrics.as_values()
    assert (run["schema"], run["kind"], run["plans"], run["spans"]) == (SCHEMA, "run", 1, 6)
    assert (run["blocks"], run["candidate_blocks"], run["offered_blocks"]) == (20, 14, 12)
    assert (run["accepted_blocks"], run["materialised_blocks"]) == (8, 8)
    assert (run["exact_asked_blocks"], run["exact_blocks"], run["exact_hit_rate"]) == (20, 2, 0.1)
    assert (run["candidate_hit_rate"], run["materialised_hit_rate"]) == (0.7, 0.4)
    assert (run["tokens"], run["materialised_tokens"]) == (325, 8 * BLOCK_TOKENS)
    assert run["fresh_tokens"] == 325 - 8 * BLOCK_TOKENS
    assert run["asked_bytes"] == run["fetched_bytes"] == run["materialised_bytes"] == 8 * ROW
    # All of "declined", and the block of "in part" that was not taken.
    assert run["avoided_bytes"] == 4 * ROW
    assert run["causes"] == {"none": 1, "declined": 2, "donor": 1}
    assert run["states"] == {"VERIFIED": 16}
    assert [span.avoided_bytes for span in spans] == [0, 0, 3 * ROW, ROW, 0, 0]
    assert [span.materialised_blocks for span in spans] == [0, 4, 0, 4, 0, 0]


def test_a_block_in_several_values_is_several_commands(published: Place) -> None:
    metrics = Metrics()
    metrics.add(executed(published, the_plan()))
    run = metrics.as_values()
    # On the namespace a value has 8192 bytes at most: 1 for the first shard, 3 for the other.
    in_memory = type(published.storage).__name__ == "MemoryStorage"
    assert run["commands"] == 8 * (2 if in_memory else 4)
    (latency,) = metrics.latencies
    assert run["iops"] == run["commands"] / latency
    assert run["bytes_per_second"] == 8 * ROW / latency


def test_what_came_and_does_not_count_was_fetched_all_the_same(published: Place) -> None:
    whole = published.storage.resolve("whole").manifest
    # Row 3 of the donor is row 2 of the span: its second shard is another than it was.
    damaged(published, whole, 3 * 2 + 1, lambda value: bytes([value[0] ^ 1]) + value[1:])
    part = published.storage.resolve("in part").manifest
    # Row 6 of the donor is the last that was taken: its first shard is gone.
    damaged(published, part, 6 * 2, lambda value: None)
    metrics = Metrics()
    spans = metrics.add(executed(published, the_plan()))
    assert [span.materialised_blocks for span in spans[1:4]] == [2, 0, 3]
    assert [span.fetched_bytes for span in spans[1:4]] == [4 * ROW, 0, 4 * ROW - 4096]
    assert [span.materialised_bytes for span in spans[1:4]] == [2 * ROW, 0, 3 * ROW]
    run = metrics.as_values()
    assert run["asked_bytes"] == 8 * ROW
    assert run["states"] == {"CORRUPT": 1, "MISSING": 1, "VERIFIED": 14}
    assert run["causes"] == {"block": 2, "declined": 1, "donor": 1}


def test_nobody_asked_is_no_rate_of_nothing(published: Place) -> None:
    metrics = Metrics()
    empty = metrics.as_values()
    names = ("exact_hit_rate", "candidate_hit_rate", "materialised_hit_rate", "bytes_per_second")
    assert [empty[name] for name in (*names, "iops", "retrieve_latency_seconds")] == [None] * 6
    metrics.add(executed(published, the_plan()))
    run = metrics.as_values()
    assert (run["exact_hit_rate"], run["exact_blocks"]) == (None, None)
    assert run["exact_asked_blocks"] == 0
    assert any(line.split(maxsplit=3)[-1] == "not asked" for line in table(run))


def test_requests_that_were_not_asked_about_are_not_in_the_exact_rate(published: Place) -> None:
    metrics = Metrics()
    known = tuple(content.hex() for content in contents(20, 1000))
    metrics.add(executed(published, the_plan(contents=known)))
    metrics.add(executed(published, the_plan()))
    run = metrics.as_values()
    # "whole" has the first 8 of them.
    assert (run["blocks"], run["exact_asked_blocks"], run["exact_hit_rate"]) == (40, 20, 0.4)


def test_a_span_tells_what_it_is_and_has_the_time_of_its_batch(published: Place) -> None:
    report = executed(published, the_plan())
    spans = [span.as_values() for span in Metrics().add(report)]
    assert {(span["schema"], span["kind"]) for span in spans} == {(SCHEMA, "span")}
    assert [span["donor"] for span in spans] == [
        *(None, "whole", "declined", "in part", "nowhere", None)
    ]
    batch = report.timing.retrieve
    assert [span["retrieve_seconds"] for span in spans] == [None, batch, None, batch, None, None]
    assert [span["cause"] for span in spans] == [
        *("planned", "", "declined", "declined", "donor", "planned")
    ]
    assert json.loads(json_line(spans[2]))["reason"] == "no"


def test_plans_that_fetch_nothing_give_no_sample(published: Place) -> None:
    metrics = Metrics()
    plan = Plan(request="fresh", tokens=7, block_tokens=16, spans=(FreshSpan(target=Range(0, 7)),))
    metrics.add(executed(published, plan))
    assert list(metrics.latencies) == []
    assert metrics.as_values()["blocks"] == 0


def test_what_no_lease_was_to_be_had_for_is_not_avoided(published: Place) -> None:
    class Renewing(AcceptAll):
        def consider(self, offer: Offer) -> Decision:
            publish(published.storage, "whole", shape=SHAPE, seed=9, generation=1)
            return Accept()

    plan = Plan(request="r", tokens=64, block_tokens=16, spans=(donor("whole", 0, 0, 4),))
    metrics = Metrics()
    metrics.add(Executor(published.storage, Renewing()).execute(plan))
    run = metrics.as_values()
    assert run["causes"] == {"generation": 1}
    assert (run["offered_blocks"], run["avoided_bytes"], run["asked_bytes"]) == (4, 0, 0)


def test_a_lease_that_ended_gives_no_sample(published: Place) -> None:
    def late(size: int) -> Any:
        published.clock.now += 100
        return np.zeros(size, np.uint8)

    metrics = Metrics()
    plan = Plan(request="r", tokens=64, block_tokens=16, spans=(donor("whole", 0, 0, 4),))
    metrics.add(Executor(published.storage, allocate=late).execute(plan))
    run = metrics.as_values()
    assert (run["batches"], run["fetched_bytes"], run["commands"]) == (0, 0, 0)
    assert run["causes"] == {"lease": 1}


def test_percentiles_are_numpys_of_all_samples() -> None:
    metrics = Metrics()
    samples = np.random.default_rng(3).exponential(size=100_001)
    metrics.latencies.extend(samples)
    found = metrics.as_values()["retrieve_latency_seconds"]
    p50, p90, p99 = np.percentile(samples, (50, 90, 99))
    assert found == {"p50": p50, "p90": p90, "p99": p99}
    assert metrics.latencies.itemsize * len(metrics.latencies) == 8 * 100_001


def test_percentiles_lie_between_the_samples_beside() -> None:
    metrics = Metrics()
    metrics.latencies.extend([4.0, 1.0, 3.0, 2.0])
    assert percentiles(metrics.latencies) == pytest.approx({"p50": 2.5, "p90": 3.7, "p99": 3.97})


def test_what_a_backend_supplies_is_recorded_and_nothing_is_made_up(published: Place) -> None:
    metrics = Metrics()
    for given in (
        {"ttft_seconds": 0.5, "structured_correct": True},
        {"ttft_seconds": 1, "structured_correct": False},
        {},
    ):
        metrics.add(executed(published, the_plan(), given))
    supplied = metrics.as_values()["supplied"]
    assert supplied["ttft_seconds"]["requests"] == 2
    assert supplied["ttft_seconds"]["p50"] == 0.75
    assert supplied["structured_correct"] == {"requests": 2, "right": 1}
    assert supplied["ppl_ratio"] == NOT_SUPPLIED
    assert set(supplied) == set(SUPPLIED)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ttft", 1.0, "there is no such figure; there are ttft_seconds"),
        ("ttft_seconds", "fast", "'fast' is seen; allowed is a number above 0, in s"),
        ("ttft_seconds", True, "True is seen"),
        ("ttft_seconds", float("nan"), "nan is seen"),
        ("ppl_ratio", 0, "0 is seen"),
        ("ppl_ratio", -1.0, "-1.0 is seen"),
        ("structured_correct", 1, "1 is seen; allowed is True or False"),
    ],
)
def test_a_figure_that_is_none_is_told_once_and_not_recorded(
    published: Place, caplog: pytest.LogCaptureFixture, name: str, value: Any, said: str
) -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.add(executed(published, the_plan(), {name: value}))
    run = metrics.as_values()
    assert set(run["supplied"].values()) == {NOT_SUPPLIED}
    assert run["refused"] == {name: 3}
    assert len(caplog.messages) == 1
    assert f"figure {name!r} of request 'a request' is not recorded: {said}" in caplog.text


def test_the_table_holds_what_the_object_does(published: Place) -> None:
    metrics = Metrics()
    metrics.add(executed(published, the_plan(), {"ppl_ratio": 1.25}))
    lines = "\n".join(table(metrics.as_values()))
    for part in ("materialised hit rate  40.0%", "candidate hit rate     70.0%", "1 whole"):
        assert part in lines
    assert f"bytes avoided          {4 * ROW:,}" in lines
    assert "ppl_ratio              p50 1.25, p90 1.25, p99 1.25 ratio, of 1 requests" in lines
    assert "ttft_seconds           not supplied" in lines
    assert "not verified" not in lines


def test_checksums_that_nobody_compared_are_told(published: Place) -> None:
    metrics = Metrics()
    metrics.add(executed(published, the_plan(), verify="never"))
    run = metrics.as_values()
    assert (run["unverified_plans"], run["states"]) == (1, {"LANDED": 16})
    assert any(line.startswith("not verified") for line in table(run))
