"""What became of one span, in numbers: a report in, one record a span out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.plan import DonorSpan
from xiokv.runtime.kvcache.report import Cause, Report, SpanReport
from xiokv.runtime.kvcache.states import BlockState, Ints

SCHEMA = "xiokv-metrics/1.0"

# The value came, with the right size, whatever its bytes are.
_CAME = (BlockState.VERIFIED, BlockState.LANDED, BlockState.CORRUPT)
# The store answered.
_ANSWERED = (*_CAME, BlockState.MISSING, BlockState.WRONG_SIZE)


@dataclass(frozen=True, slots=True)
class SpanMetrics:
    """What became of one span.

    Blocks are counted as blocks of tokens, whatever number of shards each has; a block counts
    where all its shards do. Bytes and commands are those of the shards.

    Attributes:
        request: name of the request.
        span: number of the span in the plan.
        donor: name of the donor; None for a span that the planner left to be computed.
        tokens: of the span.
        candidate_blocks: that the planner named a donor for.
        offered_blocks: that the backend was asked about: the donor was found, and fits the plan.
        accepted_blocks: that the backend took, and that were asked for.
        materialised_blocks: that are there and count.
        materialised_tokens: whose computing was avoided.
        asked_bytes: of the blocks that were asked for.
        fetched_bytes: of those that came with their right size, also of those that do not
            count in the end.
        materialised_bytes: of those that count.
        avoided_bytes: of the blocks that were offered, and that the backend did not take.
        commands: Retrieve commands that the store answered, by the value: a block that is split
            has several.
        retrieve_seconds: of the plan's one batch, which all its spans share; None where nothing
            of this span was asked for.
        states: blocks times shards by `BlockState`.
        cause: why not all of the span is there, as `Cause`.
        reason: the same in words.
    """

    request: str
    span: int
    donor: str | None
    tokens: int
    candidate_blocks: int
    offered_blocks: int
    accepted_blocks: int
    materialised_blocks: int
    materialised_tokens: int
    asked_bytes: int
    fetched_bytes: int
    materialised_bytes: int
    avoided_bytes: int
    commands: int
    retrieve_seconds: float | None
    states: dict[str, int]
    cause: str
    reason: str

    def as_values(self) -> dict[str, Any]:
        """Return it as one object of JSON."""
        return {"schema": SCHEMA, "kind": "span", **asdict(self)}


def span_metrics(report: Report) -> Iterator[SpanMetrics]:
    """Yield what became of each span of a plan."""
    for span in report.spans:
        donor = span.span.donor if isinstance(span.span, DonorSpan) else None
        tokens = len(span.span.target)
        yield SpanMetrics(
            request=report.request,
            span=span.index,
            donor=donor,
            tokens=tokens,
            candidate_blocks=tokens // report.block_tokens if donor is not None else 0,
            offered_blocks=span.offered,
            accepted_blocks=len(span.accepted),
            materialised_blocks=span.landed,
            materialised_tokens=span.landed * report.block_tokens,
            **_bytes(span),
            retrieve_seconds=report.timing.retrieve if was_run(span) else None,
            states=_states(span),
            cause=span.cause.value,
            reason=span.reason,
        )


def was_run(span: SpanReport) -> bool:
    """Tell whether a batch was carried out for a span: not where no lease held."""
    return span.cause is not Cause.STORAGE and bool((span.states != BlockState.EXPIRED).any())


def _bytes(span: SpanReport) -> dict[str, int]:
    sizes, commands = _sizes(span)
    decided = span.fetch is not None or span.cause is Cause.DECLINED
    return {
        "asked_bytes": span.bytes,
        "fetched_bytes": int(sizes[np.isin(span.states, _CAME)].sum()),
        "materialised_bytes": int(sizes[: span.landed].sum()),
        "avoided_bytes": span.offered_bytes - span.bytes if decided else 0,
        "commands": int(commands[np.isin(span.states, _ANSWERED)].sum()),
    }


def _sizes(span: SpanReport) -> tuple[Ints, Ints]:
    """Return bytes and commands of each block that was asked for, as `states` has them."""
    if span.fetch is None:
        return np.empty((0, 0), np.int64), np.empty((0, 0), np.int64)
    donor = span.fetch.lease.donor
    sizes: Ints = donor.table.sizes[span.fetch.blocks].reshape(span.states.shape)
    part = donor.manifest.part_bytes
    return sizes, -(-sizes // part) if part else np.ones_like(sizes)


def _states(span: SpanReport) -> dict[str, int]:
    states, numbers = np.unique(span.states, return_counts=True)
    pairs = zip(states.tolist(), numbers.tolist(), strict=True)
    return {BlockState(state).name: number for state, number in pairs}
