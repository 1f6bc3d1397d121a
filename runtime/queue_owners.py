"""Who owns which queue in this process, by the addresses of ring and doorbell."""

from __future__ import annotations

import threading
from weakref import WeakValueDictionary

from xiokv.runtime import abi
from xiokv.runtime.errors import ArgumentFault


class QueueOwners:
    """The owners of queues, each as long as somebody holds it.

    One that nobody holds can do nothing with its queue any more, and owns it no longer.
    """

    def __init__(self) -> None:
        self._owned: WeakValueDictionary[int, object] = WeakValueDictionary()
        self._kept: set[object] = set()
        self._lock = threading.Lock()

    def put(self, owner: object, queue: abi.Queue) -> None:
        """Take note of the owner of a new queue: whoever had its place before lost it."""
        with self._lock:
            self._owned.update(dict.fromkeys(_places(queue), owner))

    def add(self, owner: object, queue: abi.Queue) -> None:
        """Take note of an owner; refuse a second one."""
        places = _places(queue)
        with self._lock:
            if any(place in self._owned for place in places):
                raise ArgumentFault(
                    f"queue {queue.qid} (SQ at {queue.sq:#x}) is owned by another QueuePair of"
                    " this process; release or close that one first"
                )
            self._owned.update(dict.fromkeys(places, owner))

    def keep(self, owner: object) -> None:
        """Hold an owner until it is removed: what it holds may still be written."""
        self._kept.add(owner)

    def remove(self, owner: object) -> None:
        """Forget an owner."""
        with self._lock:
            for place in [at for at, its in self._owned.items() if its is owner]:
                del self._owned[place]
        self._kept.discard(owner)


def _places(queue: abi.Queue) -> tuple[int, int]:
    return queue.sq, queue.sq_doorbell


owners = QueueOwners()
