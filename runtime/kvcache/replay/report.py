"""What a replay has to say: an outcome in; lines of a table, or JSON, out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xiokv.runtime.kvcache.metrics_text import latency_text, rate_text, table
from xiokv.runtime.kvcache.replay.run import Outcome
from xiokv.runtime.units import size_text

_BESIDE = ("check_seconds", "publish_seconds", "seconds")
_COUNTED = (
    *("checked_blocks", "checked_bytes", "published_bytes", "declined_spans"),
    *("declined_retrieves", "without_contents", "without_keys", "peak_rss_bytes"),
)


def as_values(size: int, outcome: Outcome) -> dict[str, Any]:
    """Return all of a run, as JSON has it."""
    return {
        "block_bytes": size,
        "ok": outcome.ok,
        "wrong": str(outcome.wrong) if outcome.wrong else None,
        **{name: getattr(outcome, name) for name in (*_COUNTED, *_BESIDE)},
        "faults": dict(sorted(outcome.faults.items())),
        "failures": dict(sorted(outcome.failures.items())),
        "metrics": outcome.metrics.as_values(),
    }


def lines(size: int, outcome: Outcome) -> list[str]:
    """Return a run as a table: the metrics, then what the replay did beside."""
    rows = [f"blocks of {size_text(size)}", *table(outcome.metrics.as_values())]
    return [*rows, *(f"{name:<22} {text}" for name, text in _own(outcome))]


def summary(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line a run, for the sizes beside each other."""
    layout = "{:>8}  {:>8}  {:>10}  {:>12}  {}"
    found = [layout.format("blocks", "fetched", "IOPS", "bandwidth", "retrieve latency of a plan")]
    for run in runs:
        metrics = run["metrics"]
        iops = metrics["iops"]
        found.append(
            layout.format(
                size_text(run["block_bytes"]),
                f"{metrics['fetched_bytes'] / 1e9:.2f} GB",
                "-" if iops is None else f"{iops:,.0f}",
                rate_text(metrics["bytes_per_second"]),
                latency_text(metrics["retrieve_latency_seconds"]),
            )
        )
    return found


def what_is_wrong(outcome: Outcome) -> str:
    """Return why a replay failed."""
    if outcome.wrong is None:
        return (
            f"{outcome.declined_retrieves} Retrieve commands were sent for blocks of spans that"
            " the backend declined"
        )
    unlooked = outcome.metrics.unverified_plans
    hint = "\n  checksums were not compared: see --checksums" if unlooked else ""
    return f"wrong bytes count as materialised: {outcome.wrong}{hint}"


def _own(outcome: Outcome) -> Iterable[tuple[str, str]]:
    checked = f"{outcome.checked_blocks:,} blocks, {outcome.checked_bytes:,} bytes"
    yield "compared byte by byte", f"{checked}: {'all right' if outcome.ok else 'WRONG'}"
    if outcome.declined_spans:
        asked = outcome.declined_retrieves
        told = "not traced" if asked is None else f"{asked} Retrieve commands for their blocks"
        yield "declined spans", f"{outcome.declined_spans:,}; {told}"
    if outcome.faults:
        yield "faults", ", ".join(f"{count} {name}" for name, count in outcome.faults.most_common())
    if outcome.failures:
        found = outcome.failures.most_common()
        yield "failed commands", ", ".join(f"{count:,} {status}" for status, count in found)
    if outcome.without_contents:
        yield "contents left out", f"of {outcome.without_contents:,} plans: they are not replayed"
    if outcome.without_keys:
        yield "keys left out", f"of {outcome.without_keys:,} plans: blocks have keys of their own"
    yield "publish seconds", f"{outcome.publish_seconds:.3f}, {outcome.published_bytes:,} bytes"
    yield "compare seconds", f"{outcome.check_seconds:.3f}"
    yield "all seconds", f"{outcome.seconds:.3f}"
    yield "peak memory", f"{outcome.peak_rss_bytes / (1 << 20):,.0f} MiB, of the whole process"
