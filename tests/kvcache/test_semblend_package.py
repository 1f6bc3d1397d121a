"""SemBlend's own types, of the release that is named, as plans."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

from tests.connectors.peers import SEMBLEND, NoWheel, sources
from xiokv.runtime.kvcache import DonorSpan, Plan, from_composite

pytestmark = pytest.mark.xdist_group("semblend")


@pytest.fixture(scope="module")
def types() -> Any:
    """The module with the types, which imports nothing else."""
    try:
        folder = sources(SEMBLEND)
    except NoWheel as missing:
        pytest.skip(str(missing))
    name = "semblend_multi_donor_types"
    place = folder / "semblend_core" / "multi_donor_types.py"
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


def imported(composite: Any) -> Plan:
    return from_composite(composite, request="r", tokens=64, block_tokens=16, chunk_tokens=32).plan


def donors(plan: Plan) -> list[tuple[str, str, str]]:
    return [
        (span.donor, str(span.source), str(span.target))
        for span in plan.spans
        if isinstance(span, DonorSpan)
    ]


def test_slot_actions(types: Any) -> None:
    actions = [
        types.MultiDonorSlotAction("copy_from_donor", target, target + 160, "a")
        if 16 <= target < 52
        else types.MultiDonorSlotAction("recompute", target)
        for target in range(64)
    ]
    composite = types.CompositeKVPlan(donor_ids=("a",), slot_actions=tuple(actions))
    assert donors(imported(composite)) == [("a", "[176, 208)", "[16, 48)")]


def test_a_position_map(types: Any) -> None:
    positions = types.MultiDonorPositionMapping(
        donor_ids=("b",) * 32,
        donor_positions=tuple(range(320, 352)),
        target_positions=tuple(range(32)),
    )
    composite = types.CompositeKVPlan(donor_ids=("b",), position_map=positions)
    assert donors(imported(composite)) == [("b", "[320, 352)", "[0, 32)")]


def test_chunk_assignments(types: Any) -> None:
    chunks = (
        types.ChunkAssignment(0),
        types.ChunkAssignment(1, "c", 4, types.MatchType.EXACT, 1.0),
    )
    composite = types.CompositeKVPlan(donor_ids=("c",), chunk_assignments=chunks)
    assert donors(imported(composite)) == [("c", "[128, 160)", "[32, 64)")]


def test_a_plan_that_computes_everything(types: Any) -> None:
    assert donors(imported(types.CompositeKVPlan())) == []
