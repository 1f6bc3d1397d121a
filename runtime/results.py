"""What became of each key of a batch: the engine's records in, NumPy arrays out.

A result has as many entries as the batch has keys, always and in their order. One of a
batch that still runs waits when it is asked for what only the end can tell.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from xiokv.generated.nvme_kv import Completion
from xiokv.runtime import statuses
from xiokv.runtime.abi import NO_STATUS, Outcome
from xiokv.runtime.arguments import number
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.keys import Keys
from xiokv.runtime.operation import Operation

#: One record of the engine; abi.Result declares the same for ctypes.
RECORD = np.dtype([("value_size", "<u4"), ("status", "<u2"), ("outcome", "u1"), ("reserved", "u1")])
#: Entries of `Result.nvme_status`; all -1 where no completion was believed.
NVME_STATUS = np.dtype([("sct", "i1"), ("sc", "<i2"), ("dnr", "i1")])

_FAILED = (Outcome.ERROR, Outcome.TIMEOUT, Outcome.CANCELLED)
# What else raises, by command.
_RAISING = {
    Operation.RETRIEVE: (Outcome.MISSING, Outcome.TRUNCATED),
    Operation.EXEC: (Outcome.MISSING, Outcome.TRUNCATED),
    Operation.LIST: (Outcome.MISSING, Outcome.EXISTS),
}
_SHOWN = 5


class BatchFault(RuntimeFault):
    """Keys of a batch failed; `result` says which."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class Source(Protocol):
    """The batch behind a result."""

    @property
    def done(self) -> bool:
        """Tell whether the batch has ended, without waiting."""

    @property
    def memory_in_use(self) -> bool:
        """Tell whether the controller may still touch the batch's memory after the end."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; return `done`."""

    def cancel(self) -> None:
        """Submit no more keys."""

    def records(self) -> npt.NDArray[Any]:
        """Wait for the end and return a `RECORD` a key."""


class Result:
    """Outcome of every key of one batch, in the order of the keys.

    Attributes:
        command: which it was of.
    """

    def __init__(self, command: Operation, keys: Keys, source: Source) -> None:
        self.command = command
        self._keys = keys
        self._source = source

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._keys)

    @property
    def done(self) -> bool:
        """Whether the batch has ended; never waits."""
        return self._source.done

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the batch has ended, or `timeout` seconds; return `done`."""
        return self._source.wait(None if timeout is None else number("timeout", timeout))

    def cancel(self) -> None:
        """Let the batch submit no more keys; those in flight still complete.

        Keys that were never submitted become CANCELLED. The queues stay usable.
        """
        self._source.cancel()

    @cached_property
    def status(self) -> npt.NDArray[np.uint8]:
        """An `Outcome` a key."""
        outcomes = self._records["outcome"]
        return np.where(outcomes == int(Outcome.NONE), np.uint8(Outcome.ERROR), outcomes)

    @cached_property
    def value_size(self) -> npt.NDArray[np.uint32]:
        """Full size of each value that was retrieved, or of an Exec's output, else 0; in bytes."""
        return np.ascontiguousarray(self._records["value_size"])

    @cached_property
    def nvme_status(self) -> npt.NDArray[Any]:
        """What the controller said of each key, as `NVME_STATUS` entries."""
        words = self._records["status"].astype(np.int32)
        status = np.empty(len(self), NVME_STATUS)
        status["sc"], status["sct"], status["dnr"] = words & 0xFF, words >> 8 & 7, words >> 14 & 1
        status[self._unanswered] = (-1, -1, -1)
        return status

    @property
    def counts(self) -> dict[Outcome, int]:
        """Number of keys of each outcome that occurred."""
        outcomes, numbers = np.unique(self.status, return_counts=True)
        return dict(zip(map(Outcome, outcomes.tolist()), numbers.tolist(), strict=True))

    @property
    def buffer_may_be_written(self) -> bool:
        """Whether the controller may still touch the caller's buffer.

        So it is after a TIMEOUT, until the queue is deleted or the controller reset.
        """
        return self._source.memory_in_use

    def raise_for_status(self) -> None:
        """Raise where keys failed.

        ERROR, TIMEOUT and CANCELLED raise, and for Retrieve and Exec MISSING and TRUNCATED.

        Raises:
            BatchFault: keys failed; the message names the first of them.
        """
        failed = self._failed()
        if failed.size:
            raise BatchFault(self._complaint(failed), self)

    @cached_property
    def refusal(self) -> str:
        """What the controller said of the first key with an ERROR, by name, and what to do.

        Empty where there is none.
        """
        said = self._refused
        return statuses.explained(said) if said else ""

    @property
    def refusals(self) -> Counter[str]:
        """How many keys with an ERROR the controller gave each status, by its name."""
        if int(Outcome.ERROR) not in self.status.tobytes():
            return Counter()
        refused = (self.status == Outcome.ERROR) & ~self._unanswered
        words, numbers = np.unique(self._records["status"][refused], return_counts=True)
        found: Counter[str] = Counter()
        for word, count in zip(words.tolist(), numbers.tolist(), strict=True):
            found[statuses.told(statuses.completion(word))] += count
        return found

    @cached_property
    def _refused(self) -> Completion | None:
        """The completion of the first key with an ERROR that the controller spoke of."""
        if int(Outcome.ERROR) not in self.status.tobytes():
            return None
        found = np.flatnonzero((self.status == Outcome.ERROR) & ~self._unanswered)
        return statuses.completion(int(self._records["status"][found[0]])) if found.size else None

    def __repr__(self) -> str:
        """Return the counts, and the first keys that failed."""
        head = f"{self.command} of {len(self)} keys"
        if not self.done:
            return f"<Result: {head}, running>"
        parts = [f"{head}: {self._counted()}", *map(self._describe, self._failed()[:_SHOWN])]
        return f"<Result: {'; '.join(parts)}>"

    @cached_property
    def _records(self) -> npt.NDArray[Any]:
        return self._source.records()

    @property
    def _unanswered(self) -> npt.NDArray[np.bool_]:
        status, outcome = self._records["status"], self._records["outcome"]
        return np.asarray((status == NO_STATUS) | (outcome == Outcome.NONE), np.bool_)

    def _failed(self) -> npt.NDArray[np.intp]:
        raising = (*_FAILED, *_RAISING.get(self.command, ()))
        return np.flatnonzero(np.isin(self.status, raising))

    def _counted(self) -> str:
        return ", ".join(f"{count} {outcome.name}" for outcome, count in self.counts.items())

    def _complaint(self, failed: npt.NDArray[np.intp]) -> str:
        lines = [f"{self.command}: {failed.size} of {len(self)} keys failed ({self._counted()})"]
        lines += [f"  {self._describe(index)}" for index in failed[:_SHOWN]]
        if failed.size > _SHOWN:
            lines.append(f"  and {failed.size - _SHOWN} more")
        if self._refused and (advice := statuses.advice(self._refused)):
            lines.append(f"{self._refused.name}: {advice}")
        if self.buffer_may_be_written:
            lines.append(
                "The controller may still touch the buffer: keep it until KV.reset() or close()"
            )
        return "\n".join(lines)

    def _describe(self, index: int | np.intp) -> str:
        at = int(index)
        outcome = Outcome(int(self.status[at]))
        text = f"key {at} ({self._keys[at].hex()}): {outcome.name}"
        if self._records["outcome"][at] == Outcome.NONE:
            return f"{text}, no kernel got to it"
        if outcome is Outcome.TRUNCATED:
            what = "output" if self.command is Operation.EXEC else "value"
            return f"{text}, its {what} has {self.value_size[at]} bytes"
        if self._unanswered[at]:
            return text
        said = statuses.completion(int(self._records["status"][at]))
        text = f"{text}, {statuses.told(said)}"
        if outcome is Outcome.ERROR and said.sct == said.sc == 0:
            text += " with a size above the namespace's maximum"
        return text
