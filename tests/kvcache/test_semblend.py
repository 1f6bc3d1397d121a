"""Plans of another planner's shapes: by single positions there, by whole blocks here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.plan import DonorSpan, Plan
from xiokv.runtime.kvcache.semblend import Imported, from_composite, from_segments


def actions(*runs: tuple[str | None, int, int, int]) -> list[dict[str, Any]]:
    """Return actions for runs of (donor, source, target, count)."""
    return [
        {
            "action": "copy_from_donor" if donor else "recompute",
            "target_pos": target + index,
            "donor_pos": source + index if donor else None,
            "donor_id": donor,
        }
        for donor, source, target, count in runs
        for index in range(count)
    ]


def spans(plan: Plan) -> list[Any]:
    return [
        (span.donor, str(span.source), str(span.target))
        if isinstance(span, DonorSpan)
        else str(span.target)
        for span in plan.spans
    ]


def composite(value: Any, tokens: int = 64, **options: Any) -> Imported:
    return from_composite(value, request="r", tokens=tokens, block_tokens=16, **options)


RUNS = {
    "whole blocks": (
        [("a", 32, 0, 32), (None, 0, 32, 32)],
        [("a", "[32, 64)", "[0, 32)"), "[32, 64)"],
        0,
    ),
    "two donors": (
        [("a", 0, 0, 32), ("b", 160, 32, 32)],
        [("a", "[0, 32)", "[0, 32)"), ("b", "[160, 192)", "[32, 64)")],
        0,
    ),
    "a jump in one donor": (
        [("a", 0, 0, 32), ("a", 64, 32, 32)],
        [("a", "[0, 32)", "[0, 32)"), ("a", "[64, 96)", "[32, 64)")],
        0,
    ),
    "edges off a block": (
        [(None, 0, 0, 10), ("a", 10, 10, 44), (None, 0, 54, 10)],
        ["[0, 16)", ("a", "[16, 48)", "[16, 48)"), "[48, 64)"],
        12,
    ),
    "another phase": ([("a", 8, 0, 64)], ["[0, 64)"], 64),
    "less than a block": ([("a", 4, 4, 27), (None, 0, 31, 33)], ["[0, 64)"], 27),
    "nothing": ([(None, 0, 0, 64)], ["[0, 64)"], 0),
}


@pytest.mark.parametrize(("runs", "planned", "dropped"), RUNS.values(), ids=RUNS)
def test_positions_become_blocks(runs: Any, planned: list[Any], dropped: int) -> None:
    found = composite({"slot_actions": actions(*runs)})
    assert spans(found.plan) == planned
    assert found.dropped_tokens == dropped


def test_actions_come_in_any_order() -> None:
    found = composite({"slot_actions": actions(("a", 0, 0, 64))[::-1]})
    assert spans(found.plan) == [("a", "[0, 64)", "[0, 64)")]


@dataclass(frozen=True)
class PositionMap:
    """As their object, not as JSON."""

    donor_ids: tuple[str, ...]
    donor_positions: tuple[int, ...]
    target_positions: tuple[int, ...]


@dataclass(frozen=True)
class Composite:
    donor_ids: tuple[str, ...] = ()
    chunk_assignments: tuple[Any, ...] = ()
    slot_actions: tuple[Any, ...] = ()
    position_map: Any = None


def test_objects_are_taken_as_json_is() -> None:
    positions = PositionMap(("a",) * 32, tuple(range(64, 96)), tuple(range(16, 48)))
    found = composite(Composite(position_map=positions))
    assert spans(found.plan) == ["[0, 16)", ("a", "[64, 96)", "[16, 48)"), "[48, 64)"]


def test_chunks_are_taken_where_nothing_else_is_there() -> None:
    chunks = [
        {"target_chunk_idx": 0, "donor_id": None, "donor_chunk_idx": None},
        {"target_chunk_idx": 1, "donor_id": "a", "donor_chunk_idx": 3},
    ]
    found = composite({"chunk_assignments": chunks}, chunk_tokens=32)
    assert spans(found.plan) == ["[0, 32)", ("a", "[96, 128)", "[32, 64)")]
    with pytest.raises(DocumentFault, match="give chunk_tokens"):
        composite({"chunk_assignments": chunks})


def test_a_last_chunk_ends_with_the_request() -> None:
    chunks = [{"target_chunk_idx": 1, "donor_id": "a", "donor_chunk_idx": 0}]
    found = composite({"chunk_assignments": chunks}, tokens=48, chunk_tokens=32)
    assert spans(found.plan) == ["[0, 32)", ("a", "[0, 16)", "[32, 48)")]


WRONG = {
    "an unknown action": (
        {"slot_actions": [{"action": "blend", "target_pos": 0}]},
        "slot_actions[0].action: 'blend' is seen; allowed are",
    ),
    "no position": (
        {"slot_actions": [{"action": "copy_from_donor", "donor_id": "a", "target_pos": 0}]},
        "slot_actions[0].donor_pos: None is seen",
    ),
    "no donor": (
        {"slot_actions": [{"action": "copy_from_donor", "donor_pos": 0, "target_pos": 0}]},
        "slot_actions[0].donor_id: None is seen",
    ),
    "lists of other lengths": (
        {
            "position_map": {
                "donor_ids": ["a"],
                "donor_positions": [1, 2],
                "target_positions": [1],
            }
        },
        "position_map: its lists have 1, 2, 1 entries",
    ),
    "two donors for one place": (
        {"slot_actions": actions(("a", 0, 0, 32), ("b", 0, 0, 32))},
        "target 0 is given by donor 'a' and by donor 'b'",
    ),
    "past the request": (
        {"slot_actions": actions(("a", 0, 48, 32))},
        "target [48, 80) of donor",
    ),
    "one position past the request": ({"slot_actions": actions(("a", 0, 100, 1))}, "[100, 101)"),
    "actions that are no list": ({"slot_actions": 5}, "slot_actions: a int is seen"),
    "positions that are no list": (
        {"position_map": {"donor_ids": 5, "donor_positions": [1], "target_positions": [1]}},
        "position_map.donor_ids: a int is seen",
    ),
}


@pytest.mark.parametrize(("value", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(value: Any, said: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        composite(value)
    assert said in str(fault.value)


class TestSegments:
    KEYS = [f"{index:032x}" for index in range(8)]  # noqa: RUF012

    def imported(self, *segments: dict[str, Any]) -> Imported:
        return from_segments(segments, request="r", tokens=64, block_tokens=16)

    def segment(self, donor: int, target: int, count: int, refs: Any = ()) -> dict[str, Any]:
        return {
            "donor_id": "a",
            "donor_start": donor,
            "target_start": target,
            "token_count": count,
            "block_refs": refs,
        }

    def test_gaps_are_fresh(self) -> None:
        found = self.imported(self.segment(0, 32, 32), self.segment(160, 0, 16))
        assert spans(found.plan) == [
            ("a", "[160, 176)", "[0, 16)"),
            "[16, 32)",
            ("a", "[0, 32)", "[32, 64)"),
        ]

    def test_references_that_are_keys_are_taken(self) -> None:
        found = self.imported(self.segment(0, 0, 64, self.KEYS))
        (span,) = found.plan.spans
        assert isinstance(span, DonorSpan)
        assert span.keys == tuple(self.KEYS)

    def test_of_a_cut_segment_the_keys_of_its_whole_blocks_are_left(self) -> None:
        found = self.imported(self.segment(8, 8, 40, self.KEYS[:6]))
        (span,) = (span for span in found.plan.spans if isinstance(span, DonorSpan))
        assert (str(span.target), found.dropped_tokens) == ("[16, 48)", 8)
        assert span.keys == tuple(self.KEYS[2:6])

    @pytest.mark.parametrize("refs", [["block-1"] * 4, KEYS[:3], None])
    def test_other_references_are_left_out(self, refs: Any) -> None:
        (span,) = self.imported(self.segment(0, 0, 64, refs)).plan.spans
        assert isinstance(span, DonorSpan)
        assert span.keys == ()

    @pytest.mark.parametrize("field", ["donor_start", "target_start", "token_count"])
    @pytest.mark.parametrize("value", [-1, 1.5, None, True, 10**30])
    def test_a_wrong_number_is_named(self, field: str, value: Any) -> None:
        with pytest.raises(DocumentFault, match=rf"segments\[0\]\.{field}: {value!r} is seen"):
            self.imported(self.segment(0, 0, 16) | {field: value})

    def test_references_are_counted_by_the_blocks_that_are_touched(self) -> None:
        """From 8 to 40: half of a block, a whole one, half of one; two shards each."""
        found = self.imported(self.segment(8, 8, 32, self.KEYS[:6]))
        (span,) = (span for span in found.plan.spans if isinstance(span, DonorSpan))
        assert (str(span.target), span.keys) == ("[16, 32)", tuple(self.KEYS[2:4]))

    @pytest.mark.parametrize("refs", [5, "abc", {"a": 1}])
    def test_references_that_are_no_list_are_named(self, refs: Any) -> None:
        with pytest.raises(DocumentFault, match=r"segments\[0\]\.block_refs: a \w+ is seen"):
            self.imported(self.segment(0, 0, 64, refs))


@pytest.mark.parametrize("name", ["tokens", "block_tokens", "chunk_tokens"])
@pytest.mark.parametrize("value", [0, -16, 1 << 60, "16"])
def test_counts_of_a_call_are_checked(name: str, value: Any) -> None:
    chunks = [{"target_chunk_idx": 0, "donor_id": "a", "donor_chunk_idx": 0}]
    counts = {"tokens": 64, "block_tokens": 16, "chunk_tokens": 16} | {name: value}
    with pytest.raises(ArgumentFault, match=f"{name} is"):
        from_composite({"chunk_assignments": chunks}, request="r", **counts)


@pytest.mark.parametrize("value", ["{}", None, 5, {}, {"slots": []}, [], b"x"])
def test_what_is_no_composite_is_refused(value: Any) -> None:
    with pytest.raises(DocumentFault, match="is no CompositeKVPlan"):
        composite(value)


@pytest.mark.parametrize("value", ["[]", None, 5, {}])
def test_what_are_no_segments_is_refused(value: Any) -> None:
    with pytest.raises(DocumentFault, match="segments: a"):
        from_segments(value, request="r", tokens=64, block_tokens=16)


def test_numbers_of_numpy_are_taken() -> None:
    positions = {
        "donor_ids": ["a"] * 32,
        "donor_positions": np.arange(64, 96),
        "target_positions": np.arange(16, 48),
    }
    found = composite({"position_map": positions})
    assert spans(found.plan) == ["[0, 16)", ("a", "[64, 96)", "[16, 48)"), "[48, 64)"]


@pytest.mark.parametrize("request_name", ["", None, "r" * 1025])
def test_what_is_imported_can_be_read_back(request_name: Any) -> None:
    with pytest.raises(DocumentFault, match="request"):
        from_composite({"slot_actions": []}, request=request_name, tokens=64, block_tokens=16)
