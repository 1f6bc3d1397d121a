"""Where the blocks of a call lie: for the engine, and for whoever computes their checksums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from xiokv.runtime.connectors.raw import Bytes, bytes_at
from xiokv.runtime.kvcache.states import Ints


class Slots(Protocol):
    """Slots in memory of one piece.

    Attributes:
        memory: what the engine takes: a buffer on the host, or one in the driver's GPU.
        offsets: where each slot begins.
        sizes: bytes of each.
    """

    @property
    def memory(self) -> Any:
        """See above."""

    @property
    def offsets(self) -> Ints:
        """See above."""

    @property
    def sizes(self) -> Ints:
        """See above."""

    def read(self, which: Ints) -> Iterable[Any]:
        """Return the bytes of some slots, as buffers on the host."""


@dataclass(frozen=True, slots=True)
class HostSlots:
    """Slots on the host, where the bytes are looked at in place."""

    memory: Bytes
    offsets: Ints
    sizes: Ints

    def read(self, which: Ints) -> Iterable[Any]:
        """Return views of some slots."""
        begins = self.offsets[which]
        ends = begins + self.sizes[which]
        return [
            self.memory[begin:end]
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        ]


def slots_at(addresses: Ints, sizes: Ints, owner: Any) -> HostSlots:
    """Return slots at addresses of the host, such as those of pages in a pool.

    Args:
        addresses: where each begins; at least one.
        sizes: bytes of each.
        owner: what is held as long as the slots.
    """
    begin = int(addresses.min())
    end = int((addresses + sizes).max())
    return HostSlots(bytes_at(begin, end - begin, owner), addresses - begin, sizes)
