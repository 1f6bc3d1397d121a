"""Where plans are replayed: options in; a storage, and what reaches it, out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from xiokv.runtime.bench.cores import serving
from xiokv.runtime.controller import Controller, patience_of
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.emulator.options import STORES
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kv import KV
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.memory_storage import MemoryStorage
from xiokv.runtime.kvcache.replay.disturbances import TIMEOUT, Clock
from xiokv.runtime.kvcache.storage import Storage
from xiokv.runtime.module import Module, load
from xiokv.runtime.nvme import passthrough
from xiokv.runtime.testing import Faults, Rig

QUEUES_MAX = 64
MEMORY = STORES[0]

# Seconds for a command of a device, or of a machine that is busy.
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Where:
    """Where plans are replayed.

    Attributes:
        target: kind of device; None for the first that there is.
        device: a namespace's character device; None for the embedded controller.
        store: where the embedded controller keeps values.
        in_memory: keep blocks in this process, without any controller.
        queues: queue pairs.
        depth: entries of each ring.
        faults: whether faults will be injected.
        seed: of the tenant, and of the controller.
    """

    target: str | None = None
    device: str | None = None
    store: str = MEMORY
    in_memory: bool = False
    queues: int = 4
    depth: int = 1024
    faults: bool = False
    seed: int = 1

    def check(self) -> None:
        """Refuse what does not go together.

        Raises:
            ArgumentFault: something does not.
        """
        if self.in_memory and (self.target or self.device):
            raise ArgumentFault("the storage in memory has neither a target nor a device")
        if self.store != MEMORY and (self.in_memory or self.device):
            raise ArgumentFault("the store is that of the embedded controller: leave --store out")
        if self.faults and (self.in_memory or self.device):
            raise ArgumentFault("faults are those of the embedded controller: leave --faults out")

    @property
    def keyspace(self) -> Keyspace:
        """Whose the blocks are."""
        return Keyspace("xiokv-replay", policy=str(self.seed))


@dataclass(frozen=True, slots=True)
class Place:
    """A storage, and what reaches it.

    Attributes:
        storage: where donors are published.
        clock: of its leases.
        module: whose memory blocks land in; None for that of NumPy.
        rig: the embedded controller, the calls that the storage uses, and faults.
    """

    storage: Storage
    clock: Clock
    module: Module | None = None
    rig: Rig | None = None


@contextmanager
def open_place(where: Where) -> Iterator[Place]:
    """Open a storage; it is closed at the end."""
    where.check()
    clock = Clock()
    if where.in_memory:
        yield Place(MemoryStorage(where.keyspace, clock=clock), clock)
        return
    module = load("host" if where.device else where.target)
    controller = passthrough(where.device) if where.device else _embedded(where, module)
    options = {"queues": where.queues, "depth": where.depth, "timeout": _timeout(where, controller)}
    with controller, module.attach(controller, **options) as kv:
        storage = KvStorage(kv, where.keyspace, clock=clock, address=where.device or "")
        yield Place(storage, clock, module, _rig(where, module, controller, kv))


def _timeout(where: Where, controller: Controller) -> float | None:
    """Return after how many seconds a queue is given up: not before the store gives an answer."""
    if where.faults:
        return patience_of(controller) + TIMEOUT
    return _PATIENCE if where.store == MEMORY else None


def _rig(where: Where, module: Module, controller: Controller, kv: KV) -> Rig | None:
    if not isinstance(controller, Emulator):
        return None
    return Rig(controller, kv, Faults(module, controller, kv, where.seed), ExitStack())


def _embedded(where: Where, module: Module) -> Emulator:
    """Return a controller with a thread a queue, on cores of their own where there are enough."""
    cpus, threads = serving(where.queues, module.target)
    return Emulator(
        cpus=cpus, threads=threads, queues=QUEUES_MAX, seed=where.seed, store=where.store
    )
