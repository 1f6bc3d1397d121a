"""Run the scenarios: a controller, queues on it and a plan in; a row for each case out.

A case is one size in one scenario. It goes in rounds, so that memory is bounded however
many blocks there are: a round holds its values, the buffer they come back to and what that
has to look like, and the controller holds the values once more. Rounds write the same keys
over and over, so that a value which is left from an earlier one shows itself by its version.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from xiokv.runtime.abi import Outcome
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.kv import KV
from xiokv.runtime.leftovers import delete_until
from xiokv.runtime.module import Module
from xiokv.runtime.results import Result
from xiokv.runtime.verify.blocks import Blocks, key_of, round_max
from xiokv.runtime.verify.compare import (
    Mismatch,
    Wrong,
    check_bytes,
    check_outcomes,
    check_retrieved,
)
from xiokv.runtime.verify.scenarios import FAULTY, HEALTHY, Fate, Scenario
from xiokv.runtime.verify.slots import Slots

DEFAULT_COUNT = 256

_NOT_BELIEVED = ("stale", "unknown", "foreign", "oversize")
_HEALTHY_FATE = Fate()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be verified.

    Attributes:
        sizes: value sizes in bytes.
        count: blocks of each size in each scenario; None: 256, or what one round holds.
        faults: whether faults are injected, too.
        seed: of the stamps and of everything that is drawn.
    """

    sizes: Sequence[int]
    count: int | None = None
    faults: bool = True
    seed: int = 1

    def blocks_of(self, size: int) -> int:
        """Return the number of blocks of a size in each scenario."""
        return self.count or min(DEFAULT_COUNT, round_max(size))

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """What is done to the blocks of each size."""
        return HEALTHY + FAULTY if self.faults else HEALTHY


@dataclass(slots=True)
class Transfer:
    """Bytes that were moved, and the time that the calls took."""

    bytes: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """MB/s; 0 where nothing was moved."""
        return self.bytes / self.seconds / 1e6 if self.bytes else 0.0


@dataclass(slots=True)
class Row:
    """What became of one case.

    Attributes:
        size: value size in bytes.
        case: name of the scenario.
        blocks: blocks that were stored and retrieved, or meant to be missing.
        outcomes: number of blocks by the outcome of their Retrieve.
        again: blocks that were retrieved once more, on queues that replaced dead ones.
        not_believed: completions that the engine did not believe.
        verified_blocks: values of which every byte was compared.
        verified_bytes: bytes of these.
        stored: transfer by Store.
        retrieved: transfer by Retrieve.
        wrong: the first thing that is wrong, or None.
    """

    size: int
    case: str
    blocks: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    again: int = 0
    not_believed: int = 0
    verified_blocks: int = 0
    verified_bytes: int = 0
    stored: Transfer = field(default_factory=Transfer)
    retrieved: Transfer = field(default_factory=Transfer)
    wrong: Wrong | None = None


class Verifier:
    """Verifies a module and its engine against an embedded controller.

    Args:
        module: whose driver the memory is from.
        controller: where faults are injected.
        kv: attached to it by the module.
        plan: what to verify.

    Attributes:
        left: how many values may be stored, at most.
    """

    def __init__(self, module: Module, controller: Emulator, kv: KV, plan: Plan) -> None:
        self._driver = module.driver
        self._controller = controller
        self._kv = kv
        self._plan = plan
        self._random = np.random.default_rng(plan.seed)
        self._version = 0
        self.left = 0

    def rows(self) -> Iterator[Row]:
        """Run case after case; end with the first that is wrong."""
        for size in self._plan.sizes:
            for scenario in self._plan.scenarios:
                row = self.case(size, scenario)
                yield row
                if row.wrong:
                    return
            self._forget(size)

    def clear(self, until: float) -> None:
        """Delete what is stored, on new queues and without faults: see `leftovers.Stored`."""
        self._controller.clear_faults()
        self._kv.reset()
        keys = [key_of(index) for index in range(self.left)]
        for left in delete_until(self._kv, keys, until):
            self.left = left

    def case(self, size: int, scenario: Scenario) -> Row:
        """Run one case, round after round, until something is wrong."""
        row = Row(size, scenario.name)
        left = self._plan.blocks_of(size)
        try:
            while left:
                count = min(left, round_max(size))
                self._round(row, scenario, count)
                left -= count
        except Mismatch as mismatch:
            row.wrong = mismatch.wrong
        return row

    def _round(self, row: Row, scenario: Scenario, count: int) -> None:
        self._version += 1
        fates = [scenario.fate(index) for index in range(count)]
        blocks = Blocks.stamped(self._driver, row.size, fates, self._version, self._plan.seed)
        try:
            self._remove_those_not_stored(blocks)
            self._inject(scenario, blocks)
            self._store(row, blocks)
            self._retrieve(row, scenario, blocks)
        finally:
            self._controller.clear_faults()
            blocks.memory.free()
        row.blocks += count

    def _forget(self, size: int) -> None:
        """Delete the values of a size, so that the next begins with an empty controller."""
        count = min(self._plan.blocks_of(size), round_max(size))
        self._kv.delete([key_of(index) for index in range(count)]).raise_for_status()
        self.left = 0

    def _remove_those_not_stored(self, blocks: Blocks) -> None:
        pairs = zip(blocks.keys, blocks.fates, strict=True)
        keys = [key for key, fate in pairs if fate.stored is not Outcome.OK]
        self._kv.delete(keys).raise_for_status()

    def _inject(self, scenario: Scenario, blocks: Blocks) -> None:
        for fault in scenario.faults:
            self._controller.fault(**fault)
        for key, fate in zip(blocks.keys, blocks.fates, strict=True):
            for fault in fate.faults:
                self._controller.fault(key=key, **fault)

    def _store(self, row: Row, blocks: Blocks) -> None:
        chosen = blocks.stored()
        self.left = max(self.left, len(blocks.keys))
        result = _timed(
            row.stored,
            lambda: self._kv.store(
                chosen.keys, chosen.memory.view, sizes=chosen.size, offsets=chosen.offsets
            ),
        )
        allowed = ((fate.stored or Outcome.OK,) for fate in chosen.fates)
        check_outcomes(result, chosen.keys, allowed)
        row.stored.bytes += chosen.size * int((result.status == Outcome.OK).sum())

    def _retrieve(self, row: Row, scenario: Scenario, blocks: Blocks) -> None:
        with self._slots(blocks) as slots:
            result = self._fill(row, blocks, slots, scenario.deadline)
            _count_outcomes(row, result)
            check_retrieved(result, blocks, slots)
            _count_verified(row, result, slots)
            if scenario.deadline is not None:
                self._recover(row, blocks)
                # Nothing was written late, whatever was still on its way.
                check_bytes(result, blocks, slots)

    def _recover(self, row: Row, blocks: Blocks) -> None:
        """Replace dead queues, then retrieve everything without a fault."""
        self._kv.reset()
        self._controller.clear_faults()
        healthy = replace(blocks, fates=[_HEALTHY_FATE] * len(blocks.keys))
        with self._slots(healthy) as slots:
            result = self._fill(row, healthy, slots, None)
            check_retrieved(result, healthy, slots)
            _count_verified(row, result, slots)
            row.again += len(result)

    def _slots(self, blocks: Blocks) -> Slots:
        most = self._kv.limits.value_max
        sizes = [min(fate.slot(blocks.size), most) for fate in blocks.fates]
        return Slots(self._driver, sizes, self._random)

    def _fill(self, row: Row, blocks: Blocks, slots: Slots, deadline: float | None) -> Result:
        """Retrieve all blocks into their slots."""
        before = self._disbelieved()
        result = _timed(
            row.retrieved,
            lambda: self._kv.retrieve(
                blocks.keys, slots.out, sizes=slots.sizes, offsets=slots.starts, timeout=deadline
            ),
        )
        row.not_believed += self._disbelieved() - before
        return result

    def _disbelieved(self) -> int:
        return sum(pair.report[name] for pair in self._kv.queues for name in _NOT_BELIEVED)


def _timed(transfer: Transfer, call: Callable[[], Result]) -> Result:
    started = time.perf_counter()
    result = call()
    transfer.seconds += time.perf_counter() - started
    return result


def _count_outcomes(row: Row, result: Result) -> None:
    for outcome, number in result.counts.items():
        row.outcomes[outcome.name] = row.outcomes.get(outcome.name, 0) + number


def _count_verified(row: Row, result: Result, slots: Slots) -> None:
    whole = np.isin(result.status, (Outcome.OK, Outcome.TRUNCATED))
    moved = int(np.minimum(slots.sizes, row.size)[whole].sum())
    row.verified_blocks += int(whole.sum())
    row.verified_bytes += moved
    row.retrieved.bytes += moved
