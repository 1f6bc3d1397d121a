"""Blocks measured into a GPU's memory; skipped, and said so, where CUDA finds no GPU."""

from __future__ import annotations

import pytest

from xiokv.runtime.errors import MissingFault
from xiokv.runtime.kvcache.breakeven.measure import Setting, measure
from xiokv.runtime.module import Module, load


@pytest.fixture(scope="module")
def gpu(own_surroundings: None) -> Module:
    try:
        return load("cuda")
    except MissingFault as fault:
        pytest.skip(str(fault).splitlines()[0])


@pytest.mark.parametrize(("asked", "place"), [("", "device"), ("device", "device"), ("host",) * 2])
def test_blocks_end_where_it_was_asked_for(gpu: Module, asked: str, place: str) -> None:
    setting = Setting(queues=2, depth=64, runs=3, place=asked)
    fetch = measure(gpu, (4096, 1 << 20), setting)
    assert (fetch.place, fetch.setting["target"]) == (place, "cuda")
    assert [cost.block_bytes for cost in fetch.costs] == [4096, 1 << 20]
