"""All tables by their names, in the order in which they are measured and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.rows import Row
from xiokv.runtime.bench.tables import alone, cluster, device, floor, growth, launch, rates, values
from xiokv.runtime.units import size_text

CLUSTER = "a Ceph cluster"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: what it tells.
        measure: yields its rows.
        axis: what `Row.x` counts, for a chart; empty where there is none.
        needs: the only kind of device that it is of, "a GPU" or "the host"; or "a Ceph
            cluster"; empty where it needs nothing.
    """

    title: str
    measure: Callable[[Lab], Iterator[Row]]
    axis: str = ""
    needs: str = ""

    def fits(self, target: str, store: bool = False) -> bool:
        """Tell whether it is of a target, and of a store in a cluster if there is one."""
        if self.needs == CLUSTER:
            return store
        return self.needs in ("", "the host" if target == "host" else "a GPU")

    def tick(self, x: float) -> str:
        """Return a place on the axis as text."""
        return size_text(int(x)) if self.axis.startswith("bytes") else f"{x:,.0f}"


TABLES = {
    "floor": Table("What a round trip and a launch cost", floor.measure),
    "alone": Table(
        "The host's work for commands that are answered already", alone.measure, needs="the host"
    ),
    "rates": Table("Commands a second", rates.measure),
    "launch": Table("One launch", launch.measure, "keys"),
    "values": Table("Values in memory of the host", values.measure, "bytes of a value"),
    "device": Table("Blocks into memory of the GPU", device.measure, "bytes of a block", "a GPU"),
    "queues": Table("Growth: queues", growth.queues, "queues"),
    "keys": Table("Growth: keys of one launch", growth.keys, "keys"),
    "sizes": Table("Growth: bytes of a value", growth.sizes, "bytes of a value"),
    "rados": Table("Values in a Ceph pool", cluster.sizes, "bytes of a value", CLUSTER),
    "rados-queues": Table(
        "Growth in a Ceph pool: queues of 16 values of 4 KiB in flight",
        cluster.queues,
        "queues",
        CLUSTER,
    ),
    "rados-depth": Table(
        "Growth in a Ceph pool: values of 4 KiB in flight on one queue",
        cluster.depths,
        "values in flight",
        CLUSTER,
    ),
}
