"""A controller, queues on it, and those who run the same batch there in turn.

Each of the controller's threads has a core of its own, and so has each thread of the host's
engine and of a client, where there are cores enough; else none has.
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from functools import partial

from xiokv.runtime import abi
from xiokv.runtime.bench import baselines, cpu
from xiokv.runtime.bench.job import DEPTH, Job, Load
from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import CLIENT, EACH, ENGINE, LEAN, REFERENCE
from xiokv.runtime.bench.rows import Samples, take_turns
from xiokv.runtime.closing import Closing
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.operation import Operation

_SHAPES = {REFERENCE: "reference", LEAN: "lean_reference", EACH: "each"}
# Doorbells of different queues and directions lie on lines of their own.
_DSTRD = 4
_MICROSECONDS = 1e6
# From so many keys on one launch is a sample.
_LONG_LAUNCH = 2_000


class Stand(Closing):
    """A controller and a job on it.

    Args:
        lab: modules, cores, timer.
        load: what the job is of.
        null: whether the controller answers without looking; else it keeps values, and those
            of the job are stored first.
        client: whether a client on the CPU takes part, on queues of its own.

    Attributes:
        job: the engine's and the baselines'.
        client: the client's, whose values lie in memory of the host.
    """

    def __init__(self, lab: Lab, load: Load, *, null: bool, client: bool = False) -> None:
        """Start the controller, create the queues and store the values."""
        self.load = load
        self._lab = lab
        parties = 2 if client or lab.on_host else 1
        serving, *others = lab.cores.shares(load.queues, parties)
        self._cpus = others[0] if others else ()
        with ExitStack() as stack:
            controller = Emulator(
                null=null,
                cpus=serving,
                threads=len(serving) or min(load.queues, lab.cores.most(parties)),
                queues=2 * load.queues,
                dstrd=_DSTRD,
            )
            self._controller = stack.enter_context(controller)
            self.job = stack.enter_context(Job(lab.module.driver, controller, load))
            if client:
                # One memory for both: how its pages lie makes a difference.
                values = self.job.values if load.place is Place.HOST else None
                self.client = stack.enter_context(
                    Job(lab.host, controller, load, lab.module.driver, values)
                )
            if not null:
                self._store()
            self._stack = stack.pop_all()

    def seconds(self, who: str, count: int) -> float:
        """Let one of them run the first keys; stop unless every command was carried out."""
        before = self._controller.counters().completions
        seconds = self._run(who, count)
        completions = self._controller.counters().completions - before
        if completions != count:
            raise RuntimeFault(f"{who}: {completions} completions for {count} commands")
        if who != CLIENT:
            self.job.check_outcomes(who, count)
        return seconds

    def latencies(self, *whos: str, count: int) -> Samples:
        """Return microseconds of one launch; a sample is the median of several."""
        cases = {who: partial(self._latency, who, count) for who in whos}
        take_turns(cases, 1)
        return take_turns(cases, self._lab.scale.samples)

    def rates(self, *whos: str) -> Samples:
        """Return commands a second; each runs as many as take the time of a sample."""
        cases = {who: partial(self._rate, who, self._fitting(who)) for who in whos}
        return take_turns(cases, self._lab.scale.samples)

    def check_values(self, who: str, count: int) -> None:
        """Stop unless one of them brings the first values as they were stored."""
        job = self.client if who == CLIENT else self.job
        job.poison()
        self.seconds(who, count)
        job.check_values(who, count)

    def close(self) -> None:
        """Delete the queues, then end the controller."""
        self._stack.close()

    def _run(self, who: str, count: int) -> float:
        if who == CLIENT:
            loop = cpu.client(Operation.RETRIEVE)
            return cpu.race(loop, self.client.batch(count), self._cpus)
        module, kernel = self._lab.module, self._lab.module.kernel(Operation.RETRIEVE)
        if who != ENGINE:
            module = self._lab.baselines
            kernel = baselines.entry(_SHAPES[who])
        return self._lab.timer.seconds(module, kernel, self.job.batch(count), self._cpus)

    def _store(self) -> None:
        count = self.load.keys
        self.job.stamp()
        module = self._lab.module
        kernel = module.kernel(Operation.STORE)
        self._lab.timer.seconds(module, kernel, self.job.batch(count), self._cpus)
        self.job.check_outcomes("Store", count)

    def _latency(self, who: str, count: int) -> float:
        number = self._lab.scale.launches if count < _LONG_LAUNCH else 1
        launches = [self.seconds(who, count) for _ in range(number)]
        return statistics.median(launches) * _MICROSECONDS

    def _rate(self, who: str, count: int) -> float:
        return count / self.seconds(who, count)

    def _fitting(self, who: str) -> int:
        """Return how many keys take the time of a sample: whole rings, if there are enough."""
        ring = (DEPTH - 1) * self.load.queues
        count, wanted = min(ring, self.load.keys), self._lab.scale.seconds
        while (seconds := self.seconds(who, count)) < wanted / 4 and count < self.load.keys:
            count = min(4 * count, self.load.keys)
        rings = round(count * wanted / seconds / ring)
        return min(max(rings, 1) * ring, self.load.keys)


def null_load(lab: Lab, queues: int, keys: int | None = None) -> Load:
    """Return a load for a controller that moves no data."""
    return Load(queues, keys or lab.scale.keys * queues, abi.PAGE_BYTES, apart=False)


def full_load(lab: Lab, queues: int, size: int, keys: int | None = None) -> Load:
    """Return a load of values, as many as the scale allows: one a queue at least."""
    most = max(min(lab.scale.keys * queues, lab.scale.bytes // size), queues)
    return Load(queues, keys or most, size)
