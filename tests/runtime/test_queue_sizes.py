"""Sizes of a queue pair: window, transfer, PRP pool; what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.queue_sizes import POOL_MAX, Wish, list_pages, plan

from .queue_fakes import LIMITS, MIB


@pytest.mark.parametrize(
    ("size", "pages"),
    [
        (1, 0),
        (4096, 0),
        (4097, 0),  # at worst one byte, then a page
        (4098, 1),  # at worst one byte, a page, and a byte
        (512 * 4096 + 1, 1),  # 512 entries fill a page that is the last
        (512 * 4096 + 2, 2),
        (1023 * 4096 + 1, 2),  # 511 and a link, then 512
        (1023 * 4096 + 2, 3),
        (32 * MIB, 17),
    ],
)
def test_a_slot_has_the_list_pages_of_the_largest_transfer(size: int, pages: int) -> None:
    assert list_pages(size) == pages


@pytest.mark.parametrize(
    ("wish", "limits", "said"),
    [
        (Wish(1, 8), {}, "sq_depth 1: 2 to 65536"),
        (Wish(65537, 8), {}, "sq_depth 65537: 2 to 65536"),
        (Wish(8, 1), {}, "cq_depth 1: 2 to 65536"),
        (Wish(1025, 8), {"entries_max": 1024}, r"2 to 1024 is allowed \(the controller's MQES"),
        (Wish(8, 1025), {"entries_max": 1024}, r"2 to 1024 is allowed \(the controller's MQES"),
        (Wish(8, 8, window=0), {}, "window 0: 1 to 65535"),
        (Wish(8, 8, window=65536), {}, "window 65536: 1 to 65535"),
        (Wish(8, 8, max_transfer=0), {}, "max_transfer 0"),
        (Wish(8, 8, max_transfer=MIB + 1), {"transfer_max": MIB}, "the controller's MDTS"),
        (Wish(8, 8), {"page_bytes": 8192}, "pages of 8192 bytes"),
    ],
)
def test_what_the_controller_does_not_allow_is_refused(wish: Wish, limits, said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        plan(wish, 1, replace(LIMITS, **limits))


@pytest.mark.parametrize("nsid", [0, 0xFFFFFFFF])
def test_a_namespace_that_no_command_may_name_is_refused(nsid: int) -> None:
    with pytest.raises(ArgumentFault, match=f"nsid {nsid}: 1 to 4294967294"):
        plan(Wish(8, 8), nsid, LIMITS)


@pytest.mark.parametrize(
    ("wish", "window"),
    [
        (Wish(1024, 1024), 1023),
        (Wish(65536, 65536), 1023),
        (Wish(64, 1024), 63),
        (Wish(1024, 2), 1),
        (Wish(64, 64, window=1000), 1000),
    ],
)
def test_the_window_is_1023_or_what_the_rings_hold(wish: Wish, window: int) -> None:
    assert plan(wish, 1, LIMITS).window == window


@pytest.mark.parametrize(
    ("limits", "asked", "transfer"),
    [
        ({}, None, 32 * MIB),
        ({"transfer_max": MIB}, None, MIB),
        ({"value_max": 100}, None, 4096),  # room for a List page
        ({}, 64 * MIB, 64 * MIB),
        ({}, 512, 512),
    ],
)
def test_the_largest_transfer_is_what_the_limits_allow(limits, asked, transfer: int) -> None:
    sizes = plan(Wish(1024, 1024, max_transfer=asked), 1, replace(LIMITS, **limits))
    assert sizes.max_transfer == transfer
    assert sizes.prp_pages == list_pages(transfer)


def test_the_pool_of_32_mib_values_is_68_kib_a_slot() -> None:
    assert plan(Wish(1024, 1024), 1, LIMITS).pool_bytes == 1023 * 17 * 4096


@pytest.mark.parametrize("window", [1023, 10_000, 65535])
def test_a_pool_that_nobody_asked_for_stays_within_its_bound(window: int) -> None:
    sizes = plan(Wish(65536, 65536, window), 1, replace(LIMITS, value_max=(1 << 32) - 1))
    assert POOL_MAX - window * 4096 < sizes.pool_bytes <= POOL_MAX
    assert list_pages(sizes.max_transfer) == sizes.prp_pages
    assert list_pages(sizes.max_transfer + 4096) > sizes.prp_pages


def test_sizes_beyond_32_bits_are_cut_to_what_a_command_carries() -> None:
    sizes = plan(Wish(8, 8), 1, replace(LIMITS, value_max=1 << 40, transfer_max=1 << 40))
    assert sizes.max_value == (1 << 32) - 1
