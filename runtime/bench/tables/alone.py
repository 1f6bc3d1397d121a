"""The host's work alone: a ring whose completions are there before the batch begins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xiokv.runtime.bench import cpu
from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import CLIENT, ENGINE
from xiokv.runtime.bench.rows import Row, compared, take_turns
from xiokv.runtime.operation import Operation

_COMMANDS = 60_000
_ROUNDS_A_SAMPLE = 5
_NANOSECONDS = 1e9


def measure(lab: Lab) -> Iterator[Row]:
    """Yield nanoseconds of processor time a command."""
    lab.say("commands that are answered already")
    engine = cpu.function(lab.module.path, lab.module.kernel(Operation.RETRIEVE))
    cases = {
        CLIENT: partial(_nanoseconds, cpu.client(Operation.RETRIEVE), False),
        ENGINE: partial(_nanoseconds, engine, True),
    }
    yield from compared(
        Row("alone", "a command", "", who, "ns", tuple(taken))
        for who, taken in take_turns(cases, lab.scale.samples).items()
    )


def _nanoseconds(kernel: int, believes: bool) -> float:
    return min(
        cpu.answered(kernel, _COMMANDS, believes=believes) / _COMMANDS * _NANOSECONDS
        for _ in range(_ROUNDS_A_SAMPLE)
    )
