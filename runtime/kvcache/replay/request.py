"""A request that is put together: pieces in, a plan out."""

from __future__ import annotations

from dataclasses import dataclass, field

from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan, Span
from xiokv.runtime.kvcache.replay.contents import content


@dataclass(frozen=True, slots=True)
class Donor:
    """A donor that a planner may name.

    Attributes:
        name: of the donor.
        rows: blocks of tokens that it has.
    """

    name: str
    rows: int


@dataclass(slots=True)
class Request:
    """A request, from its first token on.

    Attributes:
        name: of the request.
        block_tokens: tokens of a block.
        tokens: how many there are so far.
    """

    name: str
    block_tokens: int
    tokens: int = 0
    _spans: list[Span] = field(default_factory=list)
    _beginning: list[str] = field(default_factory=list)

    def same_beginning(self, donor: Donor, rows: int) -> None:
        """Begin with a donor's first blocks, token by token the same."""
        self.from_donor(donor, 0, rows)
        self._beginning = [content(donor.name, row).hex() for row in range(rows)]

    def from_donor(self, donor: Donor, first: int, rows: int) -> None:
        """Go on with blocks of a donor, which come after other tokens there."""
        size = self.block_tokens
        source = Range(first * size, (first + rows) * size)
        self._spans.append(
            DonorSpan(target=self._next(rows * size), donor=donor.name, source=source)
        )

    def fresh_rows(self, rows: int) -> None:
        """Go on with whole blocks of tokens that nobody has."""
        self.fresh(rows * self.block_tokens)

    def fresh(self, tokens: int) -> None:
        """Go on with tokens that nobody has."""
        self._spans.append(FreshSpan(target=self._next(tokens)))

    def plan(self) -> Plan:
        """Return the plan of the whole request."""
        known = len(self._beginning)
        own = range(known, self.tokens // self.block_tokens)
        return Plan(
            request=self.name,
            tokens=self.tokens,
            block_tokens=self.block_tokens,
            spans=tuple(self._spans),
            contents=(*self._beginning, *(content(self.name, row).hex() for row in own)),
        )

    def _next(self, tokens: int) -> Range:
        begin, self.tokens = self.tokens, self.tokens + tokens
        return Range(begin, self.tokens)
