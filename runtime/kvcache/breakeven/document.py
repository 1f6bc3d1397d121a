"""What is told of a run as JSON: a `Result` in, one object out."""

from __future__ import annotations

import json
from typing import Any

from xiokv.runtime.kvcache.breakeven.compare import BreakEven, Row
from xiokv.runtime.kvcache.breakeven.fetch import Fetch, FetchCost, Timing
from xiokv.runtime.kvcache.breakeven.kept import SCHEMA
from xiokv.runtime.kvcache.breakeven.recompute import Formula, Recompute, Speed
from xiokv.runtime.kvcache.breakeven.study import Result, Study

_MICROSECONDS = 1e6


def to_json(result: Result) -> str:
    """Return a run as one JSON object."""
    document = {
        "schema": SCHEMA,
        "fetch": _fetch(result.fetch),
        "models": [_study(study) for study in result.studies],
    }
    return json.dumps(document, indent=1)


def _fetch(fetch: Fetch) -> dict[str, Any]:
    return {
        "origin": fetch.origin.value,
        "place": fetch.place,
        "file": fetch.file,
        "date": fetch.date,
        "machine": dict(fetch.machine),
        "setting": dict(fetch.setting),
        "costs": [_cost(cost) for cost in fetch.costs],
    }


def _cost(cost: FetchCost) -> dict[str, Any]:
    return {
        "block_bytes": cost.block_bytes,
        "latency_us": cost.latency * _MICROSECONDS,
        "latency_origin": cost.latency_origin.value,
        "bytes_per_s": cost.bandwidth,
        "bandwidth_origin": cost.bandwidth_origin.value,
        "one": _timing(cost.one),
        "many": _timing(cost.many),
    }


def _timing(timing: Timing | None) -> dict[str, Any] | None:
    if timing is None:
        return None
    return {
        "blocks": timing.blocks,
        "median_us": timing.median * _MICROSECONDS,
        "low_us": timing.low * _MICROSECONDS,
        "high_us": timing.high * _MICROSECONDS,
        "samples_us": [seconds * _MICROSECONDS for seconds in timing.seconds],
    }


def _study(study: Study) -> dict[str, Any]:
    reuse, geometry = study.reuse, study.reuse.geometry
    return {
        "model": geometry.name,
        "title": geometry.title,
        "source": geometry.source,
        "context": geometry.context,
        "kv_dtype": reuse.kv_dtype,
        "token_bytes": reuse.token_bytes,
        "state_bytes": geometry.state_bytes,
        "checkpoint_tokens": reuse.checkpoint or None,
        "recompute": {"origin": study.recompute.origin.value, **_recompute(study.recompute)},
        "break_even": [_even(even) for even in study.evens],
        "rows": [_row(row) for row in study.rows],
    }


def _recompute(recompute: Recompute) -> dict[str, Any]:
    if isinstance(recompute, Speed):
        return {"tokens_per_s": recompute.tokens_per_s}
    if isinstance(recompute, Formula):
        own = recompute.active_parameters == recompute.geometry.active_parameters
        return {
            "active_parameters": recompute.active_parameters,
            "active_parameters_origin": "model" if own else "given",
            "causal_flops": recompute.geometry.causal_flops,
            "flops": recompute.flops,
            "mfu": recompute.mfu,
            "mfu_origin": "given" if recompute.mfu_given else "default",
        }
    return {}


def _even(even: BreakEven) -> dict[str, Any]:
    return {
        "block_bytes": even.block_bytes,
        "tokens": even.tokens,
        "verdict": even.verdict or "fetch from tokens on",
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "context": row.context,
        "kv_bytes": row.kv_bytes,
        "block_bytes": row.block_bytes,
        "blocks": row.blocks,
        "tokens_per_block": row.tokens_per_block,
        "reused_tokens": row.reused,
        "fetch_us": row.fetch * _MICROSECONDS,
        "rest_us": row.rest * _MICROSECONDS,
        "recompute_us": row.recompute * _MICROSECONDS,
        "recompute_by_fetch": row.ratio,
        "winner": row.winner,
        "break_even_bytes_per_s": row.bandwidth,
    }
