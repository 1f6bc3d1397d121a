"""What the runtime needs of a controller, whoever it is: limits and queue pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from xiokv.runtime.arguments import number
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.memory_mode import HOST_MEMORY, MemoryMode


@dataclass(frozen=True, slots=True)
class Limits:
    """What a controller and one of its namespaces allow.

    Attributes:
        key_max: longest key in bytes: the smaller of 16 and the active format's limit.
        value_max: largest value in bytes.
        transfer_max: largest transfer of one command in bytes (MDTS); 0 for no limit.
        entries_max: largest queue depth (MQES + 1).
        queues_max: most I/O queue pairs.
        page_bytes: PRP page size in force (CC.MPS).
    """

    key_max: int
    value_max: int
    transfer_max: int
    entries_max: int
    queues_max: int
    page_bytes: int


@dataclass(frozen=True, slots=True)
class Rings:
    """Rings for a new queue pair: IOVAs of zeroed, page-aligned memory, and depths.

    Attributes:
        memory_mode: which of them lie in a GPU, and whether the doorbells are wanted there.
    """

    sq_iova: int
    cq_iova: int
    sq_depth: int
    cq_depth: int
    memory_mode: MemoryMode = HOST_MEMORY


@dataclass(frozen=True, slots=True)
class CreatedQueue:
    """A queue pair that the controller has taken up.

    Attributes:
        qid: its number.
        sq_doorbell: where the driver's device reaches the SQ tail doorbell.
        cq_doorbell: where it reaches the CQ head doorbell.
    """

    qid: int
    sq_doorbell: int
    cq_doorbell: int


class Controller(Protocol):
    """A controller that the runtime can attach to; some are `Patient` as well."""

    def connect(self, driver: Driver) -> None:
        """Let the driver's device reach the doorbells, and reach that device's memory.

        It comes before each new queue of that driver; what is done already is not done again.
        """

    def limits(self, nsid: int) -> Limits:
        """Return the limits for a namespace; refuse one that is not key-value."""

    def create_queue(self, rings: Rings) -> CreatedQueue:
        """Create a queue pair on free numbers."""

    def delete_queue(self, qid: int) -> None:
        """Delete a queue pair; on return the controller touches none of its memory."""


@runtime_checkable
class Patient(Protocol):
    """What a controller is, too, that ends commands itself where what is behind it is silent."""

    @property
    def patience(self) -> float:
        """Seconds after which it ends a command; 0 for never."""


def patience_of(controller: Controller) -> float:
    """Return the seconds after which a controller ends a command itself; 0 for never.

    Raises:
        ArgumentFault: its ``patience`` is no time.
    """
    if not isinstance(controller, Patient):
        return 0.0
    patience = number("the controller's patience", controller.patience)
    if not 0 <= patience < math.inf:
        raise ArgumentFault(
            f"the controller's patience is {patience}; allowed are seconds, and 0 for never"
        )
    return patience
