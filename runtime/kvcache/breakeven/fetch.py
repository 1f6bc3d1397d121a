"""What it costs to fetch blocks: times of Retrieves in, a latency and a bandwidth out.

Blocks of one size take ``latency + blocks * block_bytes / bandwidth`` seconds. Both are of
that size, and hold at no other.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.breakeven.origin import Origin
from xiokv.runtime.units import size_text


@dataclass(frozen=True, slots=True)
class Timing:
    """How long Retrieves of some blocks took.

    Attributes:
        blocks: blocks of each Retrieve.
        seconds: one sample a run.
    """

    blocks: int
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle sample, in seconds."""
        return statistics.median(self.seconds)

    @property
    def low(self) -> float:
        """The least sample, in seconds."""
        return min(self.seconds)

    @property
    def high(self) -> float:
        """The largest sample, in seconds."""
        return max(self.seconds)


@dataclass(frozen=True, slots=True)
class FetchCost:
    """What blocks of one size cost.

    Attributes:
        block_bytes: their size.
        latency: seconds before bytes flow.
        bandwidth: bytes a second from then on.
        latency_origin: where the latency is from.
        bandwidth_origin: where the bandwidth is from.
        one: the Retrieves of one block, if there were any.
        many: the Retrieves of many blocks, if there were any.
    """

    block_bytes: int
    latency: float
    bandwidth: float
    latency_origin: Origin
    bandwidth_origin: Origin
    one: Timing | None = None
    many: Timing | None = None

    def seconds(self, blocks: Any) -> Any:
        """Return how long some blocks take: a number of them, or an array of numbers."""
        return self.latency + blocks * self.block_bytes / self.bandwidth


@dataclass(frozen=True, slots=True)
class Fetch:
    """The side of the fetch.

    Attributes:
        origin: where it is from.
        costs: by block size, rising.
        place: where blocks ended, "host" or "device"; empty where that is not known.
        file: what was read, if anything.
        date: when it was measured; empty where that is not known.
        machine: where it was measured.
        setting: what it was measured with.
    """

    origin: Origin
    costs: tuple[FetchCost, ...]
    place: str = ""
    file: str = ""
    date: str = ""
    machine: Mapping[str, Any] = field(default_factory=dict)
    setting: Mapping[str, Any] = field(default_factory=dict)


def fitted(block_bytes: int, one: Timing, many: Timing, origin: Origin) -> FetchCost:
    """Return the cost that both medians lie on.

    The bandwidth is that of the blocks after the first, and the latency what one block takes
    beside its bytes. Where that would be below 0, it is 0, and the bandwidth that of all.

    Raises:
        RuntimeFault: many blocks took no longer than one.
    """
    later = (many.median - one.median) / (many.blocks - 1)
    if later <= 0:
        raise RuntimeFault(
            f"{many.blocks} blocks of {size_text(block_bytes)} took no longer than one"
            f" ({many.median * 1e6:.3g} us, {one.median * 1e6:.3g} us): measure again, on an"
            " idle machine"
        )
    latency = one.median - later
    if latency < 0:
        latency, later = 0.0, many.median / many.blocks
    return FetchCost(block_bytes, latency, block_bytes / later, origin, origin, one, many)


def given(sizes: tuple[int, ...], bandwidth: float, latency: float) -> Fetch:
    """Return the cost that a caller knows.

    Args:
        sizes: bytes of a block.
        bandwidth: bytes a second.
        latency: seconds.
    """
    origin = Origin.GIVEN
    costs = tuple(FetchCost(size, latency, bandwidth, origin, origin) for size in sizes)
    return Fetch(origin, costs)
