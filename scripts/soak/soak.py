"""The soak: batch after batch from a controller that errs, and all counts at the end."""

from __future__ import annotations

import math
import sys
import time
from functools import partial

import numpy as np
from batch import STATUS, Batch, Tally, Wrong
from expected import POISON, SLOT, Expected

from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime import Emulator, Module, Outcome, Place
from xiokv.runtime.emulator import Counters

DUPLICATE_AFTER = 200  # microseconds: most slots have been used again by then
PROBABILITY = 0.001
# Of the queues, one for each of duplicates, unknown CIDs and foreign SQIDs.
REPORTS = ("stale", "unknown", "foreign")
DRAIN_SECONDS = 20.0
# Far outside of what chance does to a count.
SIGMAS = 7


class Soak:
    """A controller that errs, queues on it, and what is in it.

    Attributes:
        tally: what was seen.
        expected: what has to come back.
        outs: where batches put values, in turns.
    """

    def __init__(
        self,
        module: Module,
        controller: Emulator,
        *,
        queues: int,
        depth: int,
        keys: int,
        seed: int,
    ) -> None:
        """Attach, and store the values."""
        self.tally = Tally()
        self._begun = 0.0
        self._controller = controller
        self._random = np.random.default_rng(seed)
        self.expected = Expected(keys, seed)
        self._kv = module.attach(
            controller, queues=queues, depth=depth, block_size=SLOT, timeout=30.0
        )
        self._stream = module.stream()
        self.outs = [module.empty(keys * SLOT, place=Place.HOST) for _ in range(2)]
        for out in self.outs:
            out.view[:] = POISON
        self._store(module)

    def _store(self, module: Module) -> None:
        expected = self.expected
        values = module.empty(expected.values.nbytes, place=Place.HOST)
        values.view[:] = expected.values.reshape(-1)
        there = np.flatnonzero(expected.stored)
        self._kv.store(
            expected.keys[there], values, sizes=expected.lengths[there], offsets=there * SLOT
        ).raise_for_status()

    def run(self, commands: int) -> None:
        """Retrieve at least so many values, check them, and compare all counts.

        Raises:
            Wrong: something is not as expected.
        """
        before = self._controller.counters()
        self._begun = time.perf_counter()
        self._err()
        self._retrieve(math.ceil(commands / self.expected.count))
        self._check_chance()
        self._controller.clear_faults()
        self._check_reports(before)
        self.tally.seconds = time.perf_counter() - self._begun
        sent = self._controller.counters().bytes_out - before.bytes_out
        if sent != self.tally.landed:
            raise Wrong(f"{self.tally.landed} bytes landed, and the controller sent {sent}")

    def _retrieve(self, batches: int) -> None:
        """Check one batch while the next one runs."""
        shown = self._begun
        running = self._launch(0)
        for number in range(1, batches + 1):
            ended = running
            if number < batches:
                running = self._launch(number)
            ended.check(self.tally)
            now = time.perf_counter()
            self.tally.seconds = now - self._begun
            if now - shown > 1:
                shown = now
                print(self._so_far(), file=sys.stderr, flush=True)

    def summary(self) -> str:
        """Return what was done, in a line."""
        found = {**self.tally.outcomes, **self.tally.reports}
        counts = ", ".join(f"{name} {count:,}" for name, count in found.items())
        return f"all right: {self._so_far()}: {counts}"

    def close(self) -> None:
        """Delete the queues."""
        self._stream.close()
        self._kv.close()

    def _err(self) -> None:
        """Let the controller begin to err."""
        err = partial(self._controller.fault, opcode=Opcode.RETRIEVE, probability=PROBABILITY)
        sct, sc, dnr = STATUS
        self._controller.fault("reorder", amount=32)
        err("duplicate", amount=DUPLICATE_AFTER)
        err("unknown_cid")
        err("foreign_sqid")
        err("status", sct=sct, sc=sc, dnr=bool(dnr))

    def _launch(self, number: int) -> Batch:
        begin = int(self._random.integers(self.expected.count))
        return Batch(self._kv, self.expected, self.outs[number % 2], begin, self._stream)

    def _so_far(self) -> str:
        commands, seconds = self.tally.commands, self.tally.seconds
        return f"{commands:,} commands in {seconds:.1f} s, {commands / seconds / 1e6:.2f} M/s"

    def _reported(self) -> dict[str, int]:
        return {name: sum(q.report[name] for q in self._kv.queues) for name in REPORTS}

    def _check_reports(self, before: Counters) -> None:
        """Compare what was not believed with what came unasked, all of which is read first."""
        end = time.monotonic() + DRAIN_SECONDS
        while True:
            self._launch(0).check(self.tally)
            now = self._controller.counters()
            unasked = now.completions - before.completions - (now.commands - before.commands)
            self.tally.reports = self._reported()
            if sum(self.tally.reports.values()) == unasked:
                return
            if time.monotonic() > end:
                raise Wrong(
                    f"{unasked} completions came that belong to no command, and the queues"
                    f" report {self.tally.reports}"
                )

    def _check_chance(self) -> None:
        """Compare how often each kind of fault was seen with how often it was asked for."""
        mean = PROBABILITY * self.tally.commands
        spread = SIGMAS * math.sqrt(mean) + 2
        failed = self.tally.outcomes.get(Outcome.ERROR.name, 0)
        for name, seen in {Outcome.ERROR.name: failed, **self._reported()}.items():
            if abs(seen - mean) > spread:
                raise Wrong(f"{name}: {seen} seen, {mean:.0f} expected, give or take {spread:.0f}")
