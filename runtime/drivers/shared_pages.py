"""Pages of the host that others may map a second time, and who does: stores send from there."""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from typing import Protocol


class Borrower(Protocol):
    """Who maps pages a second time. Calls come one at a time, from any thread."""

    def lend(self, address: int, size: int) -> None:
        """Take pages, which stay mapped until `take_back`."""

    def take_back(self, address: int) -> None:
        """Let pages go, which are unmapped next; perhaps they were never taken."""


class SharedPages(mmap.mmap):
    """Zeroed pages, of which borrowers are told, and told again before they are unmapped.

    Attributes:
        address: where they are, once they are lent.
    """

    address: int

    def __del__(self) -> None:
        """Take them back, also where an interrupt ends that: Python unmaps them all the same."""
        try:
            _lent.end(self)
        except BaseException:
            self.__del__()
            raise


class _Lent:
    """All pages and all borrowers.

    One lock for both, which a thread may take again: pages end wherever Python frees them.
    """

    def __init__(self) -> None:
        self._pages: dict[int, weakref.ref[SharedPages]] = {}
        self._borrowers: weakref.WeakSet[Borrower] = weakref.WeakSet()
        self.lock = threading.RLock()

    def begin(self, pages: SharedPages, address: int) -> None:
        with self.lock:
            pages.address = address
            self._pages[address] = weakref.ref(pages)
            for borrower in list(self._borrowers):
                borrower.lend(address, len(pages))

    def end(self, pages: SharedPages) -> None:
        address = getattr(pages, "address", 0)
        with self.lock:
            if address in self._pages:
                for borrower in list(self._borrowers):
                    borrower.take_back(address)
                del self._pages[address]

    def follow(self, borrower: Borrower) -> None:
        with self.lock:
            self._borrowers.add(borrower)
            for address, held in list(self._pages.items()):
                # Held meanwhile, so that they stay.
                if (pages := held()) is not None:
                    borrower.lend(address, len(pages))

    def leave(self, borrower: Borrower) -> None:
        with self.lock:
            self._borrowers.discard(borrower)

    def forget_borrowers(self) -> None:
        """Begin anew in a child of fork, where no thread may hold the lock, and none borrows."""
        self.lock = threading.RLock()
        self._borrowers = weakref.WeakSet()


_lent = _Lent()
os.register_at_fork(after_in_child=_lent.forget_borrowers)

#: Let borrowers have pages at an address, until they are unmapped.
begin = _lent.begin
#: Tell a borrower of all pages, those to come included, as long as it is there.
follow = _lent.follow
#: Tell a borrower of no more; when this returns, no call to it is under way.
leave = _lent.leave
