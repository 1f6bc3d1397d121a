"""What is done to blocks on purpose, and what has to come of each.

A scenario gives each block a fate. The fate says which faults are aimed at the block's key
and which outcomes its commands may then have, so that even where a controller misbehaves
an outcome is known, or is one of a few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xiokv.generated.nvme_kv import Opcode, Status
from xiokv.runtime.abi import Outcome

FaultOptions = Mapping[str, Any]

# Blocks after which the fates of a scenario begin again; those left over are healthy.
_PERIOD = 8
# More than it takes to let a queue die: the controller would wait so many microseconds.
_HOUR = 3_600_000_000
_EXTRA = 36


def _whole(size: int) -> int:
    return size


def _half(size: int) -> int:
    return size // 2


def _roomy(size: int) -> int:
    return size + _EXTRA


@dataclass(frozen=True, slots=True)
class Fate:
    """What is done to one block, and what may come of it.

    Attributes:
        stored: the outcome of its Store; None where its key is deleted and not stored.
        retrieved: the outcomes that its Retrieve may have. OK stands for TRUNCATED too
            where the slot is smaller than the value.
        slot: the bytes of its slot, for those of its value.
        may_write: whether its data may arrive although its outcome says otherwise.
        faults: options of `Emulator.fault`, to which its key is added.
    """

    stored: Outcome | None = Outcome.OK
    retrieved: tuple[Outcome, ...] = (Outcome.OK,)
    slot: Callable[[int], int] = _whole
    may_write: bool = False
    faults: tuple[FaultOptions, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way of storing and retrieving a set of blocks.

    Attributes:
        name: as the table has it.
        special: fates of the first blocks of every eight.
        usual: fate of the others.
        faults: options of `Emulator.fault` for every command.
        deadline: seconds after which a Retrieve is given up; the queues are then replaced
            and everything is retrieved once more. None: nothing is given up.
    """

    name: str
    special: tuple[Fate, ...] = ()
    usual: Fate = Fate()
    faults: tuple[FaultOptions, ...] = ()
    deadline: float | None = None

    def fate(self, index: int) -> Fate:
        """Return the fate of a block."""
        at = index % _PERIOD
        return self.special[at] if at < len(self.special) else self.usual


def _at_retrieve(kind: str, **options: Any) -> tuple[FaultOptions, ...]:
    return ({"kind": kind, "opcode": Opcode.RETRIEVE, **options},)


def _at_store(kind: str, **options: Any) -> tuple[FaultOptions, ...]:
    return ({"kind": kind, "opcode": Opcode.STORE, **options},)


_MISSING = (Outcome.MISSING,)
_ERROR = (Outcome.ERROR,)
_TIMEOUT = (Outcome.TIMEOUT,)

#: Scenarios in which the controller does what it should.
HEALTHY = (
    Scenario("plain"),
    Scenario(
        "edges",
        special=(
            Fate(slot=_half),
            Fate(stored=None, retrieved=_MISSING),
            Fate(slot=_roomy),
        ),
    ),
)

#: Scenarios in which it does not.
FAULTY = (
    Scenario(
        "disorder",
        faults=(
            {"kind": "reorder", "amount": 32},
            {"kind": "delay", "probability": 0.02, "amount": 200},
            {"kind": "duplicate", "probability": 0.05},
            {"kind": "duplicate", "probability": 0.05, "amount": 100},
            {"kind": "unknown_cid", "probability": 0.05},
            {"kind": "foreign_sqid", "probability": 0.05},
        ),
    ),
    Scenario(
        "errors",
        special=(
            Fate(retrieved=_ERROR, faults=_at_retrieve("status", sc=Status.UNRECOVERED_ERROR)),
            Fate(
                retrieved=_MISSING,
                faults=_at_retrieve("status", sct=1, sc=Status.KEY_DOES_NOT_EXIST, dnr=True),
            ),
            Fate(
                stored=Outcome.ERROR,
                retrieved=_MISSING,
                faults=_at_store("status", sc=Status.CAPACITY_EXCEEDED),
            ),
            Fate(retrieved=_ERROR, may_write=True, faults=_at_retrieve("bad_size")),
        ),
    ),
    Scenario(
        "timeouts",
        special=(
            # Late: what has not begun when the queue is deleted is never carried out.
            Fate(retrieved=_TIMEOUT, faults=_at_retrieve("delay", amount=_HOUR)),
            Fate(retrieved=_TIMEOUT, may_write=True, faults=_at_retrieve("drop")),
        ),
        # A queue that dies takes along whatever else it had in flight.
        usual=Fate(retrieved=(Outcome.OK, Outcome.TIMEOUT), may_write=True),
        deadline=0.2,
    ),
)
