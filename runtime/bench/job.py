"""A batch of Retrieves on queues of a controller, ready to be run again and again.

Queues, keys and results lie where the runtime puts them; nothing is allocated, packed or
copied between runs. Values are recognised afterwards: each begins and ends with its number.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from xiokv.runtime import abi
from xiokv.runtime.closing import Closing
from xiokv.runtime.controller import Controller
from xiokv.runtime.drivers.base import Driver, Memory, Place
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.queues import QueueSet
from xiokv.runtime.results import RECORD
from xiokv.runtime.slabs import IN_PLACE_MAX
from xiokv.runtime.submit import chunk_keys

DEPTH = 1024
DEADLINE = 5.0

_KEY_BYTES = 16
_STOP_BYTES = ctypes.sizeof(abi.Stop)
_POISON = 0xA5


@dataclass(frozen=True, slots=True)
class Load:
    """What a job is of.

    Attributes:
        queues: queue pairs.
        keys: most keys of a run.
        size: bytes of each value.
        apart: whether each value has a place of its own; else all share one, which only a
            controller that moves no data makes no difference to.
        place: where the values lie.
    """

    queues: int
    keys: int
    size: int
    apart: bool = True
    place: Place = Place.HOST


class Job(Closing):
    """Queues, and all that a batch on them needs."""

    def __init__(
        self,
        driver: Driver,
        controller: Controller,
        load: Load,
        page_locked: Driver | None = None,
        values: Memory | None = None,
    ) -> None:
        """Create the queues; keys are the numbers from 0 on.

        Args:
            driver: of the queues.
            controller: where they are created.
            load: what the job is of.
            page_locked: whose memory of the host holds the values, if not the driver's.
            values: memory of another job for the values, which that one frees.
        """
        self.load = load
        self._driver = driver
        places = load.keys if load.apart else 1
        most = max(load.size, abi.PAGE_BYTES)
        self._queues = QueueSet.create(
            controller, driver, load.queues, depth=DEPTH, max_transfer=most
        )
        self._keys = driver.allocate(load.keys * _KEY_BYTES, Place.DEVICE)
        self._keys.view.view("<u4").reshape(-1, 4)[:, 0] = np.arange(load.keys)
        self._keys.upload()
        self._state = driver.allocate(ctypes.sizeof(abi.BatchState), Place.DEVICE)
        self._outputs = driver.allocate(_STOP_BYTES + load.keys * RECORD.itemsize)
        own: list[Memory] = [self._keys, self._state, self._outputs]
        if values is None:
            values = (
                page_locked.allocate(places * load.size)
                if page_locked
                else driver.allocate(places * load.size, load.place, shared=True)
            )
            own.append(values)
        self.values = values
        self._own = own
        self._records = self._outputs.view[_STOP_BYTES:].view(RECORD)

    def batch(self, count: int) -> abi.Batch:
        """Return a batch of the first keys, and forget earlier results."""
        self._records[:count] = 0
        in_place = count <= IN_PLACE_MAX
        queues = len(self._queues)
        return abi.Batch(
            queues=self._queues.address,
            first_ring=self._queues.first_ring,
            queue_count=queues,
            state=self._state.address,
            stop=self._outputs.address,
            keys=self._keys.view_address if in_place else self._keys.address,
            key_length=_KEY_BYTES,
            results=self._outputs.address + _STOP_BYTES,
            iova=self.values.iova,
            stride=self.load.size if self.load.apart else 0,
            value_size=self.load.size,
            count=count,
            chunk=chunk_keys(count, queues),
            deadline=self._driver.ticks(DEADLINE),
        )

    def check_outcomes(self, who: str, count: int) -> None:
        """Stop unless every key of the last run has succeeded."""
        outcomes = np.bincount(self._records["outcome"][:count], minlength=abi.Outcome.OK + 1)
        if outcomes[abi.Outcome.OK] != count:
            told = {abi.Outcome(i).name: int(n) for i, n in enumerate(outcomes) if n}
            raise RuntimeFault(f"{who}: of {count} commands, not all succeeded: {told}")

    def stamp(self) -> None:
        """Write the values that are to be stored."""
        self._stamps()[:] = np.arange(self.load.keys)[:, None]
        self.values.upload()

    def poison(self) -> None:
        """Overwrite the values, so that those of the next run are seen to come."""
        self.values.view[:] = _POISON
        self.values.upload()

    def check_values(self, who: str, count: int) -> None:
        """Stop unless the first values are those that were stored."""
        self.values.download()
        stamps = self._stamps()[:count]
        wrong = (stamps != np.arange(count)[:, None]).any(axis=1)
        if wrong.any():
            raise RuntimeFault(f"{who}: value {int(wrong.argmax())} is not the one that was stored")

    def close(self) -> None:
        """Delete the queues and free the memory."""
        self._queues.close()
        for memory in self._own:
            memory.free()

    def _stamps(self) -> Any:
        """Return the first and the last 8 bytes of each value."""
        words = self.values.view.view("<u8").reshape(self.load.keys, -1)
        return words[:, :: max(words.shape[1] - 1, 1)]
