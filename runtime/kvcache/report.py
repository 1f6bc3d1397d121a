"""What became of a plan: which tokens are there, which are to be computed, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.kvcache.storage import Fetch

NOTHING = Range(0, 0)


class Cause(Enum):
    """Why tokens of a donor span are to be computed after all."""

    NONE = ""
    #: The planner asked for it.
    PLANNED = "planned"
    #: The backend declined the span, or a part of it.
    DECLINED = "declined"
    #: The store has no such donor, or cannot read what it has.
    DONOR = "donor"
    #: The donor is of another tenant or policy.
    TENANT = "tenant"
    #: The donor is of another generation.
    GENERATION = "generation"
    #: Positions or keys of the plan are not those of the manifest.
    MANIFEST = "manifest"
    #: No lease was to be had, or it ended too early.
    LEASE = "lease"
    #: A block is missing, wrong or late.
    BLOCK = "block"
    #: The storage could not be asked, or the batch not be run.
    STORAGE = "storage"


@dataclass(frozen=True, slots=True, eq=False)
class SpanReport:
    """What became of one span.

    Attributes:
        index: of the span in the plan.
        span: as planned.
        offered: blocks of tokens that the backend was asked about.
        offered_bytes: of these, all shards.
        accepted: blocks of tokens that the backend took, counted from the span's first.
        states: a `BlockState` for each accepted block of tokens and each shard: (n, shards).
        offsets: where each of them begins in the report's buffer: (n, shards).
        landed: how many of the accepted blocks of tokens count, from the first.
        bytes: of the blocks that were asked for.
        cause: why not all of the span is there.
        reason: the same in words.
        fetch: what was asked of the storage.
    """

    index: int
    span: FreshSpan | DonorSpan
    cause: Cause
    reason: str = ""
    offered: int = 0
    offered_bytes: int = 0
    accepted: Range = NOTHING
    states: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0), np.uint8))
    offsets: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 0), np.int64))
    landed: int = 0
    bytes: int = 0
    fetch: Fetch | None = field(default=None, repr=False)

    def materialised(self, block_tokens: int) -> Range | None:
        """Return the positions of the request whose blocks are there, or None."""
        if not self.landed:
            return None
        start = self.span.target.start + self.accepted.start * block_tokens
        return Range(start, start + self.landed * block_tokens)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that the steps took.

    Attributes:
        resolve: to find donors, to hold the plan to their manifests, and to lease them.
        decide: in the backend's hook.
        retrieve: of the one batch; memory for it is there before.
        verify: to compare checksums.
    """

    resolve: float = 0.0
    decide: float = 0.0
    retrieve: float = 0.0
    verify: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What became of a plan.

    Attributes:
        request: name of the request.
        tokens: how many it has.
        block_tokens: tokens of a block.
        spans: one a span of the plan.
        buffer: where blocks landed; the request's own.
        timing: what it took.
        verified: whether checksums were compared.
        buffer_may_be_written: whether a command that timed out may still write to the buffer.
        exact_blocks: leading blocks of the request whose exact content is stored; None: not
            asked.
        supplied: what the backend measured.
    """

    request: str
    tokens: int
    block_tokens: int
    spans: tuple[SpanReport, ...]
    buffer: Any = field(repr=False)
    timing: Timing
    verified: bool
    buffer_may_be_written: bool = False
    exact_blocks: int | None = None
    supplied: dict[str, Any] = field(default_factory=dict)

    @property
    def materialised(self) -> list[Range]:
        """Positions of the request whose blocks are there."""
        found = (span.materialised(self.block_tokens) for span in self.spans)
        return [positions for positions in found if positions is not None]

    @property
    def fresh(self) -> list[Range]:
        """Positions of the request that are to be computed."""
        found: list[Range] = []
        covered = 0
        for positions in self.materialised:
            if positions.start > covered:
                found.append(Range(covered, positions.start))
            covered = positions.end
        if covered < self.tokens:
            found.append(Range(covered, self.tokens))
        return found

    def placed(self) -> Iterator[tuple[SpanReport, int, npt.NDArray[np.int64]]]:
        """Yield where blocks are that count.

        Yields:
            The span, the first position in the request of a block of tokens, and where each
            of its shards begins in `buffer`.
        """
        for span in self.spans:
            start = span.span.target.start + span.accepted.start * self.block_tokens
            for row in range(span.landed):
                yield span, start + row * self.block_tokens, span.offsets[row]

    def as_values(self) -> dict[str, Any]:
        """Return it as what JSON can hold, without the bytes."""
        return {
            "request": self.request,
            "tokens": self.tokens,
            "block_tokens": self.block_tokens,
            "verified": self.verified,
            "materialised": [[part.start, part.end] for part in self.materialised],
            "fresh": [[part.start, part.end] for part in self.fresh],
            "buffer_may_be_written": self.buffer_may_be_written,
            "exact_blocks": self.exact_blocks,
            "spans": [_span_values(span) for span in self.spans],
        }


def _span_values(report: SpanReport) -> dict[str, Any]:
    span = report.span
    states, numbers = np.unique(report.states, return_counts=True)
    found: dict[str, Any] = {
        "span": report.index,
        "target": [span.target.start, span.target.end],
        "donor": span.donor if isinstance(span, DonorSpan) else None,
        "offered_blocks": report.offered,
        "accepted_blocks": len(report.accepted),
        "landed_blocks": report.landed,
        "bytes": report.bytes,
        "cause": report.cause.value,
        "reason": report.reason,
        "states": {
            BlockState(state).name: number
            for state, number in zip(states.tolist(), numbers.tolist(), strict=True)
        },
    }
    return found
