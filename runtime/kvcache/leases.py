"""Leases of a storage: who may fetch, and until when."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

import numpy as np

from xiokv.runtime.arguments import seconds as checked_seconds
from xiokv.runtime.kvcache.states import BlockState, States
from xiokv.runtime.kvcache.storage import Donor, Lease, LeasedFault

Clock = Callable[[], float]


class LeaseBook:
    """The leases that one storage object gave; they are known to this process alone.

    Args:
        clock: seconds that only go forward.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._numbers = itertools.count(1)
        self._leases: dict[int, Lease] = {}
        self._lock = threading.Lock()

    def give(self, donor: Donor, seconds: float) -> Lease:
        """Return a new lease."""
        expires = self._clock() + checked_seconds("seconds", seconds)
        lease = Lease(next(self._numbers), donor, expires)
        with self._lock:
            self._forget_ended()
            self._leases[lease.number] = lease
        return lease

    def holds(self, lease: Lease) -> bool:
        """Tell whether a lease was given here and has not ended."""
        with self._lock:
            return self._leases.get(lease.number) is lease and self._clock() < lease.expires

    def counted(self, lease: Lease, states: States) -> States:
        """Return states of which nothing that landed counts where the lease has ended."""
        if self.holds(lease):
            return states
        return np.where(states <= BlockState.LANDED, np.uint8(BlockState.EXPIRED), states)

    def end(self, lease: Lease) -> None:
        """End a lease."""
        with self._lock:
            if self._leases.get(lease.number) is lease:
                del self._leases[lease.number]

    def keys(self) -> set[bytes]:
        """Return the keys of all blocks that are leased."""
        with self._lock:
            self._forget_ended()
            tables = [lease.donor.table for lease in self._leases.values()]
        return {key.tobytes() for table in tables for key in table.keys}

    def check_free(self, donor: str, rank: int) -> None:
        """Refuse to remove a donor that somebody holds.

        Raises:
            LeasedFault: somebody does.
        """
        with self._lock:
            self._forget_ended()
            for lease in self._leases.values():
                manifest = lease.donor.manifest
                if (manifest.donor, manifest.layout.parallel.tp_rank) == (donor, rank):
                    left = lease.expires - self._clock()
                    raise LeasedFault(
                        f"donor {donor!r} is leased for {left:.1f} s more; release the lease, or"
                        " wait"
                    )

    def _forget_ended(self) -> None:
        now = self._clock()
        self._leases = {
            number: lease for number, lease in self._leases.items() if now < lease.expires
        }
