"""Values in a Ceph pool: the runtime beside `rados bench` on the same pool and namespace.

Both have the same bytes of a value, the same number of values and of commands in flight. A
round is: one stores, reads and deletes, then the other does.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial

from xiokv.runtime.bench.lab import Cluster, Lab
from xiokv.runtime.bench.names import RADOS_BENCH, RUNTIME, VALUE_BYTES
from xiokv.runtime.bench.rados_bench import RadosBench, Taken
from xiokv.runtime.bench.rows import Row, compared, in_turns
from xiokv.runtime.bench.store_client import StoreClient, StoreLoad
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.units import size_text

SIZES = (4 << 10, 128 << 10, 4 << 20)
QUEUES = (1, 2, 4, 8)
DEPTHS = (1, 4, 16, 64, 256)

# Of each operation, who: in whose rounds, and what of them.
_OPERATIONS = {
    "store": {RADOS_BENCH: (RADOS_BENCH, 0), RUNTIME: (RUNTIME, 0)},
    "retrieve": {
        RADOS_BENCH: (RADOS_BENCH, 1),
        f"{RADOS_BENCH} --no-verify": (RADOS_BENCH, 2),
        RUNTIME: (RUNTIME, 1),
    },
}

_DEPTH = 16
_MICROSECONDS = 1e6

#: What was stored, retrieved and, by `rados bench` alone, read without a look at it.
Round = tuple[Taken, ...]


def sizes(lab: Lab) -> Iterator[Row]:
    """Yield values a second, and processor time of a value, for values of some sizes."""
    for size in SIZES:
        load = StoreLoad(size, 1, _DEPTH)
        yield from _rows(lab, "rados", size_text(size), size, load, cpu=True)


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
    count, rounds, setups = _measured(lab, load, cpu)
    for what, sides in _OPERATIONS.items():
        taken = {
            who: [one[number] for one in rounds[side]] for who, (side, number) in sides.items()
        }
        yield from compared(
            Row(table, case, what, who, "values/s", tuple(count / t.seconds for t in each), x)
            for who, each in taken.items()
        )
        if not cpu:
            continue
        times = {
            who: _alone(each, _setup(setups, sides[who]), count) for who, each in taken.items()
        }
        # Where a round took hardly more than set-up did, nothing is known of one value.
        if min(map(min, times.values())) > 0:
            yield from compared(
                Row(table, case, f"{what}, CPU time", who, "us", each)
                for who, each in times.items()
            )


def _setup(setups: dict[str, tuple[float, ...]], side: tuple[str, int]) -> float:
    return setups[side[0]][side[1]] if side[0] in setups else 0.0


def _measured(
    lab: Lab, load: StoreLoad, cpu: bool
) -> tuple[int, dict[str, list[Round]], dict[str, tuple[float, ...]]]:
    """Return how many values a round had, the rounds, and the CPU time of set-up if asked."""
    cluster = _cluster(lab)
    client = StoreClient(lab.module, cluster.url, cluster.place.timeout, len(lab.cores.all))
    beside = RadosBench(cluster.place, load.size, load.in_flight)
    count = _fitting(lab, client, load)
    cases: dict[str, Callable[[], Round]] = {
        RADOS_BENCH: partial(_round, beside, count),
        RUNTIME: partial(client.round, load, count),
    }
    rounds = in_turns(cases, lab.scale.samples)
    if not cpu:
        return count, rounds, {}
    setup = [beside.setup() for _ in range(lab.scale.setups)]
    alone = tuple(map(statistics.median, zip(*setup, strict=True)))
    return count, rounds, {RADOS_BENCH: alone}


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


def _alone(each: list[Taken], setup: float, count: int) -> tuple[float, ...]:
    """Return microseconds of one value in each round, without those of set-up."""
    return tuple((taken.cpu - setup) / count * _MICROSECONDS for taken in each)


def _cluster(lab: Lab) -> Cluster:
    if lab.cluster is None:
        raise RuntimeFault("a table of a cluster without one")
    return lab.cluster
