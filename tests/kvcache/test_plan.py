"""Plans: what is read, and what of them cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from xiokv.runtime.kvcache.documents import DocumentFault, Range
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan

KEY = "0a" * 16


def donor(start: int, end: int, source: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "donor",
        "target": [start, end],
        "donor": "d",
        "source": [source, source + end - start],
        **fields,
    }


def fresh(start: int, end: int) -> dict[str, Any]:
    return {"kind": "fresh", "target": [start, end]}


def plan(*spans: Any, tokens: int = 64, **fields: Any) -> str:
    return json.dumps(
        {
            "schema": "xiokv-plan/1.0",
            "request": "r",
            "tokens": tokens,
            "block_tokens": 16,
            "spans": list(spans),
            **fields,
        }
    )


def test_a_plan_is_read_and_written() -> None:
    text = plan(fresh(0, 16), donor(16, 48, 160, generation=3, keys=[KEY] * 4), fresh(48, 64))
    read = Plan.from_json(text)
    assert read.spans == (
        FreshSpan(target=Range(0, 16)),
        DonorSpan(
            target=Range(16, 48), donor="d", source=Range(160, 192), generation=3, keys=(KEY,) * 4
        ),
        FreshSpan(target=Range(48, 64)),
    )
    assert json.loads(read.canonical) == json.loads(text)
    assert Plan.from_json(read.canonical) == read


def test_unknown_fields_are_left_out() -> None:
    read = Plan.from_json(plan(donor(0, 64, confidence=0.7), planner="of somebody"))
    assert json.loads(read.canonical) == json.loads(plan(donor(0, 64)))


FITTING = {
    "fresh alone": [fresh(0, 64)],
    "a donor alone": [donor(0, 64)],
    "two donors": [donor(0, 32), donor(32, 64, 32)],
    "the same blocks twice": [donor(0, 32), donor(32, 64)],
    "fresh that ends off a block": [fresh(0, 15), fresh(15, 16), donor(16, 64)],
}


@pytest.mark.parametrize("spans", FITTING.values(), ids=FITTING)
def test_what_covers_the_request_once_is_taken(spans: list[Any]) -> None:
    Plan.from_json(plan(*spans))


UNFITTING = {
    "no span": ([], "spans: Expected `array` of length >= 1"),
    "a gap": ([fresh(0, 16), donor(32, 64)], "spans[1].target: [32, 64) leaves a gap"),
    "a gap at first": ([fresh(16, 64)], "spans[0].target: [16, 64) leaves a gap"),
    "a gap at last": ([donor(0, 48)], "spans: they cover 48 tokens; the request has 64"),
    "past the end": ([donor(0, 80)], "spans: they cover 80 tokens; the request has 64"),
    "an overlap": ([donor(0, 48), donor(32, 64)], "spans[1].target: [32, 64) overlaps"),
    "another order": ([fresh(32, 64), fresh(0, 32)], "spans[1].target: [0, 32) overlaps"),
    "an empty span": ([fresh(0, 0), fresh(0, 64)], "spans[0].target: [0, 0) holds no token"),
    "a span that ends first": ([fresh(16, 0), fresh(0, 64)], "[16, 0) holds no token"),
    "target off a block": ([fresh(0, 8), donor(8, 64)], "spans[1].target: [8, 64) is not made of"),
    "source off a block": ([donor(0, 64, 8)], "spans[0].source: [8, 72) is not made of whole"),
    "source of another length": (
        [donor(0, 64) | {"source": [0, 48]}],
        "spans[0].source: [0, 48) is not as long as target [0, 64)",
    ),
    "keys that do not add up": (
        [donor(0, 64, keys=[KEY] * 6)],
        "spans[0].keys: 6 keys are no equal number for each of 4 blocks",
    ),
    "a key that is none": ([donor(0, 64, keys=["xyz"])], "spans[0].keys[0]: "),
    "a negative position": ([donor(0, 64, -16)], "spans[0].source[0]: "),
    "another kind": ([fresh(0, 64) | {"kind": "cached"}], "spans[0].kind: Invalid value 'cached'"),
    "no kind": ([{"target": [0, 64]}], "spans[0]: Object missing required field `kind`"),
    "no donor": ([{"kind": "donor", "target": [0, 64], "source": [0, 64]}], "spans[0]: "),
    "a position too few": ([fresh(0, 64) | {"target": [0]}], "spans[0].target: "),
}


@pytest.mark.parametrize(("spans", "said"), UNFITTING.values(), ids=UNFITTING)
def test_what_does_not_fit_is_told_by_its_place(spans: list[Any], said: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        Plan.from_json(plan(*spans))
    assert said in str(fault.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tokens": 0}, "tokens: "),
        ({"block_tokens": 0}, "block_tokens: "),
        ({"request": ""}, "request: "),
        ({"contents": ["0a" * 32] * 3}, "contents: 3 are there; the request has 4 whole blocks"),
        ({"contents": ["0a" * 8] * 4}, "contents[0]: "),
        ({"schema": "xiokv-plan/2.0"}, "another major version"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        Plan.from_json(plan(fresh(0, 64), **fields))
    assert said in str(fault.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(DocumentFault) as fault:
        Plan.from_json(plan(fresh(8, 16), donor(40, 56, 4)))
    lines = str(fault.value).splitlines()
    assert len(lines) == 5
    assert [line.split(":")[0] for line in lines[1:]] == [
        "spans[1].target",
        "spans[1].source",
        "spans[1].target",
        "spans",
    ]


def test_a_plan_that_was_made_here_is_checked_when_it_is_asked_for() -> None:
    made = Plan(request="r", tokens=32, block_tokens=16, spans=(FreshSpan(target=Range(0, 16)),))
    with pytest.raises(DocumentFault, match="they cover 16 tokens"):
        made.check()
