"""The runtime as a client of a store in a cluster: a load in; what storing and retrieving took.

Each round has a controller, and so a connection to the cluster, of its own, as the program that
it stands beside has.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.bench.rados_bench import Taken
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.leftovers import StoredKeys, cleared, named_place
from xiokv.runtime.module import Module
from xiokv.runtime.rados import RadosUrl
from xiokv.runtime.results import Result

_KEY_BYTES = 16
_POISON = 0xA5
# Seconds by which the deadline of queues comes after that of their store.
_MARGIN = 30.0


@dataclass(frozen=True, slots=True)
class StoreLoad:
    """What a client carries out.

    Attributes:
        size: bytes of a value.
        queues: queue pairs.
        depth: commands in flight on each.
    """

    size: int
    queues: int
    depth: int

    @property
    def in_flight(self) -> int:
        """Commands in flight on all queues."""
        return self.queues * self.depth


class StoreClient:
    """Stores values under keys that nobody else has, and retrieves them.

    Args:
        module: the engine.
        store: URL of the store.
        patience: seconds that the store has for a command.
        threads: most threads of the controller.
    """

    def __init__(self, module: Module, store: str, patience: float, threads: int) -> None:
        self._module = module
        self._store = store
        self._patience = patience
        self._threads = threads
        self._values = module.empty(0, place=Place.HOST)

    def round(self, load: StoreLoad, count: int) -> tuple[Taken, Taken]:
        """Store so many values and retrieve each once; delete them, and return both."""
        keys, values = fresh_keys(count), self._room(count * load.size)
        stamps = _stamps(values.view, count)
        stamps[:] = np.arange(count)[:, None]
        threads = min(load.queues, self._threads)
        with (
            Emulator(store=self._store, threads=threads, queues=load.queues) as controller,
            self._module.attach(
                controller,
                queues=load.queues,
                depth=load.depth + 1,
                window=load.depth,
                timeout=self._patience + _MARGIN,
            ) as kv,
        ):
            where = named_place(RadosUrl.parse(self._store), keys[0, :8].tobytes().hex())
            with cleared(StoredKeys(kv, keys), where):
                stored = _taken(lambda: kv.store(keys, values))
                values.view[:] = _POISON
                retrieved = _taken(lambda: kv.retrieve(keys, values))
                kv.delete(keys).raise_for_status()
        wrong = (stamps != np.arange(count)[:, None]).any(axis=1)
        if wrong.any():
            raise RuntimeFault(f"value {int(wrong.argmax())} is not the one that was stored")
        return stored, retrieved

    def _room(self, size: int) -> Any:
        """Return memory for values, which is touched, and used again where it is the same."""
        if self._values.nbytes != size:
            self._values = self._module.empty(size, place=Place.HOST)
            self._values.view[:] = _POISON
        return self._values


def _taken(call: Callable[[], Result]) -> Taken:
    """Measure a batch; stop unless every key succeeded."""
    cpu, began = time.process_time(), time.perf_counter()
    result = call()
    result.raise_for_status()
    return Taken(time.perf_counter() - began, time.process_time() - cpu)


def fresh_keys(count: int) -> npt.NDArray[np.uint8]:
    """Return keys that begin with the same 8 random bytes, and end with their number."""
    words = np.empty((count, 2), ">u8")
    words[:, 0] = int.from_bytes(os.urandom(8), "big")
    words[:, 1] = np.arange(count)
    return words.view(np.uint8).reshape(count, _KEY_BYTES)


def _stamps(values: npt.NDArray[np.uint8], count: int) -> Any:
    """Return the first and the last 8 bytes of each value."""
    words = values.view("<u8").reshape(count, -1)
    return words[:, :: max(words.shape[1] - 1, 1)]
