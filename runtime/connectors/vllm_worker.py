"""What the connector does in vLLM's workers: blocks into and out of the registered caches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xiokv.runtime.connectors.attachment import Attachment
from xiokv.runtime.connectors.blocks import Blocks, Flags
from xiokv.runtime.connectors.guard import Guard
from xiokv.runtime.connectors.options import Options
from xiokv.runtime.connectors.vllm_caches import Region, regions_of
from xiokv.runtime.connectors.vllm_facts import Facts
from xiokv.runtime.connectors.vllm_slots import CacheSlots, HostCopies
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.keyspace import Digests


@dataclass
class Transfer:
    """Blocks of one request.

    Attributes:
        hashes: of their tokens and all before, as vLLM makes them.
        block_ids: where they are in the caches.
    """

    hashes: list[bytes] = field(default_factory=list)
    block_ids: list[int] = field(default_factory=list)


class Worker:
    """Moves the share of blocks that one worker has.

    Args:
        options: of the connector.
        facts: of the engine.
        blocks: how many there are in the caches.
        guard: is told what fails.
    """

    def __init__(self, options: Options, facts: Facts, blocks: int, guard: Guard) -> None:
        self._options = options
        self._keyspace = options.keyspace()
        self._facts = facts
        self._count = blocks
        self._guard = guard
        self._attachment: Attachment | None = None
        self._blocks: Blocks | None = None
        self._regions: list[Region] = []
        self._layouts: list[bytes] = []
        self._by_host = False

    def register(self, caches: Mapping[str, Any]) -> None:
        """Take the caches, and attach with the driver of the device where they are.

        Raises:
            ArgumentFault: a block of a layer is not in one piece.
            RuntimeFault: the controller cannot be reached.
        """
        self.close()
        self._regions = regions_of(caches, self._count)
        target, number = _target(next(iter(caches.values())).device)
        # An engine on the host does not reach a GPU's memory.
        self._by_host = self._options.target == "host" and target != "host"
        self._attachment = Attachment(self._options, target, 0 if self._by_host else number)
        self._blocks = Blocks(self._attachment, self._guard)
        place = self._facts.here
        runs = sum(len(region.runs) for region in self._regions)
        self._layouts = [self._facts.layout(place, run) for run in range(runs)]

    def load(self, transfers: Iterable[Transfer]) -> set[int]:
        """Fetch blocks; return the ids of those that do not have what was stored."""
        wanted = _by_id(transfers)
        if not wanted:
            return set()
        ids = np.array(list(wanted), np.int64)
        whole = np.ones(len(ids), np.bool_)
        for region in self._regions:
            runs = range(len(region.runs))
            slots = (region.copies if self._by_host else region.slots)(ids, runs)
            digests = self._digests(region, runs, wanted.values())
            found = self._reach().fetch(digests, slots)
            slots.land(found)
            whole &= _all_runs(found, len(ids))
        return set(ids[~whole].tolist())

    def save(self, transfers: Iterable[Transfer]) -> None:
        """Store blocks that are not there; the run that says a block is there comes last."""
        wanted = _by_id(transfers) if self._facts.here.writes else {}
        for region in reversed(self._regions):
            last = 1 if region.first == 0 else 0
            wanted = self._save(region, range(last, len(region.runs)), wanted)
            if last:
                self._save(region, range(last), wanted)

    def close(self) -> None:
        """Delete the queues."""
        attachment, self._attachment, self._blocks = self._attachment, None, None
        if attachment is not None:
            attachment.close()

    def _save(self, region: Region, runs: range, wanted: dict[int, bytes]) -> dict[int, bytes]:
        """Store some runs; return those blocks of which all are there."""
        if not wanted or not runs:
            return wanted
        ids = np.array(list(wanted), np.int64)
        digests = self._digests(region, runs, wanted.values())
        slots: CacheSlots | HostCopies = region.slots(ids, runs)
        if self._by_host:
            slots = region.copies(ids, runs)
            slots.fill()
        kept = _all_runs(self._reach().keep(digests, slots), len(ids))
        return {block: wanted[block] for block in ids[kept].tolist()}

    def _digests(self, region: Region, runs: range, hashes: Iterable[bytes]) -> Digests:
        contents = list(hashes)
        layouts = (self._layouts[region.first + run] for run in runs)
        return np.concatenate([self._keyspace.digests(layout, contents) for layout in layouts])

    def _reach(self) -> Blocks:
        if self._blocks is None:
            raise ArgumentFault("no KV cache was registered, or the connector was shut down")
        return self._blocks


def _all_runs(found: Flags, blocks: int) -> Flags:
    whole: Flags = np.logical_and.reduce(found.reshape(-1, blocks), axis=0)
    return whole


def _by_id(transfers: Iterable[Transfer]) -> dict[int, bytes]:
    """Return the hash of each block; one that is in two transfers is moved once."""
    return {
        block: content
        for transfer in transfers
        for block, content in zip(transfer.block_ids, transfer.hashes, strict=True)
    }


def _target(device: Any) -> tuple[str, int]:
    """Return the kind of device that a tensor is on, and its number."""
    kind, _, number = str(device).partition(":")
    if kind == "cpu":
        return "host", 0
    import torch

    hip = getattr(torch.version, "hip", None)
    return "hip" if hip else "cuda", int(number or 0)
