"""Which thread gets which core: the cores of this process in; disjoint shares out.

Threads of one physical core share what it does, so the first share of each comes first.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


@dataclass(frozen=True, slots=True)
class Cores:
    """The cores of this process, in the order in which they are given out."""

    all: tuple[int, ...]

    def shares(self, threads: int, parties: int) -> list[tuple[int, ...]]:
        """Return cores for `threads` threads of each party, none of them anybody else's.

        One core is left to this process's other threads where there are enough. Every
        share is empty where there are too few.
        """
        spare = 1 if len(self.all) > threads * parties else 0
        free = self.all[spare:]
        if threads * parties > len(free):
            return [()] * parties
        return [free[party * threads : (party + 1) * threads] for party in range(parties)]

    def most(self, parties: int) -> int:
        """Return how many threads of each party can have cores of their own; at least 1.

        One core is left over where there are more than one for each party.
        """
        spare = 1 if len(self.all) > parties else 0
        return max(1, (len(self.all) - spare) // parties)


def own_cores() -> Cores:
    """Return the cores that this process may use."""
    there = sorted(os.sched_getaffinity(0))
    return Cores(tuple(sorted(there, key=lambda cpu: (_rank(cpu, there), cpu))))


def serving(queues: int, target: str) -> tuple[tuple[int, ...], int]:
    """Return the cores of a controller's threads, and how many threads it may have.

    Where there are too few cores for a thread a queue, no thread has one of its own.

    Args:
        queues: queue pairs that are served.
        target: what submits; the host's threads want a core each, too.
    """
    cores, parties = own_cores(), 2 if target == "host" else 1
    mine = cores.shares(queues, parties)[0]
    return mine, len(mine) or min(queues, cores.most(parties))


def _rank(cpu: int, there: Sequence[int]) -> int:
    """Return which thread of its physical core a core is, among those that there are."""
    try:
        text = Path(_SIBLINGS.format(cpu)).read_text(encoding="ascii")
    except OSError:
        return 0
    return [sibling for sibling in _listed(text) if sibling in there].index(cpu)


def _listed(text: str) -> list[int]:
    """Return the numbers of a list such as ``0-1,8``."""
    numbers: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
