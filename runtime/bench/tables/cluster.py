"""Values in a Ceph pool: the runtime beside `rados bench` on the same pool and namespace.

Both have the same bytes of a value, the same number of values and of commands in flight. A
round is: one stores, reads and deletes, then the other does.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from xiokv.runtime.bench.lab import Cluster, Lab
from xiokv.runtime.bench.names import RADOS_BENCH, RUNTIME, VALUE_BYTES
from xiokv.runtime.bench.rados_bench import RadosBench, Taken
from xiokv.runtime.bench.rows import Goal, Row, compared, in_turns
from xiokv.runtime.bench.store_client import StoreClient, StoreLoad
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.units import size_text

SIZES = (4 << 10, 128 << 10, 4 << 20)
QUEUES = (1, 2, 4, 8)
DEPTHS = (1, 4, 16, 64, 256)

_DEPTH = 16
_WANTED = Goal(0.9)
_MICROSECONDS = 1e6

Round = tuple[Taken, Taken]


def sizes(lab: Lab) -> Iterator[Row]:
    """Yield values a second, and processor time of a value, for values of some sizes."""
    for size in SIZES:
        load = StoreLoad(size, 1, _DEPTH)
        for row in _rows(lab, "rados", size_text(size), size, load, cpu=True):
            yield _with_goal(row) if row.x is not None else row


def queues(lab: Lab) -> Iterator[Row]:
    """Yield values of 4 KiB a second on ever more queues."""
    for number in QUEUES:
        case = "1 queue" if number == 1 else f"{number} queues"
        yield from _rows(lab, "rados-queues", case, number, StoreLoad(VALUE_BYTES, number, _DEPTH))


def depths(lab: Lab) -> Iterator[Row]:
    """Yield values of 4 KiB a second with ever more commands in flight."""
    for depth in DEPTHS:
        yield from _rows(lab, "rados-depth", str(depth), depth, StoreLoad(VALUE_BYTES, 1, depth))


def _rows(
    lab: Lab, table: str, case: str, x: float, load: StoreLoad, *, cpu: bool = False
) -> Iterator[Row]:
    lab.say(case)
    count, rounds, setups = _measured(lab, load)
    for number, what in enumerate(("store", "retrieve")):
        taken = {who: [one[number] for one in each] for who, each in rounds.items()}
        yield from compared(
            Row(table, case, what, who, "values/s", tuple(count / t.seconds for t in each), x)
            for who, each in taken.items()
        )
        if cpu:
            yield from compared(
                Row(table, case, f"{what}, CPU time", who, "us", tuple(times))
                for who, each in taken.items()
                if (times := [_alone(t.cpu, setups[who][number], count) for t in each])
            )


def _measured(
    lab: Lab, load: StoreLoad
) -> tuple[int, dict[str, list[Round]], dict[str, tuple[float, float]]]:
    """Return how many values a round had, the rounds, and each one's CPU time for none."""
    cluster = _cluster(lab)
    client = StoreClient(lab.module, cluster.url, cluster.place.timeout, len(lab.cores.all))
    beside = RadosBench(cluster.place, load.size, load.in_flight)
    count = _fitting(lab, client, load)
    cases: dict[str, Callable[[], Round]] = {
        RADOS_BENCH: partial(_round, beside, count),
        RUNTIME: partial(client.round, load, count),
    }
    setup = [beside.setup() for _ in range(lab.scale.samples)]
    alone = (statistics.median(s[0] for s in setup), statistics.median(s[1] for s in setup))
    return count, in_turns(cases, lab.scale.samples), {RADOS_BENCH: alone, RUNTIME: (0.0, 0.0)}


def _round(beside: RadosBench, count: int) -> Round:
    with beside.objects(count) as taken:
        return taken


def _fitting(lab: Lab, client: StoreClient, load: StoreLoad) -> int:
    """Return how many values take the time of a round to be stored."""
    scale = lab.scale
    most = max(scale.store_bytes // load.size, load.in_flight)
    count = min(4 * load.in_flight, most)
    while (took := client.round(load, count)[0].seconds) < scale.store_seconds / 4:
        if count == most:
            return most
        count = min(4 * count, most)
    return min(max(round(count * scale.store_seconds / took), load.in_flight), most)


def _alone(cpu: float, setup: float, count: int) -> float:
    """Return microseconds of one value: at least a clock's, where hardly more than set-up was."""
    return max(cpu - setup, 1e-6) / count * _MICROSECONDS


def _with_goal(row: Row) -> Row:
    return replace(row, comparisons=tuple(replace(part, goal=_WANTED) for part in row.comparisons))


def _cluster(lab: Lab) -> Cluster:
    if lab.cluster is None:
        raise RuntimeFault("a table of a cluster without one")
    return lab.cluster
