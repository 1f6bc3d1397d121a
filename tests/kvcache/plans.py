"""Plans for tests, and a look at every byte that one brought.

Those of `donor` are of blocks that `donors.publish` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xiokv.runtime import Buffer, Place
from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.execution import Executor, Settings
from xiokv.runtime.kvcache.materialiser import AcceptAll, Decision, Offer
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan
from xiokv.runtime.kvcache.report import Report
from xiokv.runtime.kvcache.storage import Storage

from .donors import BLOCK_TOKENS, Given, layout

SHAPE = layout(512, 9000)
ROWS = 8


def tokens(start: int, end: int) -> Range:
    """Return positions of blocks."""
    return Range(start * BLOCK_TOKENS, end * BLOCK_TOKENS)


def donor(target: int, source: int, count: int, name: str = "donor", **fields: Any) -> DonorSpan:
    """Return a span of so many blocks, from block `source` on of a donor, at block `target`."""
    return DonorSpan(
        target=tokens(target, target + count),
        donor=name,
        source=tokens(source, source + count),
        **fields,
    )


def plan(*spans: Any, **fields: Any) -> Plan:
    """Return a plan of some spans, which ends with the last."""
    end = spans[-1].target.end
    return Plan(request="r", tokens=end, block_tokens=BLOCK_TOKENS, spans=spans, **fields)


#: Two blocks to compute, then blocks 1 to 6 of the donor, then one more to compute.
PLAN = plan(FreshSpan(target=tokens(0, 2)), donor(2, 1, 6), FreshSpan(target=tokens(8, 9)))


def blocks_of(ranges: list[Range]) -> list[int]:
    """Return positions as numbers of blocks."""
    return [
        block
        for positions in ranges
        for block in range(positions.start // BLOCK_TOKENS, positions.end // BLOCK_TOKENS)
    ]


def content(buffer: Any) -> Any:
    """Return the bytes of an array, or of a module's buffer as its device has them."""
    if not isinstance(buffer, Buffer):
        return np.asarray(buffer)
    if buffer.place is Place.DEVICE:
        buffer.view[:] = 0  # what is there next came from the device
    buffer.download()
    return buffer.view


def check_bytes(report: Report, givens: Mapping[str, Given]) -> int:
    """Compare every byte that counts with what was published; return how many blocks did."""
    view = content(report.buffer)
    seen = []
    for span, position, offsets in report.placed():
        assert isinstance(span.span, DonorSpan)
        ours = givens[span.span.donor]
        source = span.span.source.start + position - span.span.target.start
        row = (source - ours.manifest.source.start) // BLOCK_TOKENS
        for shard, offset in enumerate(offsets):
            block = ours.blocks[row * len(offsets) + shard]
            assert (view[offset : offset + len(block)] == block).all()
        seen.append(position)
    assert [position // BLOCK_TOKENS for position in seen] == blocks_of(report.materialised)
    return len(seen)


def execute(storage: Storage, plan: Plan, hook: Any = None, **settings: Any) -> Report:
    """Carry a plan out."""
    return Executor(storage, hook, settings=Settings(**settings)).execute(plan)


class Hook(AcceptAll):
    """A backend that decides as it is told."""

    def __init__(self, decide: Callable[[Offer], Decision]) -> None:
        self.consider = decide  # type: ignore[method-assign]
