"""The walk from PRP entries to memory: every shape, and what is not allowed."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

PAGE = 4096
STORE, RETRIEVE = 0x01, 0x02


class Buffer(NamedTuple):
    """A host's buffer: PRP fields, and the runs of bytes that it consists of."""

    data: Any
    prp1: int
    prp2: int
    runs: list[tuple[int, int]]  # offset in `data`, bytes

    def put(self, value: bytes) -> None:
        at = 0
        for offset, length in self.runs:
            self.data.put(offset, value[at : at + length])
            at += length

    def get(self) -> bytes:
        return b"".join(self.data.get(offset, length) for offset, length in self.runs)


def write_lists(memory: Any, first: int, pages: list[int]) -> None:
    """Write a list from byte `first` on; each list page but the last chains to the next."""
    at = first
    for index, page in enumerate(pages):
        if at % PAGE == PAGE - 8 and index + 1 < len(pages):
            memory.put(at, struct.pack("<Q", memory.address + at + 8))
            at += 8
        memory.put(at, struct.pack("<Q", page))
        at += 8


def lay_out(host: Any, size: int, start: int, order: list[int], first: int = 0) -> Buffer:
    """Spread `size` bytes over pages in `order`, from byte `start` of the first.

    A list starts at byte `first` of its page.
    """
    data = host.memory(PAGE * len(order))
    runs, left, begin = [], size, start
    for page in order:
        length = min(left, PAGE - begin)
        runs.append((PAGE * page + begin, length))
        left, begin = left - length, 0
    addresses = [data.address + PAGE * page for page in order]
    prp2 = addresses[1] if len(order) == 2 else 0
    if len(order) > 2:
        lists = host.memory(20 * PAGE)
        host.lists = lists  # alive as long as the host
        write_lists(lists, first, addresses[1:])
        prp2 = lists.address + first
    return Buffer(data, addresses[0] + start, prp2, runs)


def move(host: Any, opcode: int, size: int, prp1: int, prp2: int) -> Any:
    return host.run(host.sqe(opcode, b"k", size, prp1, prp2))


def ordered(pages: int) -> list[int]:
    return list(range(pages))


def shuffled(pages: int) -> list[int]:
    order = ordered(pages)
    random.Random(pages).shuffle(order)
    return order


@pytest.mark.parametrize("arrange", [ordered, shuffled])
@pytest.mark.parametrize(
    ("size", "start", "pages", "first"),
    [
        (1, 0, 1, 0),
        (PAGE, 0, 1, 0),
        (100, PAGE - 100, 1, 0),
        (PAGE + 1, 0, 2, 0),
        (2 * PAGE, 0, 2, 0),
        (PAGE, 4, 2, 0),
        (2 * PAGE + 1, 0, 3, 0),
        (2 * PAGE, PAGE - 4, 3, 0),
        (2 * PAGE, PAGE - 4, 3, PAGE - 16),  # the list ends with its page
        (3 * PAGE, 0, 3, PAGE - 8),  # only a chain pointer fits
        (20 * PAGE - 100, 96, 20, PAGE - 80),
        (513 * PAGE, 0, 513, 0),  # a full list page
        (513 * PAGE + 1, 0, 514, 0),  # one entry more
        (514 * PAGE - 8, 8, 514, 0),
        (514 * PAGE, 0, 514, 2048),
        (1025 * PAGE, 0, 1025, 0),
        (1025 * PAGE - 4, 4, 1025, 8),
        (8192 * PAGE, 4, 8193, 0),  # 32 MiB: 17 list pages
    ],
)
def test_a_value_goes_and_comes_through_any_shape(
    host: Any,
    arrange: Callable[[int], list[int]],
    size: int,
    start: int,
    pages: int,
    first: int,
) -> None:
    buffer = lay_out(host, size, start, arrange(pages), first)
    value = random.Random(size).randbytes(size)
    buffer.put(value)

    assert move(host, STORE, size, buffer.prp1, buffer.prp2).status == 0
    buffer.data.put(0, b"\xee" * len(buffer.data.view))
    assert move(host, RETRIEVE, size, buffer.prp1, buffer.prp2).dw0 == size

    assert buffer.get() == value
    buffer.put(b"\xee" * size)
    assert bytes(buffer.data.view) == b"\xee" * len(buffer.data.view)


@pytest.mark.parametrize(
    ("size", "prp1", "prp2"),
    [
        (10, 2, 0),  # not dword aligned
        (2 * PAGE, 0, 8),  # a second page that does not start at its beginning
        (PAGE, 4, PAGE + 4),
        (3 * PAGE, 0, 4),  # a list that is not qword aligned
    ],
)
def test_a_bad_offset_in_the_command_is_refused(host: Any, size: int, prp1: int, prp2: int) -> None:
    base = host.data.address

    assert move(host, STORE, size, base + prp1, base + prp2).status == 0x13


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_list_entry_is_page_aligned(host: Any, index: int) -> None:
    lists = host.memory(PAGE)
    pages = [host.data.address + PAGE * page for page in range(3)]
    pages[index] += 8
    write_lists(lists, 0, pages)

    assert move(host, STORE, 4 * PAGE, host.data.address, lists.address).status == 0x13


def test_a_chain_pointer_is_page_aligned(host: Any) -> None:
    lists = host.memory(2 * PAGE)
    lists.put(PAGE - 8, struct.pack("<Q", lists.address + PAGE + 8))
    prp2 = lists.address + PAGE - 8

    assert move(host, STORE, 3 * PAGE, host.data.address, prp2).status == 0x13


@pytest.mark.parametrize("pages", [2, 3])
@pytest.mark.parametrize("known", [False, True])
def test_memory_at_address_0_is_a_transfer_error(host: Any, pages: int, known: bool) -> None:
    first = host.data.address if known else 0

    assert move(host, STORE, pages * PAGE, first, 0).status == 0x04


def test_prps_of_a_transfer_of_nothing_are_not_looked_at(host: Any) -> None:
    assert move(host, STORE, 0, 3, 5).status == 0


def test_a_truncated_retrieve_needs_only_the_buffer_s_pages(host: Any) -> None:
    buffer = lay_out(host, 8 * PAGE, 0, ordered(8))
    move(host, STORE, 8 * PAGE, buffer.prp1, buffer.prp2)

    cqe = move(host, RETRIEVE, PAGE, host.data.address, 0)

    assert (cqe.status, cqe.dw0) == (0, 8 * PAGE)
