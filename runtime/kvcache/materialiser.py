"""The hook of the inference backend: it takes donor spans, or declines them.

Whether blocks of another prompt may stand in for computed ones is for the backend alone to
say; so is what it does with positions, and what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.manifest import KvLayout, Manifest
from xiokv.runtime.kvcache.plan import DonorSpan
from xiokv.runtime.kvcache.storage import FetchCost

if TYPE_CHECKING:
    from xiokv.runtime.kvcache.report import Report


@dataclass(frozen=True, slots=True)
class Accept:
    """A span is taken.

    Attributes:
        blocks: which of its blocks of tokens, counted from 0; None: all.
    """

    blocks: Range | None = None


@dataclass(frozen=True, slots=True)
class Decline:
    """A span is not taken.

    Attributes:
        reason: why, in a few words.
    """

    reason: str


Decision = Accept | Decline


@dataclass(frozen=True, slots=True)
class Offer:
    """A donor span, to be decided on.

    Attributes:
        span: what the plan says.
        manifest: what the donor's blocks are.
        blocks: number of blocks of tokens.
        cost: of retrieving all of them.
    """

    span: DonorSpan
    manifest: Manifest
    blocks: int
    cost: FetchCost


class Materialiser(Protocol):
    """What a backend provides."""

    def consider(self, offer: Offer) -> Decision:
        """Take a span, a part of it, or decline it. An exception declines it, too."""

    def supplied(self, report: Report) -> Mapping[str, Any]:
        """Return what the backend measured of a request, by name.

        It is called when the blocks have landed. `metrics.SUPPLIED` lists the names; what is
        left out is reported as not supplied.
        """


class AcceptAll:
    """Takes every span: for measurements, and where the planner's word is enough."""

    def consider(self, offer: Offer) -> Decision:
        """Take it."""
        return Accept()

    def supplied(self, report: Report) -> Mapping[str, Any]:
        """Return nothing."""
        return {}


class SameLayout(AcceptAll):
    """Takes spans of donors that are laid out as the backend's own blocks.

    Args:
        layout: of the backend's.
    """

    def __init__(self, layout: KvLayout) -> None:
        self._layout = layout

    def consider(self, offer: Offer) -> Decision:
        """Take it, or name the first field that differs."""
        other = first_difference(self._layout, offer.manifest.layout)
        return Accept() if other is None else Decline(other)


def first_difference(ours: Any, theirs: Any, name: str = "layout") -> str | None:
    """Return the first field that differs between two structures, with both values."""
    if ours == theirs:
        return None
    if isinstance(ours, msgspec.Struct) and type(ours) is type(theirs):
        for field in ours.__struct_fields__:
            found = first_difference(
                getattr(ours, field), getattr(theirs, field), f"{name}.{field}"
            )
            if found is not None:
                return found
    return f"{name} is {theirs!r}, not {ours!r}"
