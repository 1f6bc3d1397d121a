"""One batch of the soak: launched, and compared with what was expected."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from expected import POISON, SLOT, Expected, words

from xiokv.runtime import KV, Buffer, Outcome, Result
from xiokv.runtime.results import NVME_STATUS

STATUS = (0, 0x88, 1)  # SCT, SC, DNR of injected errors


class Wrong(Exception):
    """Something was not as it has to be; the message says what."""


@dataclass
class Tally:
    """What was seen.

    Attributes:
        outcomes: keys of each outcome.
        reports: completions that belong to no command, as the queues count them.
        landed: bytes of values.
        seconds: from the first launch to the last check.
        checking_seconds: of one thread, beside the batches.
    """

    commands: int = 0
    batches: int = 0
    landed: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    reports: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    checking_seconds: float = 0.0


class Batch:
    """A batch that runs: all keys, from one on."""

    def __init__(self, kv: KV, expected: Expected, out: Buffer, begin: int, stream: Any) -> None:
        """Launch it."""
        self._expected, self._out = expected, out
        self._asked = slice(begin, begin + expected.count)
        self._result: Result = kv.retrieve(
            expected.keys[self._asked], out, sizes=expected.sizes[self._asked], stream=stream
        )

    def check(self, tally: Tally) -> None:
        """Wait for its end, compare all of it, and fill the buffer with poison again.

        Raises:
            Wrong: something is not as expected.
        """
        self._result.wait()
        begin = time.perf_counter()
        expected, asked, result = self._expected, self._asked, self._result
        failed = result.status == Outcome.ERROR
        wrong = (result.status != expected.outcomes[asked]) & ~failed
        wrong |= result.value_size != np.where(failed, 0, expected.value_sizes[asked])
        slots = words(self._out.view)
        wrong |= (slots != expected.slots[asked]).any(axis=1) & ~failed
        wrong[failed] |= (self._out.view.reshape(-1, SLOT)[failed] != POISON).any(axis=1)
        wrong |= failed & (result.nvme_status != np.array(STATUS, NVME_STATUS))
        if wrong.any():
            raise Wrong(self._describe(np.flatnonzero(wrong)))
        self._out.view[:] = POISON
        self._count(tally, failed)
        tally.checking_seconds += time.perf_counter() - begin

    def _count(self, tally: Tally, failed: npt.NDArray[np.bool_]) -> None:
        tally.batches += 1
        tally.commands += len(self._result)
        tally.landed += int(self._expected.landed[self._asked][~failed].sum())
        for outcome, count in self._result.counts.items():
            tally.outcomes[outcome.name] = tally.outcomes.get(outcome.name, 0) + count

    def _describe(self, wrong: npt.NDArray[np.intp]) -> str:
        """Say what is wrong with how many keys, and show one of them."""
        at = int(wrong[0])
        key = self._asked.start + at
        result, expected = self._result, self._expected
        status, length = Outcome(int(result.status[at])).name, int(result.value_size[at])
        return (
            f"{wrong.size} of {len(result)} keys are wrong; the first is entry {at}, key"
            f" {key % expected.count}:\n"
            f"  seen:     {status}, {length} bytes, {result.nvme_status[at]},"
            f" {self._out.view[at * SLOT : (at + 1) * SLOT].tobytes().hex()}\n"
            f"  expected: {Outcome(int(expected.outcomes[key])).name},"
            f" {expected.value_sizes[key]} bytes, {expected.slots[key].tobytes().hex()}"
        )
