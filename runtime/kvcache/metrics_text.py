"""Metrics for people and for programs: what `Metrics.as_values` returned in, lines out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from xiokv.runtime.kvcache.supplied import NOT_SUPPLIED, SUPPLIED

_NOT_ASKED = "not asked"
_NOTHING = "nothing was fetched"


def json_line(values: dict[str, Any]) -> str:
    """Return one object on one line; it has no newline."""
    return json.dumps(values, separators=(",", ":"))


def table(values: dict[str, Any]) -> list[str]:
    """Return the metrics of a run, a line each: a name, and what it is."""
    rows = [*_blocks(values), *_moved(values), *_times(values), *_supplied(values)]
    return [f"{name:<22} {text}" for name, text in rows]


def rate_text(bytes_per_second: float | None) -> str:
    """Return a bandwidth."""
    return _NOTHING if bytes_per_second is None else f"{bytes_per_second / 1e9:.2f} GB/s"


def latency_text(found: dict[str, float] | None) -> str:
    """Return percentiles in microseconds."""
    if found is None:
        return _NOTHING
    return ", ".join(f"{name} {seconds * 1e6:,.0f} us" for name, seconds in found.items())


def _blocks(values: dict[str, Any]) -> Iterable[tuple[str, str]]:
    yield "plans", f"{values['plans']:,}, of {values['spans']:,} spans"
    yield "blocks of tokens", f"{values['blocks']:,}"
    exact = values["exact_hit_rate"]
    yield "exact hit rate", _NOT_ASKED if exact is None else _percent(exact)
    yield "candidate hit rate", _percent(values["candidate_hit_rate"])
    yield "materialised hit rate", _percent(values["materialised_hit_rate"])
    causes = values["causes"]
    yield "donor spans", ", ".join(f"{number:,} {_cause(name)}" for name, number in causes.items())
    tokens, spared = values["tokens"], values["materialised_tokens"]
    yield "tokens not recomputed", f"{spared:,} of {tokens:,}"
    if values["unverified_plans"]:
        yield "not verified", f"{values['unverified_plans']:,} plans: checksums were not compared"


def _moved(values: dict[str, Any]) -> Iterable[tuple[str, str]]:
    yield "bytes asked for", f"{values['asked_bytes']:,}"
    yield "bytes fetched", f"{values['fetched_bytes']:,}"
    yield "bytes that count", f"{values['materialised_bytes']:,}"
    yield "bytes avoided", f"{values['avoided_bytes']:,}"
    yield "retrieve latency", latency_text(values["retrieve_latency_seconds"])
    yield "bandwidth", rate_text(values["bytes_per_second"])
    iops = values["iops"]
    yield "IOPS", _NOTHING if iops is None else f"{iops:,.0f}"


def _times(values: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for name, seconds in values["seconds"].items():
        yield f"{name} seconds", f"{seconds:.3f}"


def _supplied(values: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for name, found in values["supplied"].items():
        if found == NOT_SUPPLIED:
            yield name, NOT_SUPPLIED
        else:
            yield name, _figures(found, SUPPLIED[name].unit)


def _figures(found: dict[str, float], unit: str) -> str:
    if "right" in found:
        return f"{found['right']:,} of {found['requests']:,} right"
    shown = ", ".join(f"{name} {found[name]:.4g}" for name in found if name != "requests")
    return f"{shown} {unit}, of {found['requests']:,} requests"


def _cause(name: str) -> str:
    return "whole" if name == "none" else name


def _percent(share: float | None) -> str:
    return "no whole block" if share is None else f"{share:.1%}"
