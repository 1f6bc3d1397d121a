"""A controller and a driver that take notes, for tests of queue pairs."""

from __future__ import annotations

from typing import Any

from xiokv.runtime import abi
from xiokv.runtime.controller import CreatedQueue, Limits, Rings
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.host import Stream
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.errors import RuntimeFault

MIB = 1 << 20
LIMITS = Limits(
    key_max=16,
    value_max=32 * MIB,
    transfer_max=0,
    entries_max=65536,
    queues_max=4,
    page_bytes=4096,
)


class Controller:
    """A controller that takes notes, with limits and faults as the test wants them."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self.rings: dict[int, Rings] = {}
        self.deleted: list[int] = []
        self.connected: list[Driver] = []
        self.refuses_to_delete = False
        self.refuses_to_create_after = limits.queues_max
        self.bar = HostMemory(4096)

    def limits(self, nsid: int) -> Limits:
        return self._limits

    def connect(self, driver: Driver) -> None:
        self.connected.append(driver)

    def create_queue(self, rings: Rings) -> CreatedQueue:
        qid = len(self.rings) + 1
        if qid > self.refuses_to_create_after:
            raise RuntimeFault("no more queues")
        self.rings[qid] = rings
        return CreatedQueue(qid, self.bar.address + 8 * qid, self.bar.address + 8 * qid + 4)

    def delete_queue(self, qid: int) -> None:
        if self.refuses_to_delete:
            raise RuntimeFault("the controller does not answer")
        self.deleted.append(qid)


class Driver:
    """A driver that keeps a list of the memory in use, and of launches."""

    exchange = None

    def __init__(self) -> None:
        self.memory: list[HostMemory] = []
        self.launches: list[tuple[abi.Batch, Any]] = []
        self.settled: list[Any] = []
        self.interrupted = False

    def allocate(self, size: int, place: Place = Place.HOST, *, shared: bool = False) -> HostMemory:
        memory = HostMemory(size)
        self.memory.append(memory)
        return memory

    @property
    def in_use(self) -> int:
        """Bytes that were allocated and not freed."""
        return sum(memory.view.nbytes for memory in self.memory)

    def stream(self) -> Stream:
        return Stream()

    def check_stream(self, stream: Any) -> None:
        """Take anything for a stream."""

    def launch(self, kernel: str, batch: abi.Batch, stream: Any, after: Any) -> Launch:
        self.launches.append((batch, after))
        if self.interrupted:
            raise KeyboardInterrupt
        return Launch()

    def settle(self, stream: Any) -> None:
        self.settled.append(stream)


class Launch:
    """A launch that says whether it was waited for."""

    done = False

    def wait(self, timeout: float | None = None) -> bool:
        self.done = True
        return True
