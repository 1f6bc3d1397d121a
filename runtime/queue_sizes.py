"""Sizes of a queue pair: what was asked for and what a controller allows in, numbers out.

The PRP pool gives every command slot the list pages of the largest transfer, so that
lists of commands in flight never share a page. Its memory is touched only where a command
needs it: on the host, a pool that was sized for values that never come costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.runtime import abi
from xiokv.runtime.controller import Limits
from xiokv.runtime.errors import ArgumentFault

DEPTH_MAX = 65536
WINDOW_DEFAULT = 1023
POOL_MAX = 256 << 20

SQE_BYTES = 64
CQE_BYTES = 16

_U32_MAX = (1 << 32) - 1
_NSID_MAX = _U32_MAX - 1
_ENTRIES = abi.PAGE_BYTES // 8
# The last entry of a list page that is not the last one points to the next page.
_DATA_ENTRIES = _ENTRIES - 1


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller asks of a queue pair; None takes what is sensible.

    Attributes:
        sq_depth: submission entries, one of which stays empty.
        cq_depth: completion entries.
        window: command slots W; by default 1023, or as many as the rings hold.
        max_transfer: largest buffer of one command in bytes; by default the largest that
            the limits and a pool of 256 MiB allow.
    """

    sq_depth: int
    cq_depth: int
    window: int | None = None
    max_transfer: int | None = None


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of one queue pair.

    Attributes:
        window: command slots.
        prp_pages: PRP list pages a slot.
        max_transfer: largest buffer of one command in bytes.
        max_value: largest value of the namespace in bytes.
    """

    window: int
    prp_pages: int
    max_transfer: int
    max_value: int

    @property
    def pool_bytes(self) -> int:
        """Bytes of the PRP pool."""
        return self.window * self.prp_pages * abi.PAGE_BYTES


def plan(wish: Wish, nsid: int, limits: Limits) -> Sizes:
    """Return the sizes of a queue pair.

    Raises:
        ArgumentFault: the wish, or what the controller has, is not allowed.
    """
    if limits.page_bytes != abi.PAGE_BYTES:
        raise ArgumentFault(
            f"the controller runs with pages of {limits.page_bytes} bytes; only"
            f" {abi.PAGE_BYTES} are supported (CC.MPS = 0)"
        )
    _check("nsid", nsid, 1, _NSID_MAX)
    _check_depth("sq_depth", wish.sq_depth, limits)
    _check_depth("cq_depth", wish.cq_depth, limits)
    room = min(wish.sq_depth, wish.cq_depth) - 1
    window = min(WINDOW_DEFAULT, room) if wish.window is None else wish.window
    _check("window", window, 1, abi.WINDOW_MAX)
    transfer = _max_transfer(wish.max_transfer, window, limits)
    return Sizes(window, list_pages(transfer), transfer, min(limits.value_max, _U32_MAX))


def list_pages(size: int) -> int:
    """Return the PRP list pages that `size` bytes need, wherever in a page they begin."""
    pages_after_first = -(-(size - 1) // abi.PAGE_BYTES)
    # One page after the first goes into PRP2 itself.
    return 0 if pages_after_first <= 1 else -(-(pages_after_first - 1) // _DATA_ENTRIES)


def _max_transfer(asked: int | None, window: int, limits: Limits) -> int:
    most = limits.transfer_max or _U32_MAX
    if asked is not None:
        _check("max_transfer", asked, 1, min(most, _U32_MAX), "the controller's MDTS")
        return asked
    lists = POOL_MAX // (window * abi.PAGE_BYTES)
    pooled = (lists * _DATA_ENTRIES + 1) * abi.PAGE_BYTES
    # A List page may be larger than any value.
    return min(most, pooled, max(limits.value_max, abi.PAGE_BYTES), _U32_MAX)


def _check_depth(name: str, depth: int, limits: Limits) -> None:
    most = min(DEPTH_MAX, limits.entries_max)
    _check(name, depth, 2, most, "the controller's MQES" if most < DEPTH_MAX else "")


def _check(name: str, value: int, least: int, most: int, why: str = "") -> None:
    if not least <= value <= most:
        raise ArgumentFault(f"{name} {value}: {least} to {most} is allowed{why and f' ({why})'}")
