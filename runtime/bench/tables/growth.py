"""How figures grow: with queues, with keys of one launch, with bytes of a value."""

from __future__ import annotations

from collections.abc import Iterator

from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import EACH, ENGINE, FULL, NULL, REFERENCE
from xiokv.runtime.bench.rows import Row
from xiokv.runtime.bench.tables import launch, rates, values

QUEUES = (1, 2, 4, 6, 8, 10, 12, 14)
KEYS = (1, 10, 100, 1_000, 10_000, 100_000)
_WHOS = (REFERENCE, EACH, ENGINE)
SIZES = tuple(4096 << shift for shift in range(0, 11, 2))


def queues(lab: Lab) -> Iterator[Row]:
    """Yield commands a second on ever more queues."""
    for number in sorted({*(n for n in QUEUES if n < lab.queues), lab.queues}):
        for setting in (NULL, FULL):
            yield from rates.rows(lab, "queues", number, setting, _WHOS)


def keys(lab: Lab) -> Iterator[Row]:
    """Yield microseconds of one launch of ever more keys."""
    for count in (n for n in KEYS if n <= lab.scale.keys):
        yield from launch.rows(lab, "keys", count, NULL)


def sizes(lab: Lab) -> Iterator[Row]:
    """Yield bytes a second for ever larger values."""
    number = min(lab.queues, lab.cores.most(2))
    for size in (n for n in SIZES if n * number <= lab.scale.bytes):
        yield from values.rows(lab, "sizes", size, number)
