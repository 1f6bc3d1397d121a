"""A walk returns every key once, whatever order the controller has and wherever it ends."""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.listing import walk

KEYS = [b"%03d" % i for i in range(25)]


def page_of(keys: list[bytes]) -> bytes:
    entries = [struct.pack("<H", len(key)) + key for key in keys]
    padded = [entry.ljust(-(-len(entry) // 4) * 4, b"\0") for entry in entries]
    return struct.pack("<I", len(keys)) + b"".join(padded)


def device(
    keys: list[bytes], room: int, *, wraps: bool = False, inclusive: bool = True
) -> Callable[[bytes], bytes]:
    """Return a List that holds `keys` in this order and returns `room` of them a page."""

    def fetch(start: bytes) -> bytes:
        first = keys.index(start) if start in keys else 0
        if start and not inclusive:
            first += 1
        rest = keys[first:] + (keys[:first] if wraps else [])
        return page_of(rest[:room])

    return fetch


ORDERS = {
    "sorted": KEYS,
    "reversed": KEYS[::-1],
    "hashed": sorted(KEYS, key=lambda key: key[::-1]),
}


@pytest.mark.parametrize("room", [2, 3, 8, 24, 25, 26])
@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("keys", ORDERS.values(), ids=ORDERS)
def test_every_key_comes_once(keys: list[bytes], wraps: bool, inclusive: bool, room: int) -> None:
    fetch = device(keys, room, wraps=wraps, inclusive=inclusive)
    assert list(walk(fetch, b"", None)) == keys


def test_first_key_of_a_later_page_stays_unless_it_is_the_start_key() -> None:
    pages = {b"": [b"a", b"b"], b"b": [b"c", b"d"], b"d": []}
    assert list(walk(lambda start: page_of(pages[start]), b"", None)) == [b"a", b"b", b"c", b"d"]


def test_a_start_key_that_is_there_is_returned() -> None:
    assert list(walk(device(KEYS, 4), KEYS[20], None)) == KEYS[20:]


def test_a_walk_ends_where_its_first_key_comes_back() -> None:
    fetched = []

    def fetch(start: bytes) -> bytes:
        fetched.append(start)
        return device(KEYS, 10, wraps=True)(start)

    assert list(walk(fetch, KEYS[5], None)) == KEYS[5:] + KEYS[:5]
    assert len(fetched) == 3


def test_a_circle_that_never_meets_the_first_key_ends() -> None:
    pages = {b"": [b"a", b"b"], b"b": [b"b", b"c"], b"c": [b"c", b"b"]}
    assert list(walk(lambda start: page_of(pages[start]), b"", None)) == [b"a", b"b", b"c"]


@pytest.mark.parametrize(
    ("limit", "count"), [(0, 0), (1, 1), (7, 7), (99, 25), (2**70, 25), (None, 25)]
)
def test_limit_is_the_most_keys(limit: int | None, count: int) -> None:
    assert list(walk(device(KEYS, 3), b"", limit)) == KEYS[:count]


def test_pages_are_fetched_as_keys_are_taken() -> None:
    fetched = []

    def fetch(start: bytes) -> bytes:
        fetched.append(start)
        return device(KEYS, 5)(start)

    assert list(islice(walk(fetch, b"", None), 5)) == KEYS[:5]
    assert fetched == [b""]


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_limit_that_is_no_number_of_keys_is_refused(limit: Any) -> None:
    with pytest.raises(ArgumentFault, match="limit"):
        walk(device(KEYS, 3), b"", limit)


PAGES = {
    "count past the page": struct.pack("<I", 9) + bytes(8),
    "length 17": struct.pack("<IH", 1, 17) + bytes(18),
    "no count": b"\0\0",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_that_contradicts_itself_is_an_error(page: bytes) -> None:
    with pytest.raises(RuntimeFault, match="List page"):
        list(walk(lambda start: page, b"", None))
