"""A segmented prefill plan: which tokens are computed, and which a donor may give.

A planner writes it; nothing in it is a promise that donor blocks are there or can be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from xiokv.runtime.kvcache.documents import (
    Count,
    Document,
    Hex16,
    HexDigest,
    Positive,
    Range,
    Text,
    hex_problems,
)


class FreshSpan(Struct, frozen=True, kw_only=True, tag="fresh", tag_field="kind"):
    """Tokens to compute.

    Attributes:
        target: their positions in the request.
    """

    target: Range


class DonorSpan(Struct, frozen=True, kw_only=True, tag="donor", tag_field="kind"):
    """Tokens whose blocks a donor may give.

    Attributes:
        target: their positions in the request.
        donor: name of the donor.
        source: their positions in the donor.
        generation: of the donor, where the planner saw one.
        keys: of the blocks, by tokens and then by shards, where the planner knows them.
    """

    target: Range
    donor: Text
    source: Range
    generation: Count | None = None
    keys: tuple[Hex16, ...] = ()


Span = FreshSpan | DonorSpan


class Plan(Document, frozen=True, kw_only=True):
    """What is to become of the tokens of a request, from the first to the last.

    Attributes:
        request: name of the request.
        tokens: how many it has.
        block_tokens: tokens of a block.
        spans: in the order of their targets, without a gap.
        contents: content digest of each whole block of the request, where the planner has
            them: for the rate of exact hits.
    """

    kind: ClassVar[str] = "xiokv-plan"
    version: ClassVar[tuple[int, int]] = (1, 0)

    request: Text
    tokens: Positive
    block_tokens: Positive
    spans: Annotated[tuple[Span, ...], Meta(min_length=1)]
    contents: tuple[HexDigest, ...] = ()

    def problems(self) -> Iterable[str]:
        """Yield what is wrong, a line each."""
        covered = 0
        for index, span in enumerate(self.spans):
            name = f"spans[{index}]"
            yield from _coverage_problems(name, span.target, covered)
            covered = max(covered, span.target.end)
            if isinstance(span, DonorSpan):
                yield from _donor_problems(name, span, self.block_tokens)
        yield from hex_problems(self.contents, "contents[{}]".format)
        if covered != self.tokens:
            yield f"spans: they cover {covered} tokens; the request has {self.tokens}"
        blocks = self.tokens // self.block_tokens
        if self.contents and len(self.contents) != blocks:
            yield f"contents: {len(self.contents)} are there; the request has {blocks} whole blocks"

    @property
    def donor_spans(self) -> Iterator[tuple[int, DonorSpan]]:
        """Each donor span, with its number among the spans."""
        for index, span in enumerate(self.spans):
            if isinstance(span, DonorSpan):
                yield index, span


def _coverage_problems(name: str, target: Range, covered: int) -> Iterator[str]:
    if target.end <= target.start:
        yield f"{name}.target: {target} holds no token"
    elif target.start < covered:
        yield f"{name}.target: {target} overlaps what is covered up to {covered}"
    elif target.start > covered:
        yield f"{name}.target: {target} leaves a gap; tokens are covered up to {covered}"


def _donor_problems(name: str, span: DonorSpan, block_tokens: int) -> Iterator[str]:
    yield from hex_problems(span.keys, (name + ".keys[{}]").format)
    if span.source.end - span.source.start != span.target.end - span.target.start:
        yield f"{name}.source: {span.source} is not as long as target {span.target}"
        return
    unaligned = False
    for what, positions in (("source", span.source), ("target", span.target)):
        if positions.start % block_tokens or positions.end % block_tokens:
            unaligned = True
            yield f"{name}.{what}: {positions} is not made of whole blocks of {block_tokens} tokens"
    blocks = len(span.target) // block_tokens if span.target.end > span.target.start else 0
    if span.keys and not unaligned and (not blocks or len(span.keys) % blocks):
        yield f"{name}.keys: {len(span.keys)} keys are no equal number for each of {blocks} blocks"
