"""Who maps pages of the host a second time is told of them, and told before they go."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path

import pytest

from xiokv.runtime.drivers import shared_pages
from xiokv.runtime.drivers.host_memory import HostMemory

from .forking import in_child

SIZE = 1 << 20


def is_mapped(address: int) -> bool:
    """Return whether there is memory at an address."""
    ranges = [line.split()[0] for line in Path("/proc/self/maps").read_text().splitlines()]
    bounds = [[int(end, 16) for end in one.split("-")] for one in ranges]
    return any(begin <= address < end for begin, end in bounds)


class Borrower:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.has: dict[int, int] = {}
        self.had: list[int] = []

    def lend(self, address: int, size: int) -> None:
        """Take note of pages that are there."""
        assert is_mapped(address)
        self.has[address] = size

    def take_back(self, address: int) -> None:
        """Take note of pages that are still there."""
        assert is_mapped(address)
        self.had.append(address)
        self.has.pop(address, None)


def test_a_borrower_is_told_of_pages_that_are_there_and_of_those_that_come() -> None:
    early, borrower = HostMemory(SIZE, shared=True), Borrower()
    shared_pages.follow(borrower)
    late = HostMemory(SIZE + 1, shared=True)
    assert borrower.has[early.address] == SIZE
    assert borrower.has[late.address] == SIZE + 1
    early.free()
    late.free()


def test_private_memory_is_nobodys_business() -> None:
    borrower = Borrower()
    shared_pages.follow(borrower)
    memory = HostMemory(SIZE)
    assert memory.address not in borrower.has
    memory.free()
    assert borrower.had == []


def test_it_is_told_before_pages_go_and_not_while_they_are_looked_at() -> None:
    borrower, memory = Borrower(), HostMemory(SIZE, shared=True)
    shared_pages.follow(borrower)
    address, view = memory.address, memory.view
    memory.free()
    assert borrower.had == []
    del view
    assert borrower.had == [address]
    assert address not in borrower.has
    assert not is_mapped(address)


def test_pages_stay_where_an_interrupt_keeps_a_borrower_from_being_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would take whatever comes to that address next for these pages."""

    class Interrupted(Borrower):
        def take_back(self, address: int) -> None:
            raise KeyboardInterrupt

    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: told.append(what.exc_type))
    borrower, memory = Interrupted(), HostMemory(SIZE, shared=True)
    shared_pages.follow(borrower)
    address = memory.address
    memory.free()
    assert told == [KeyboardInterrupt]
    assert is_mapped(address)
    shared_pages.leave(borrower)


def test_memory_that_was_not_freed_is_never_taken_back() -> None:
    borrower, memory = Borrower(), HostMemory(SIZE, shared=True)
    shared_pages.follow(borrower)
    address = memory.address
    del memory
    gc.collect()
    assert borrower.has[address] == SIZE


def test_who_has_left_or_is_gone_is_told_nothing() -> None:
    left, gone = Borrower(), Borrower()
    shared_pages.follow(left)
    shared_pages.follow(gone)
    shared_pages.leave(left)
    before, _ = dict(left.has), gone
    del gone, _
    gc.collect()
    memory = HostMemory(SIZE, shared=True)
    address = memory.address
    assert left.has == before
    memory.free()
    assert address not in left.had


def test_pages_may_go_while_a_borrower_is_told_of_others() -> None:
    """Python frees wherever it likes."""

    class Freeing(Borrower):
        def lend(self, address: int, size: int) -> None:
            super().lend(address, size)
            if doomed:
                doomed.pop().free()

    doomed = [HostMemory(SIZE, shared=True) for _ in range(4)]
    addresses = [memory.address for memory in doomed]
    borrower = Freeing()
    shared_pages.follow(borrower)
    left = [memory.address for memory in doomed]
    assert len(left) < len(addresses)
    assert set(addresses) & set(borrower.has) == set(left)
    for memory in doomed:
        memory.free()


def test_a_child_of_fork_has_the_same_pages_and_no_borrower() -> None:
    borrower, memory = Borrower(), HostMemory(SIZE, shared=True)
    shared_pages.follow(borrower)

    def in_the_child() -> str:
        memory.view[0] = 7
        memory.free()
        HostMemory(SIZE, shared=True).free()
        return f"{borrower.had}"

    held, may_end = threading.Event(), threading.Event()

    def hold() -> None:  # as a thread that the child does not have
        with shared_pages._lent.lock:
            held.set()
            may_end.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        assert in_child(in_the_child) == "[]"
    finally:
        may_end.set()
        thread.join()
    assert memory.view[0] == 7
    memory.free()
