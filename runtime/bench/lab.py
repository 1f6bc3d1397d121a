"""What every table works with: modules, cores, a timer, and how much is to be measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xiokv.runtime import toolchain
from xiokv.runtime.bench import cpu, rados_bench
from xiokv.runtime.bench.baselines import load_baselines
from xiokv.runtime.bench.cores import own_cores
from xiokv.runtime.bench.timers import DeviceTimer, HostTimer, Timer
from xiokv.runtime.closing import Closing
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.drivers.host import HostDriver
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.module import Module
from xiokv.runtime.rados import RadosUrl

_QUEUES_MAX = 14
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured.

    Attributes:
        samples: rounds of each case.
        launches: single launches that a sample is the median of.
        seconds: what a sample of a rate is to take.
        keys: most keys of a run on each queue.
        bytes: most bytes of values of a run.
        store_seconds: what storing into a cluster is to take in a round.
        store_bytes: most bytes of values of such a round.
        setups: runs of the program beside with a single value.
    """

    samples: int = 5
    launches: int = 15
    seconds: float = 0.05
    keys: int = 200_000
    bytes: int = 256 * _MIB
    store_seconds: float = 2.0
    store_bytes: int = 512 * _MIB
    setups: int = 5


FULL = Scale()
QUICK = Scale(
    samples=3,
    launches=3,
    seconds=0.002,
    keys=4_000,
    bytes=8 * _MIB,
    store_seconds=0.1,
    store_bytes=8 * _MIB,
    setups=1,
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A Ceph pool to measure.

    Attributes:
        url: of a store.
        place: the same, in its parts.
        rados: version of the program that is stood beside.
    """

    url: str
    place: RadosUrl
    rados: str

    def check_opens(self) -> None:
        """Open the store, and close it.

        Raises:
            RuntimeFault: it cannot be opened.
        """
        Emulator(store=self.url).close()


def named_cluster(url: str) -> Cluster:
    """Return a pool to measure; it is not connected to yet.

    Raises:
        ArgumentFault: the URL is none of a Ceph pool, or of one that is only read.
        MissingFault: there is no program to stand beside.
    """
    place = RadosUrl.parse(url)
    if place.read_only:
        raise ArgumentFault(f"store {url!r} is read-only, and a benchmark writes: leave that out")
    return Cluster(url, place, rados_bench.version())


class Lab(Closing):
    """Modules, cores and a timer.

    Attributes:
        module: the engine, on the device that is measured.
        baselines: what it is compared with, on the same device.
        host: the driver of what clients on the CPU work on.
        gpu: times kernels of both modules, where the device is a GPU.
        timer: times them, whatever it is.
        cores: those of this process.
        scale: how much is measured.
        queues: what "all queues" means.
        say: is told what is being measured.
        cluster: the pool of the tables that have to do with one.
    """

    def __init__(
        self,
        module: Module,
        scale: Scale,
        queues: int | None = None,
        say: Callable[[str], None] = lambda text: None,
        cluster: Cluster | None = None,
    ) -> None:
        """Load what else is needed; what is missing is compiled.

        Args:
            module: the engine to measure.
            scale: how much is measured.
            queues: most queues; by default as many as have cores of their own, up to 14.
            say: is told what is being measured.
            cluster: the pool of the tables that have to do with one.
        """
        self.module = module
        self.baselines = load_baselines(self.module)
        self.gpu = None if module.target == "host" else DeviceTimer(self.baselines)
        self.timer: Timer = self.gpu or HostTimer()
        self.host: Driver = (
            HostDriver(toolchain.build_cached(cpu.recipe())) if self.gpu else module.driver
        )
        self.cores = own_cores()
        self.scale = scale
        self.queues = queues or min(_QUEUES_MAX, self.cores.most(2 if self.on_host else 1))
        self.say = say
        self.cluster = cluster

    @property
    def on_host(self) -> bool:
        """Whether the device is the CPU."""
        return self.gpu is None

    @property
    def setting(self) -> dict[str, Any]:
        """What was measured with, for the record."""
        device = self.gpu.described if self.gpu else {}
        pool = self.cluster and {
            "store": self.cluster.place.shortest,
            "rados": self.cluster.rados,
        }
        return {
            "target": self.module.target,
            **device,
            **(pool or {}),
            "queues": self.queues,
            "cores": len(self.cores.all),
            "samples": self.scale.samples,
            "launches": self.scale.launches,
        }

    def close(self) -> None:
        """Give the timer's parts back."""
        self.timer.close()
