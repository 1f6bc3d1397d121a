"""Who owns which queue in this process, by the addresses of ring and doorbell."""

from __future__ import annotations

import threading

from xiokv.runtime import abi
from xiokv.runtime.errors import ArgumentFault


class QueueOwners:
    """The owners of queues.

    It keeps them alive: the memory of a queue that was never closed may still be written.
    """

    def __init__(self) -> None:
        self._owned: dict[int, object] = {}
        self._lock = threading.Lock()

    def add(self, owner: object, queue: abi.Queue) -> None:
        """Take note of an owner; refuse a second one."""
        places = (queue.sq, queue.sq_doorbell)
        with self._lock:
            if any(place in self._owned for place in places):
                raise ArgumentFault(
                    f"queue {queue.qid} (SQ at {queue.sq:#x}) is owned by another QueuePair of"
                    " this process; release or close that one first"
                )
            self._owned.update(dict.fromkeys(places, owner))

    def remove(self, owner: object) -> None:
        """Forget an owner."""
        with self._lock:
            self._owned = {at: its for at, its in self._owned.items() if its is not owner}


owners = QueueOwners()
