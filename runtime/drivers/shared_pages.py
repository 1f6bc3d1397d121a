"""Pages of the host that others may map a second time, and who does: stores send from there."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
import weakref
from typing import Protocol

Pages = ctypes.Array[ctypes.c_ubyte]


class Borrower(Protocol):
    """Who maps pages a second time. Calls come one at a time, from any thread."""

    def lend(self, address: int, size: int) -> None:
        """Take pages, which stay mapped until `take_back`."""

    def take_back(self, address: int) -> None:
        """Let pages go, which are unmapped next; perhaps they were never taken."""


class _Lent:
    """All pages and all borrowers.

    One lock for both, which a thread may take again: pages end wherever Python frees them.
    """

    def __init__(self) -> None:
        self._pages: dict[int, weakref.ref[Pages]] = {}
        self._borrowers: weakref.WeakSet[Borrower] = weakref.WeakSet()
        self.lock = threading.RLock()

    def begin(self, pages: Pages) -> int:
        address = ctypes.addressof(pages)
        with self.lock:
            self._pages[address] = weakref.ref(pages)
            for borrower in list(self._borrowers):
                borrower.lend(address, len(pages))
        return address

    def end(self, address: int, mapping: mmap.mmap) -> None:
        with self.lock:
            self._pages.pop(address, None)
            for borrower in list(self._borrowers):
                borrower.take_back(address)
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(mapping))

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

#: Tell a borrower of all pages, those to come included, as long as it is there.
follow = _lent.follow
#: Tell a borrower of no more; when this returns, no call to it is under way.
leave = _lent.leave


def mapped(size: int) -> Pages:
    """Return zeroed pages for borrowers, who are told again before these are unmapped.

    Raises:
        OSError, OverflowError, ValueError: there is no room for them, as mmap says.
    """
    mapping = mmap.mmap(-1, size, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    pages = (ctypes.c_ubyte * size).from_buffer(mapping)
    # Where an interrupt keeps borrowers from being told, the pages stay.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(mapping))
    weakref.finalize(pages, _lent.end, _lent.begin(pages), mapping).atexit = False
    return pages
