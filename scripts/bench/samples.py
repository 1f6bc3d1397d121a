"""What is told of samples: rows, each with median and quartiles, and a ratio to another."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from xiokv.runtime.bench.rows import Samples


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        name: what was measured.
        unit: of the figures.
        median: of all samples.
        low: first quartile.
        high: third quartile.
        ratio: the median of this sample over the other's, round by round; None where the
            row is compared with nothing.
        beside: name of the row that it is compared with.
    """

    name: str
    unit: str
    median: float
    low: float
    high: float
    ratio: float | None = None
    beside: str | None = None


def row(
    name: str,
    unit: str,
    samples: Sequence[float],
    beside: tuple[str, Sequence[float]] | None = None,
) -> Row:
    """Describe samples; `beside` names the row to compare with and has its samples."""
    low, high = _quartiles(samples)
    median = statistics.median(samples)
    if beside is None:
        return Row(name, unit, median, low, high)
    ratio = statistics.median(a / b for a, b in zip(samples, beside[1], strict=True))
    return Row(name, unit, median, low, high, ratio, beside[0])


def rows(unit: str, samples: Samples, beside: str) -> list[Row]:
    """Describe every case, all others compared with the one named."""
    return [
        row(name, unit, taken, None if name == beside else (beside, samples[beside]))
        for name, taken in samples.items()
    ]


def _quartiles(samples: Sequence[float]) -> tuple[float, float]:
    if len(samples) == 1:
        return samples[0], samples[0]
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, high
