"""All that is told of some models: both sides and lengths in; rows and break-evens out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.breakeven.compare import BreakEven, Reuse, Row, break_even, rows
from xiokv.runtime.kvcache.breakeven.fetch import Fetch
from xiokv.runtime.kvcache.breakeven.recompute import Recompute

CONTEXTS = tuple(1 << power for power in range(10, 18))


@dataclass(frozen=True, slots=True)
class Study:
    """One model.

    Attributes:
        reuse: the model, and what of a context can be fetched.
        recompute: what it costs to compute.
        rows: by context, then by block size, rising.
        evens: by block size, rising.
    """

    reuse: Reuse
    recompute: Recompute
    rows: tuple[Row, ...]
    evens: tuple[BreakEven, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """All of one run.

    Attributes:
        fetch: what it costs to fetch.
        studies: by model.
    """

    fetch: Fetch
    studies: tuple[Study, ...]


def lengths(reuse: Reuse, asked: Sequence[int]) -> tuple[int, ...]:
    """Return the lengths to look at; by default powers of two up to the model's longest.

    Raises:
        ArgumentFault: the model has no context of a length that was asked for.
    """
    geometry = reuse.geometry
    if asked and asked[-1] > geometry.context:
        raise ArgumentFault(
            f"--contexts: {asked[-1]} tokens; {geometry.name} has contexts of up to"
            f" {geometry.context}"
        )
    fitting = tuple(length for length in CONTEXTS if length <= geometry.context)
    return tuple(asked) or fitting or (geometry.context,)


def study(reuse: Reuse, fetch: Fetch, recompute: Recompute, contexts: Sequence[int]) -> Study:
    """Return what is told of a model at some lengths."""
    return Study(
        reuse,
        recompute,
        tuple(rows(reuse, fetch.costs, recompute, contexts)),
        tuple(break_even(reuse, cost, recompute) for cost in fetch.costs),
    )
