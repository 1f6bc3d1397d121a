"""The host engine beside a bare loop on the same queues, memory and controller.

In pairs, each by turns in one run: with completions that are there already, which is the
host's work alone; on a controller that answers at once (null); and on one that keeps
values. The controller has one thread, and each queue one more.
"""

from __future__ import annotations

import ctypes
import sys
from functools import partial

import numpy as np
from native import answered, bare, engine, module, race
from samples import Row, Samples, row, take_turns

from xiokv.runtime.abi import Outcome
from xiokv.runtime.buffers import Values
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.keys import pack_keys
from xiokv.runtime.queues import QueueSet
from xiokv.runtime.semantic import NO_SEMANTIC
from xiokv.runtime.slabs import Slab
from xiokv.runtime.spans import span_of
from xiokv.runtime.submit import CHUNK_MAX

QUEUES = (1, 2, 4)
VALUE_BYTES = (64, 4096)
ANSWERED = 60_000
DEADLINE = 60.0


def measure(tiny: bool) -> list[Row]:
    """Return commands a second of the engine and of the bare loop."""
    rounds = 1 if tiny else 15
    found = _host_alone(1000 if tiny else ANSWERED, 3 if tiny else 51)
    for queues in QUEUES:
        found += _null(queues, 2000 if tiny else 400_000, rounds)
    for queues in QUEUES:
        for size in VALUE_BYTES:
            found += _keeping(queues, size, 500 if tiny else 16_384, rounds)
    return found


def _host_alone(count: int, rounds: int) -> list[Row]:
    cases = {
        "engine": partial(answered, engine("retrieve"), count, believes=True),
        "bare": partial(answered, bare("retrieve"), count, believes=False),
    }
    samples = take_turns(cases, rounds)
    each = {name: [seconds / count * 1e9 for seconds in taken] for name, taken in samples.items()}
    return _pair("host alone", "ns/command", each)


def _null(queues: int, count: int, rounds: int) -> list[Row]:
    with Emulator(null=True) as controller:
        samples = Rig(controller, queues, count, 64).rates("retrieve", rounds)
    return _pair(f"null, {_queues(queues)}", "commands/s", samples)


def _keeping(queues: int, size: int, count: int, rounds: int) -> list[Row]:
    label = f"{size} B, {_queues(queues)}"
    with Emulator() as controller:
        rig = Rig(controller, queues, count, size)
        return [
            found
            for command in ("store", "retrieve")
            for found in _pair(f"{command} {label}", "commands/s", rig.rates(command, rounds))
        ]


def _pair(label: str, unit: str, samples: Samples) -> list[Row]:
    beside = f"{label}: bare"
    return [
        row(beside, unit, samples["bare"]),
        row(f"{label}: engine", unit, samples["engine"], (beside, samples["bare"])),
    ]


def _queues(number: int) -> str:
    return f"{number} queue{'s' if number > 1 else ''}"


class Rig:
    """Queues on a controller, and a batch that engine and bare loop both run.

    Every value lies in one page, as the bare loop wants it.
    """

    def __init__(self, controller: Emulator, queues: int, count: int, size: int) -> None:
        driver = module().driver
        self._controller = controller
        self._queues = QueueSet.create(controller, driver, queues)
        rows = np.zeros((count, 16), np.uint8)
        rows.view("<u4")[:, 0] = np.arange(count)
        self._keys = pack_keys(rows, None, 16)
        memory = span_of("values", driver.allocate(count * size).view)
        self._values = Values(memory, None, size, None, size)
        self._slab = Slab(driver, count, ())

    def rates(self, command: str, rounds: int) -> Samples:
        """Return commands a second of both, after one run of each to warm up."""
        cases = {
            "engine": partial(self._rate, engine(command)),
            "bare": partial(self._rate, bare(command)),
        }
        take_turns(cases, 1)
        return take_turns(cases, rounds)

    def _rate(self, kernel: int) -> float:
        count = len(self._keys)
        batch = self._slab.fill(self._keys, self._values, NO_SEMANTIC)
        batch.queues = ctypes.addressof(self._queues.pairs[0].record)
        batch.queue_count = len(self._queues)
        batch.chunk = min(CHUNK_MAX, -(-count // len(self._queues)))
        batch.deadline = module().driver.ticks(DEADLINE)
        before = self._controller.counters().completions
        seconds = race(kernel, batch)
        self._check(self._controller.counters().completions - before)
        return count / seconds

    def _check(self, completions: int) -> None:
        """Stop where commands were lost, or where the engine says that any failed."""
        count = len(self._keys)
        outcomes = self._slab.results[:count]["outcome"]
        if completions != count or not np.isin(outcomes, (Outcome.NONE, Outcome.OK)).all():
            sys.exit(f"{completions} completions for {count} commands: {np.bincount(outcomes)}")
