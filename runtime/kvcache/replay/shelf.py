"""The donors that are stored while plans are replayed: plans in, published donors out.

A donor is published when the first plan names it, with the blocks that plan needs, and again
in a new generation where a later plan needs others. Those that were not needed for longest go
when there is no room, so that the store is bounded however many plans there are.
"""

from __future__ import annotations

import math
import os
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.kv_storage import KvStorage
from xiokv.runtime.kvcache.plan import Plan
from xiokv.runtime.kvcache.replay.contents import content
from xiokv.runtime.kvcache.replay.layouts import layout_of
from xiokv.runtime.kvcache.replay.payloads import Payloads
from xiokv.runtime.kvcache.storage import DonorMissingFault, NewDonor, Storage

#: Most blocks, of all shards, of one plan's spans, or of the donors that it names.
BLOCKS_MAX = 1 << 22


@dataclass(frozen=True, slots=True)
class Stocked:
    """A donor that is stored.

    Attributes:
        rows: its blocks of tokens.
        block_tokens: tokens of each.
        generation: in which it is.
    """

    rows: Range
    block_tokens: int
    generation: int

    def serves(self, other: Stocked) -> bool:
        """Tell whether it holds what another is to hold."""
        return self.covers(other) and other.generation in (0, self.generation)

    def covers(self, other: Stocked) -> bool:
        """Tell whether it has all blocks of another."""
        return (
            self.rows.start <= other.rows.start
            and other.rows.end <= self.rows.end
            and self.block_tokens == other.block_tokens
        )


class Shelf:
    """Donors on a storage.

    Args:
        storage: where they are published.
        payloads: their bytes.
        room: most bytes of blocks, save where one plan needs more.

    Attributes:
        seconds: that publishing took.
        published_bytes: of all that was published.
    """

    def __init__(self, storage: Storage, payloads: Payloads, room: int) -> None:
        self._storage = storage
        self._payloads = payloads
        self._room = room
        self._stocked: OrderedDict[str, Stocked] = OrderedDict()
        # What is being published: of one that failed, some blocks may be stored.
        self._begun: dict[str, Stocked] = {}
        self.seconds = 0.0
        self.published_bytes = 0

    def prepare(self, plan: Plan) -> None:
        """Publish what a plan needs and is not there.

        Raises:
            RuntimeFault: its blocks can never fit; nothing is published.
        """
        begun = time.perf_counter()
        needed = _needed(plan)
        self._check(plan, needed)
        for name in needed:
            if name in self._stocked:
                self._stocked.move_to_end(name)
        for name, wanted in needed.items():
            there = self._stocked.get(name)
            if there is None or not there.serves(wanted):
                self._publish(name, wanted, needed)
        self.seconds += time.perf_counter() - begun

    def renew(self, name: str) -> None:
        """Publish a donor once more, in the next generation."""
        there = self._stocked[name]
        self._store(name, there.rows, there.block_tokens, there.generation + 1)

    def remove(self, names: Iterable[str]) -> None:
        """Take donors away, and all of their blocks."""
        for name in names:
            if name in self._stocked:
                with suppress(DonorMissingFault):
                    self._storage.remove(name, blocks=True)
                del self._stocked[name]

    @property
    def left(self) -> int:
        """How many values may be stored, at most."""
        # Copies: another thread may ask.
        donors = [*self._stocked.values(), *self._begun.values()]
        return sum(len(donor.rows) for donor in donors) * self._row_values + 2 * len(donors)

    @property
    def _row_values(self) -> int:
        """Values of all shards of one block of tokens, each with its record."""
        storage, sizes = self._storage, self._payloads.sizes
        part = storage.blocks.part_bytes if isinstance(storage, KvStorage) else max(sizes)
        return sum(1 + -(-size // part) for size in sizes)

    def clear(self, until: float = math.inf) -> None:
        """Take all donors away, also those of which only a part was stored.

        Args:
            until: no other is begun when `time.monotonic()` is there.
        """
        for name in [*self._stocked, *self._begun]:
            if time.monotonic() < until:
                self._clear(name)

    def _clear(self, name: str) -> None:
        """Take away what is stored of a donor, also where a command was the last for a while."""
        whole = name not in self._begun
        try:
            self._storage.remove(name, blocks=True)
        except DonorMissingFault:
            whole = False
        for some in (self._stocked, self._begun):
            if name in some and not whole:
                self._discard(name, some[name])
        self._stocked.pop(name, None)
        self._begun.pop(name, None)

    def _discard(self, name: str, stocked: Stocked) -> None:
        if isinstance(self._storage, KvStorage):
            payloads = self._payloads.of(name, stocked.rows)
            self._storage.discard(self._offer(name, stocked), payloads)

    def _publish(self, name: str, wanted: Stocked, needed: dict[str, Stocked]) -> None:
        there, rows = self._stocked.get(name), wanted.rows
        if there is not None and there.block_tokens == wanted.block_tokens:
            both = Range(min(there.rows.start, rows.start), max(there.rows.end, rows.end))
            # Blocks between them may be more than there is room for.
            rows = both if len(both) <= self._rows_max(self._room) else rows
        if there is not None and not Stocked(rows, wanted.block_tokens, 0).covers(there):
            self.remove([name])  # else some of its blocks would be nobody's
        self._make_room(len(rows) * self._payloads.row_bytes, needed)
        generation = wanted.generation or self._generation_there(name) + 1
        self._store(name, rows, wanted.block_tokens, generation)

    def _check(self, plan: Plan, needed: dict[str, Stocked]) -> None:
        landing = sum(len(span.source) // plan.block_tokens for _, span in plan.donor_spans)
        donors = sum(len(stocked.rows) for stocked in needed.values())
        shards, row_bytes = len(self._payloads.sizes), self._payloads.row_bytes
        for what, rows in (("spans", landing), ("donors", donors)):
            if rows > self._rows_max(_memory_bytes()):
                raise RuntimeFault(
                    f"plan {plan.request!r}: its {what} have {rows * shards} blocks,"
                    f" {rows * row_bytes} bytes; up to {BLOCKS_MAX} blocks and"
                    f" {_memory_bytes()} bytes, the memory of this machine, can be replayed;"
                    " give smaller spans or --block-bytes, or fewer --shards"
                )

    def _rows_max(self, room: int) -> int:
        """Return the most blocks of tokens that a number of bytes and the limit allow."""
        return min(room // self._payloads.row_bytes, BLOCKS_MAX // len(self._payloads.sizes))

    def _store(self, name: str, rows: Range, block_tokens: int, generation: int) -> None:
        begun = Stocked(rows, block_tokens, generation)
        if self._generation_there(name) >= generation:
            self._storage.remove(name)
        self._begun[name] = begun
        self._storage.publish(self._offer(name, begun), self._payloads.of(name, rows))
        self._stocked[name] = begun
        del self._begun[name]
        self.published_bytes += len(rows) * self._payloads.row_bytes

    def _offer(self, name: str, stocked: Stocked) -> NewDonor:
        rows, block_tokens = stocked.rows, stocked.block_tokens
        return NewDonor(
            name,
            layout_of(block_tokens, self._payloads.sizes),
            [content(name, row) for row in range(rows.start, rows.end)],
            start=rows.start * block_tokens,
            generation=stocked.generation,
        )

    def _generation_there(self, name: str) -> int:
        """Return the generation that the store has, also of a replay that was cut off."""
        with suppress(DonorMissingFault):
            return self._storage.resolve(name).manifest.generation
        return 0

    def _make_room(self, size: int, needed: dict[str, Stocked]) -> None:
        used = size + sum(len(d.rows) for d in self._stocked.values()) * self._payloads.row_bytes
        for name in [name for name in self._stocked if name not in needed]:
            if used <= self._room:
                return
            used -= len(self._stocked[name].rows) * self._payloads.row_bytes
            self.remove([name])


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _needed(plan: Plan) -> dict[str, Stocked]:
    """Return which blocks of which donors a plan names."""
    found: dict[str, Stocked] = {}
    for _, span in plan.donor_spans:
        size = plan.block_tokens
        rows = Range(span.source.start // size, span.source.end // size)
        before = found.get(span.donor)
        if before is not None:
            rows = Range(min(before.rows.start, rows.start), max(before.rows.end, rows.end))
        found[span.donor] = Stocked(rows, size, span.generation or 0)
    return found
