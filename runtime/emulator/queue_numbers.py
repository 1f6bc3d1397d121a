"""Which queue pairs are taken, so that a late delete never hits a newer queue."""

from __future__ import annotations

from xiokv.runtime.errors import ArgumentFault


class QueueNumbers:
    """The numbers of queue pairs: free, taken, or lost to a reset.

    A number whose queue was lost to a reset still has an owner who will delete it; it is
    given out again only where no other is left.
    """

    def __init__(self, most: int) -> None:
        """Start with the numbers 1 to `most` free."""
        self._most = most
        self._taken: set[int] = set()
        self._lost: set[int] = set()

    def next_free(self) -> int:
        """Return the number that the next queue pair is to have."""
        numbers = [qid for qid in range(1, self._most + 1) if qid not in self._taken]
        if not numbers:
            raise ArgumentFault(f"all {self._most} queue pairs are taken")
        return min(numbers, key=lambda qid: (qid in self._lost, qid))

    def take(self, qid: int) -> None:
        """Note that a queue pair was created."""
        self._lost.discard(qid)
        self._taken.add(qid)

    def give_up(self, qid: int) -> bool:
        """Note that the owner is done; return whether there is a queue pair to delete."""
        if qid in self._lost:
            self._lost.remove(qid)
            return False
        if qid not in self._taken:
            raise ArgumentFault(f"no queue pair {qid}: it was deleted, or never created")
        self._taken.remove(qid)
        return True

    def lose_all(self) -> None:
        """Note a reset."""
        self._lost |= self._taken
        self._taken.clear()
