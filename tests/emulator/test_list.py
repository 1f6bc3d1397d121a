"""List: pages of keys, their order, where a walk starts and ends."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest

STORE, LIST, DELETE = 0x01, 0x06, 0x10
KEYS = [b"a", b"ab", b"ab\0", b"abc", b"b", b"\xff" * 16, b"\0", b"0123456789abcdef"]


def fill(host: Any, keys: list[bytes]) -> None:
    for key in keys:
        assert host.run(host.sqe(STORE, key)).status == 0


def page(host: Any, start: bytes, size: int) -> bytes:
    host.data.put(0, b"\xee" * 4096)
    cqe = host.run(host.sqe(LIST, start, size, host.data.address))
    assert (cqe.status, cqe.dw0) == (0, 0)
    assert host.data.get(size, 4096 - size) == b"\xee" * (4096 - size)
    return bytes(host.data.get(0, size))


def keys_of(data: bytes) -> Iterator[bytes]:
    (count,) = struct.unpack_from("<I", data)
    at = 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        yield data[at + 2 : at + 2 + length]
        at += (2 + length + 3) // 4 * 4


def listed(host: Any, start: bytes = b"", size: int = 4096) -> list[bytes]:
    return list(keys_of(page(host, start, size)))


def test_a_page_has_a_count_and_padded_entries(host: Any) -> None:
    fill(host, [b"a", b"bc", b"def"])

    assert page(host, b"", 20) == bytes.fromhex(
        "03000000"  # three keys
        "010061 00"  # length 1, padded to 4
        "02006263"  # length 2: 4 as it is
        "0300646566 000000"  # length 3, padded to 8
    )


def test_a_page_without_keys_is_a_count_of_zero(host: Any) -> None:
    assert page(host, b"", 4) == bytes(4)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_buffer_without_room_for_the_count_gets_what_fits(host: Any, size: int) -> None:
    fill(host, [b"a"])

    assert page(host, b"", size) == bytes(size)


@pytest.mark.parametrize(
    ("size", "count"), [(4, 0), (23, 0), (24, 1), (43, 1), (44, 2), (63, 2), (64, 3), (65, 3)]
)
def test_a_page_holds_whole_keys_only(host: Any, size: int, count: int) -> None:
    fill(host, [b"%016d" % number for number in range(5)])

    assert len(listed(host, b"", size)) == count


def test_keys_come_by_their_bytes_a_prefix_first(host: Any) -> None:
    fill(host, KEYS)

    assert listed(host) == sorted(KEYS)


@pytest.mark.parametrize("start", [*KEYS, b"aa", b"\0\0", b"zz"])
def test_a_start_key_is_included_if_present(host: Any, start: bytes) -> None:
    fill(host, KEYS)

    assert listed(host, start) == [key for key in sorted(KEYS) if key >= start]


def test_a_start_after_the_last_key_gives_none(host: Any) -> None:
    fill(host, [b"a"])

    assert listed(host, b"b") == []


def test_a_deleted_key_is_not_listed(host: Any) -> None:
    fill(host, [b"a", b"b"])
    host.run(host.sqe(DELETE, b"a"))

    assert listed(host) == [b"b"]


def test_hashed_order_is_stable_and_not_the_bytes(make: Any) -> None:
    keys = [b"%03d" % number for number in range(50)]
    host = make(hashed_list=True)
    fill(host, keys)

    order = listed(host)

    assert sorted(order) == keys
    assert order != keys
    assert listed(host) == order


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("at", [0, 7, 19])
def test_a_walk_from_a_key_goes_to_the_end_or_round(
    make: Any, hashed: bool, wrap: bool, at: int
) -> None:
    host = make(hashed_list=hashed, wrap_list=wrap)
    fill(host, [b"%03d" % number for number in range(20)])
    order = listed(host)

    expected = order[at:] + (order[:at] if wrap else [])

    assert listed(host, order[at]) == expected


def test_pages_join_to_the_whole_list(make: Any) -> None:
    keys = [b"k%03d" % number for number in range(100)]
    host = make(hashed_list=True)
    fill(host, keys)

    walked = listed(host, b"", 44)
    while len(found := listed(host, walked[-1], 44)) > 1:
        assert found[0] == walked[-1]
        walked += found[1:]

    assert walked == listed(host)
