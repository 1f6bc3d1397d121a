"""The backend of a replay: it takes every span, save for a fraction by the seed."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from xiokv.runtime.kvcache.manifest import BlockTable, Manifest
from xiokv.runtime.kvcache.materialiser import Accept, AcceptAll, Decision, Decline, Offer
from xiokv.runtime.kvcache.parts import split
from xiokv.runtime.kvcache.plan import DonorSpan
from xiokv.runtime.kvcache.wanted import wanted_blocks

REASON = "declined by the seed"


class Backend(AcceptAll):
    """Declines spans at random.

    Args:
        share: of the spans, 0 to 1, that are declined.
        seed: of which these are.

    Attributes:
        before_decision: is called with each offer before it is decided on.
        declined: spans that were declined since `begin`.
        accepted: those that were taken.
    """

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._chance = random.Random(f"decline {seed}")  # noqa: S311 - to be the same each time
        self.before_decision: Callable[[Offer], None] = _nothing
        self.declined: list[Offer] = []
        self.accepted: list[Offer] = []

    def begin(self) -> None:
        """Forget the spans of the plan before."""
        self.declined.clear()
        self.accepted.clear()

    def consider(self, offer: Offer) -> Decision:
        """Take a span, or decline it."""
        self.before_decision(offer)
        if self._chance.random() < self._share:
            self.declined.append(offer)
            return Decline(REASON)
        self.accepted.append(offer)
        return Accept()

    def undisturbed(self) -> None:
        """Call nothing before decisions any more."""
        self.before_decision = _nothing

    def declined_keys(self) -> set[bytes]:
        """Return the keys of all values that nobody may ask for: declined, and not taken, too."""
        return _keys(self.declined) - _keys(self.accepted)


def _nothing(offer: Offer) -> None:
    """Do nothing."""


def _keys(offers: list[Offer]) -> set[bytes]:
    return {key for offer in offers for key in value_keys(offer.manifest, offer.span)}


def value_keys(manifest: Manifest, span: DonorSpan) -> list[bytes]:
    """Return the keys of the values that hold a span's blocks."""
    table, tokens = BlockTable(manifest), manifest.layout.block_tokens
    first = (span.source.start - manifest.source.start) // tokens * table.shards
    which = np.arange(first, first + len(span.source) // tokens * table.shards)
    wanted = wanted_blocks(table.digests[which], table.sizes[which], None, manifest.part_bytes)
    return [key.tobytes() for key in split(wanted).keys]
