"""Holds landed blocks to the bytes that their donors have; no checksum is asked.

Which bytes belong where is taken from the plan and from where the report says that blocks
are, not from manifests: a key that leads to another block's bytes shows itself, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.memory import on_host
from xiokv.runtime.kvcache.plan import DonorSpan, Plan
from xiokv.runtime.kvcache.replay.payloads import Bytes, Payloads
from xiokv.runtime.kvcache.report import Report, SpanReport
from xiokv.runtime.verify import stamps


@dataclass(frozen=True, slots=True)
class Wrong:
    """A block that counts as materialised, and has other bytes than its donor.

    Attributes:
        request: name of the request.
        span: number of the span.
        donor: name of the donor.
        row: block of tokens of the donor.
        shard: which of its shards.
        offset: first byte that differs.
        meaning: what is there instead.
    """

    request: str
    span: int
    donor: str
    row: int
    shard: int
    offset: int
    meaning: str

    def __str__(self) -> str:
        return (
            f"request {self.request!r}, span {self.span}: block {self.row} of donor"
            f" {self.donor!r}, shard {self.shard}, counts as materialised, and differs from byte"
            f" {self.offset} on: {self.meaning}"
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """What was compared.

    Attributes:
        blocks: that were compared, of all shards.
        bytes: of these.
        wrong: the first that differs, or None.
    """

    blocks: int
    bytes: int
    wrong: Wrong | None = None


def check(plan: Plan, report: Report, payloads: Payloads) -> Checked:
    """Compare every byte of the blocks that a report counts as materialised."""
    spans = [span for span in report.spans if span.landed]
    if not spans:
        return Checked(0, 0)
    view = on_host("buffer", report.buffer).view
    for span in spans:
        wrong = _first_wrong(plan, span, view, payloads)
        if wrong is not None:
            return Checked(0, 0, wrong)
    rows = sum(span.landed for span in spans)
    return Checked(rows * len(payloads.sizes), rows * sum(payloads.sizes))


def _first_wrong(plan: Plan, report: SpanReport, view: Any, payloads: Payloads) -> Wrong | None:
    span = plan.spans[report.index]
    assert isinstance(span, DonorSpan)  # noqa: S101 - nothing else lands
    first = span.source.start // plan.block_tokens + report.accepted.start
    rows = Range(first, first + report.landed)
    for shard, size in enumerate(payloads.sizes):
        for begin, blocks in payloads.blocks(span.donor, shard, rows):
            starts = report.offsets[begin - first :, shard].tolist()
            for at, (expected, start) in enumerate(zip(blocks, starts, strict=False)):
                got = view[start : start + size]
                if not np.array_equal(got, expected):
                    offset, meaning = _difference(got, expected)
                    place = (plan.request, report.index, span.donor, begin + at, shard)
                    return Wrong(*place, offset, meaning)
    return None


def _difference(got: Bytes, expected: Bytes) -> tuple[int, str]:
    """Return where bytes differ first, and what is there."""
    if len(got) != len(expected):
        return len(got), "the buffer ends before the block does"
    offset = int((got != expected).argmax())
    begin = offset - offset % stamps.WORD_BYTES
    word = got[begin : begin + stamps.WORD_BYTES]
    if (word == stamps.POISON).all():
        return offset, "nothing was written there"
    stamp = stamps.read(word.tobytes())
    if stamp is None:
        return offset, f"{word.tobytes().hex()}, which is no stamp"
    return offset, f"the stamp of another place: {stamp}"
