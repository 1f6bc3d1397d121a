"""Fetch beside recompute: both costs and a model in; rows and break-evens out.

A context is fetched in whole blocks. A model with a recurrent state can go on from a token
only where its state was kept: the state is fetched, too, and tokens after it are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.breakeven.fetch import FetchCost
from xiokv.runtime.kvcache.breakeven.geometry import Geometry
from xiokv.runtime.kvcache.breakeven.recompute import Recompute

FETCH, RECOMPUTE = "fetch", "recompute"
FETCH_ALWAYS, RECOMPUTE_ALWAYS, CHANGING = "fetch always", "recompute always", "now one, now other"


@dataclass(frozen=True, slots=True)
class Reuse:
    """What of a context can be fetched.

    Attributes:
        geometry: the model.
        kv_dtype: of what its attention keeps.
        checkpoint: tokens from one kept state to the next; 0 where one is kept at the end of
            the context. Of no meaning to a model without a state.
    """

    geometry: Geometry
    kv_dtype: str
    checkpoint: int = 0

    @property
    def token_bytes(self) -> int:
        """Bytes of a token."""
        return self.geometry.token_bytes(self.kv_dtype)

    def tokens(self, context: Any) -> Any:
        """Return how many tokens of a context, or of each of an array, can be fetched."""
        if not (self.checkpoint and self.geometry.state_bytes):
            return context
        return context // self.checkpoint * self.checkpoint

    def blocks(self, tokens: Any, block_bytes: int) -> Any:
        """Return how many whole blocks some tokens have, with the state that goes with them."""
        state = -(-self.geometry.state_bytes // block_bytes)
        return -(-tokens * self.token_bytes // block_bytes) + state * np.sign(tokens)


@dataclass(frozen=True, slots=True)
class Row:
    """One length of the context with blocks of one size.

    Attributes:
        context: tokens.
        kv_bytes: what attention keeps of them.
        block_bytes: bytes of a block.
        blocks: blocks that are fetched, those of a state among them.
        reused: tokens that need not be computed then.
        tokens_per_block: tokens whose bytes a block has room for; below 1 where a token has
            several.
        fetch: seconds of the fetch.
        rest: seconds to compute the tokens that could not be fetched.
        recompute: seconds to compute all.
        bandwidth: bytes a second at which both would take as long; None where none would do.
    """

    context: int
    kv_bytes: int
    block_bytes: int
    blocks: int
    reused: int
    tokens_per_block: float
    fetch: float
    rest: float
    recompute: float
    bandwidth: float | None

    @property
    def ratio(self) -> float:
        """How many times as long the recompute takes."""
        return self.recompute / (self.fetch + self.rest)

    @property
    def winner(self) -> str:
        """What takes less time; where nothing can be fetched, the recompute."""
        return FETCH if self.reused and self.ratio >= 1 else RECOMPUTE


@dataclass(frozen=True, slots=True)
class BreakEven:
    """From where on it pays to fetch blocks of one size.

    Attributes:
        block_bytes: bytes of a block.
        tokens: the least context from which on, up to the model's longest, a fetch is never
            slower; None where there is none or where that is so of every context.
        verdict: what is so of every context, where one thing is; else empty.
    """

    block_bytes: int
    tokens: int | None
    verdict: str = ""


def row(reuse: Reuse, cost: FetchCost, recompute: Recompute, context: int) -> Row:
    """Return both sides of one context."""
    reused = int(reuse.tokens(context))
    blocks = int(reuse.blocks(reused, cost.block_bytes))
    saved = float(recompute.seconds(reused))
    whole = float(recompute.seconds(context))
    spare = saved - cost.latency
    moved = blocks * cost.block_bytes
    return Row(
        context=context,
        kv_bytes=context * reuse.token_bytes,
        block_bytes=cost.block_bytes,
        blocks=blocks,
        reused=reused,
        tokens_per_block=cost.block_bytes / reuse.token_bytes,
        fetch=float(cost.seconds(blocks)) if blocks else 0.0,
        rest=whole - saved,
        recompute=whole,
        bandwidth=moved / spare if blocks and spare > 0 else None,
    )


def rows(
    reuse: Reuse, costs: Sequence[FetchCost], recompute: Recompute, contexts: Sequence[int]
) -> list[Row]:
    """Return both sides of every context with blocks of every size."""
    return [row(reuse, cost, recompute, context) for context in contexts for cost in costs]


def break_even(reuse: Reuse, cost: FetchCost, recompute: Recompute) -> BreakEven:
    """Return from where on a fetch is never slower: every context of the model is looked at."""
    contexts = np.arange(1, reuse.geometry.context + 1, dtype=np.int64)
    reused = reuse.tokens(contexts)
    spent = cost.seconds(reuse.blocks(reused, cost.block_bytes))
    fetch_wins = (spent <= recompute.seconds(reused.astype(np.float64))) & (reused > 0)
    if fetch_wins.all():
        return BreakEven(cost.block_bytes, None, FETCH_ALWAYS)
    if not fetch_wins.any():
        return BreakEven(cost.block_bytes, None, RECOMPUTE_ALWAYS)
    last_loss = int(contexts[~fetch_wins][-1])
    if last_loss == reuse.geometry.context:
        return BreakEven(cost.block_bytes, None, CHANGING)
    return BreakEven(cost.block_bytes, last_loss + 1)
