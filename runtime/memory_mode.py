"""Which parts of a queue lie in the memory of a GPU, as rocm-xio counts its memory modes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import Any

from xiokv.runtime.arguments import integer
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import ArgumentFault


class MemoryMode(IntFlag):
    """A bit that is set stands for memory of the GPU, else it is the host's.

    Where a driver has no memory of a device, all is on the host.
    """

    #: The submission ring.
    SQ = 1
    #: The completion ring.
    CQ = 2
    #: The doorbells, where the controller can have them there.
    DOORBELL = 4
    #: Memory for values that the runtime itself allocates: copies, and pages of keys.
    DATA = 8

    def place(self, part: MemoryMode) -> Place:
        """Return where a part lies."""
        return Place.DEVICE if self & part else Place.HOST


HOST_MEMORY = MemoryMode(0)
ALL = MemoryMode.SQ | MemoryMode.CQ | MemoryMode.DOORBELL | MemoryMode.DATA


def memory_modes(given: Any, queues: int) -> tuple[MemoryMode, ...]:
    """Return a mode a queue from one for all, or from as many as there are queues.

    Raises:
        ArgumentFault: there are more or fewer, or one has another bit.
    """
    several = isinstance(given, Sequence)
    modes = [integer("memory_mode", mode) for mode in (given if several else [given] * queues)]
    if len(modes) != queues:
        raise ArgumentFault(f"memory_mode names {len(modes)} modes; {queues} queues need one each")
    for mode in modes:
        if not 0 <= mode <= ALL:
            raise ArgumentFault(
                f"memory_mode {mode}: 0 to {int(ALL)} is allowed, the sum of SQ 1, CQ 2,"
                " DOORBELL 4 and DATA 8"
            )
    return tuple(map(MemoryMode, modes))
