"""What the connector does in vLLM's scheduler: which blocks are there, which to move when.

Blocks are stored in the step after that which computed them: only then is it known that
whatever they were computed from had been loaded by all workers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xiokv.runtime.connectors.blocks import Blocks
from xiokv.runtime.connectors.vllm_facts import Facts
from xiokv.runtime.connectors.vllm_worker import Transfer
from xiokv.runtime.kvcache.keyspace import Keyspace

# Blocks that are asked for at a time: a miss early in a long prompt costs one batch.
_ASKED = 256


@dataclass
class Step:
    """What workers are to do in a step.

    Attributes:
        loads: blocks to fetch before anything is computed.
        saves: blocks to store.
        finished: by request that has ended, blocks to store before they are freed.
    """

    loads: list[Transfer] = field(default_factory=list)
    saves: list[Transfer] = field(default_factory=list)
    finished: dict[str, Transfer] = field(default_factory=dict)


@dataclass
class _Tracked:
    """A request that is scheduled.

    Attributes:
        request: vLLM's `Request`.
        block_ids: of its blocks, in the order of tokens.
        stored: how many of them are in the store, or were tried.
    """

    request: Any
    block_ids: list[int]
    stored: int


class Scheduler:
    """Follows requests.

    Args:
        blocks: where blocks may be.
        keyspace: whose they are.
        facts: of the engine.
        loads: whether blocks are fetched.
        saves: whether blocks are stored.
    """

    def __init__(
        self,
        blocks: Blocks,
        keyspace: Keyspace,
        facts: Facts,
        *,
        loads: bool = True,
        saves: bool = True,
    ) -> None:
        self._loads = loads
        self._saves = saves
        self._blocks = blocks
        self._keyspace = keyspace
        self._tokens = facts.block_tokens
        # The first run of each share is stored last, so that it tells of all.
        self._layouts = [facts.layout(place, 0) for place in facts.everywhere]
        self._first: dict[str, int] = {}
        self._tracked: dict[str, _Tracked] = {}
        self._next = Step()

    def matched(self, request: Any, computed: int) -> int:
        """Return how many tokens after the computed ones can be loaded."""
        first, rest = divmod(computed, self._tokens)
        self._first[request.request_id] = first
        # At least one token is left to compute, or there would be nothing to sample from.
        last = min(len(request.block_hashes), (request.num_tokens - 1) // self._tokens)
        return (
            0
            if rest or not self._loads
            else self._leading(request.block_hashes[first:last]) * self._tokens
        )

    def allocated(self, request: Any, blocks: Any, tokens: int) -> None:
        """Take note of the blocks that a request got, and of how many tokens to load."""
        first = self._first.pop(request.request_id, 0)
        last = first + -(-tokens // self._tokens)
        ids = list(blocks.get_block_ids()[0])
        self._tracked[request.request_id] = _Tracked(request, ids, last)
        if tokens:
            hashes = list(request.block_hashes[first:last])
            self._next.loads.append(Transfer(hashes, ids[first : first + len(hashes)]))

    def step(self, output: Any) -> Step:
        """Return what is to be done in the step that was scheduled."""
        self._follow(output)
        for name in output.num_scheduled_tokens:
            tracked = self._tracked.get(name)
            if tracked is not None:
                self._add(self._due(tracked))
        step, self._next = self._next, Step()
        return step

    def finished(self, request: Any, block_ids: list[int]) -> bool:
        """Tell whether a request's blocks have to wait until some of them are stored."""
        self._first.pop(request.request_id, None)
        tracked = self._tracked.pop(request.request_id, None)
        if tracked is None:
            return False
        tracked.block_ids = list(block_ids)
        due = self._due(tracked)
        if due.block_ids:
            self._next.finished[request.request_id] = due
        return bool(due.block_ids)

    def _follow(self, output: Any) -> None:
        """Take note of blocks that requests got."""
        for new in output.scheduled_new_reqs:
            if new.req_id in self._tracked:
                self._tracked[new.req_id].block_ids = list(new.block_ids[0])
        cached = output.scheduled_cached_reqs
        for name, more in zip(cached.req_ids, cached.new_block_ids, strict=True):
            if more is not None and name in self._tracked:
                tracked = self._tracked[name]
                before = [] if name in cached.resumed_req_ids else tracked.block_ids
                tracked.block_ids = before + list(more[0])

    def _due(self, tracked: _Tracked) -> Transfer:
        """Return the blocks that are computed for certain and not stored."""
        request, ids = tracked.request, tracked.block_ids
        certain = request.num_computed_tokens - getattr(request, "num_in_flight_tokens", 0)
        end = min(max(certain, 0) // self._tokens, len(request.block_hashes), len(ids))
        # A load that failed takes a request back to where it has to compute again.
        begin = tracked.stored = min(tracked.stored, max(certain, 0) // self._tokens)
        tracked.stored = max(begin, end)
        hashes = request.block_hashes[begin:end]
        # Block 0 stands for one that the request does not have any more.
        pairs = [(h, i) for h, i in zip(hashes, ids[begin:end], strict=True) if i != 0]
        chosen = pairs if self._saves else []
        return Transfer([content for content, _ in chosen], [block for _, block in chosen])

    def _add(self, due: Transfer) -> None:
        if due.block_ids:
            self._next.saves.append(due)

    def _leading(self, hashes: list[bytes]) -> int:
        """Return how many blocks are there, with all their shares, before the first that is not."""
        for begin in range(0, len(hashes), _ASKED):
            some = hashes[begin : begin + _ASKED]
            digests = [self._keyspace.digests(layout, some) for layout in self._layouts]
            found = self._blocks.have(np.concatenate(digests)).reshape(-1, len(some))
            there = np.logical_and.reduce(found, axis=0)
            if not there.all():
                return begin + int(np.argmin(there))
        return len(hashes)
