"""Metrics of any number of plans: reports in; hit rates, latencies and bytes out.

Rates are of blocks of tokens, and below each is the same number: the whole blocks of all
requests, tokens // block_tokens of each. Above it are

- exact: the leading blocks of a request whose very content, which holds all tokens before it,
  too, is stored in all shards, whether or not any plan names them; of the requests alone that
  were asked about,
- candidate: blocks for which the planner named a donor, whatever became of them,
- materialised: blocks that are in the request's buffer and count: fetched, checked where the
  executor checks, and not behind a bad block where the executor makes those fresh.

A sample of the retrieve latency is one plan's batch, from its submission until all of it is
there; plans that asked for nothing, and batches that could not be run, give none. All samples
are kept, eight bytes each, so that percentiles are exact: NumPy's, which interpolates between
the two samples beside. Bandwidth is fetched bytes, and IOPS are answered commands, both divided
by the sum of the samples. What nobody measured is None or "not supplied".
"""

from __future__ import annotations

import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.report import Report
from xiokv.runtime.kvcache.span_metrics import SCHEMA, SpanMetrics, span_metrics, was_run
from xiokv.runtime.kvcache.supplied import NOT_SUPPLIED, SUPPLIED, Figure, checked
from xiokv.runtime.log import log

__all__ = ["NOT_SUPPLIED", "SCHEMA", "SUPPLIED", "Figure", "Metrics", "SpanMetrics"]

PERCENTILES = (50, 90, 99)

_SUMMED = (
    *("tokens", "candidate_blocks", "offered_blocks", "accepted_blocks", "materialised_blocks"),
    *("materialised_tokens", "asked_bytes", "fetched_bytes", "materialised_bytes"),
    *("avoided_bytes", "commands"),
)


@dataclass(slots=True)
class _Exact:
    """Blocks of the requests whose exact content was asked about."""

    asked: int = 0
    hits: int = 0


@dataclass(slots=True)
class _Seconds:
    resolve: float = 0.0
    decide: float = 0.0
    retrieve: float = 0.0
    verify: float = 0.0


@dataclass(slots=True)
class Metrics:
    """Totals over plans; it grows by eight bytes a plan and a figure, and by nothing else.

    Attributes:
        plans: how many were added.
        unverified_plans: whose checksums nobody had compared when they were added.
        blocks: whole blocks of all requests.
        totals: sums over all spans, by the names of `SpanMetrics`.
        states: blocks times shards by `BlockState`.
        causes: donor spans by why not all of them is there; "none" for those that are.
        latencies: seconds of each batch.
        supplied: what backends supplied, by name.
        refused: what could not be taken of that, by name.
    """

    plans: int = 0
    spans: int = 0
    unverified_plans: int = 0
    blocks: int = 0
    totals: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    latencies: array.array[float] = field(default_factory=lambda: array.array("d"))
    supplied: dict[str, array.array[float]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    _exact: _Exact = field(default_factory=_Exact)
    _seconds: _Seconds = field(default_factory=_Seconds)

    def add(self, report: Report) -> list[SpanMetrics]:
        """Take a report in; return what became of each of its spans.

        A report whose checksums are compared later is added when they were.
        """
        spans = list(span_metrics(report))
        self.plans += 1
        self.unverified_plans += not report.verified
        self.blocks += report.tokens // report.block_tokens
        for span in spans:
            self._add_span(span)
        self._add_times(report)
        if report.exact_blocks is not None:
            self._exact.asked += report.tokens // report.block_tokens
            self._exact.hits += report.exact_blocks
        self._add_supplied(report)
        return spans

    def as_values(self) -> dict[str, Any]:
        """Return totals, rates and percentiles as one object of JSON."""
        totals = {name: self.totals[name] for name in _SUMMED}
        exact = self._exact
        return {
            "schema": SCHEMA,
            "kind": "run",
            "plans": self.plans,
            "spans": self.spans,
            "donor_spans": self.causes.total(),
            "unverified_plans": self.unverified_plans,
            "blocks": self.blocks,
            **totals,
            "fresh_tokens": totals["tokens"] - totals["materialised_tokens"],
            "exact_asked_blocks": exact.asked,
            "exact_blocks": exact.hits if exact.asked else None,
            "exact_hit_rate": _share(exact.hits, exact.asked),
            "candidate_hit_rate": _share(totals["candidate_blocks"], self.blocks),
            "materialised_hit_rate": _share(totals["materialised_blocks"], self.blocks),
            "batches": len(self.latencies),
            "retrieve_latency_seconds": percentiles(self.latencies),
            "bytes_per_second": self._per_second(totals["fetched_bytes"]),
            "iops": self._per_second(totals["commands"]),
            "seconds": {name: getattr(self._seconds, name) for name in _Seconds.__slots__},
            "states": dict(sorted(self.states.items())),
            "causes": dict(sorted(self.causes.items())),
            "supplied": {name: self._of_supplied(name) for name in SUPPLIED},
            "refused": dict(sorted(self.refused.items())),
        }

    def _add_span(self, span: SpanMetrics) -> None:
        self.spans += 1
        for name in _SUMMED:
            self.totals[name] += getattr(span, name)
        self.states.update(span.states)
        if span.donor is not None:
            self.causes[span.cause or "none"] += 1

    def _add_times(self, report: Report) -> None:
        for name in _Seconds.__slots__:
            total = getattr(self._seconds, name) + getattr(report.timing, name)
            setattr(self._seconds, name, total)
        if any(map(was_run, report.spans)):
            self.latencies.append(report.timing.retrieve)

    def _add_supplied(self, report: Report) -> None:
        taken, problems = checked(report.supplied)
        for name, value in taken.items():
            self.supplied.setdefault(name, array.array("d")).append(value)
        for name, problem in problems.items():
            if not self.refused[name]:
                log.warning(
                    "figure %r of request %r is not recorded: %s", name, report.request, problem
                )
            self.refused[name] += 1

    def _per_second(self, amount: int) -> float | None:
        seconds = sum(self.latencies)
        return amount / seconds if seconds else None

    def _of_supplied(self, name: str) -> dict[str, float] | str:
        """Return how many requests had a figure, and its percentiles or how many were right."""
        samples = self.supplied.get(name)
        if not samples:
            return NOT_SUPPLIED
        if SUPPLIED[name].kind is bool:
            return {"requests": len(samples), "right": int(sum(samples))}
        return {"requests": len(samples), **(percentiles(samples) or {})}


def percentiles(samples: array.array[float]) -> dict[str, float] | None:
    """Return p50, p90 and p99 of samples, or None where there are none."""
    if not samples:
        return None
    found = np.percentile(np.frombuffer(samples, np.float64), PERCENTILES)
    return {f"p{rank}": float(value) for rank, value in zip(PERCENTILES, found, strict=True)}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
