"""One finding: what was looked for, what was seen, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from xiokv.codegen.errors import XiokvError


class State(Enum):
    """How it stands with what was looked for."""

    OK = "ok"
    MISSING = "missing"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen of one thing.

    Attributes:
        name: what was looked for.
        found: whether it is there and can be used.
        seen: what was seen.
        advice: what to do; empty where nothing is to be done.
        needed: whether the project's targets need it.
    """

    name: str
    found: bool
    seen: str
    advice: str = ""
    needed: bool = False

    @property
    def state(self) -> State:
        """Missing is what is needed; what nobody needs is a note."""
        if self.found and not self.advice:
            return State.OK
        return State.MISSING if self.needed and not self.found else State.NOTE


def failed(name: str, error: XiokvError, *, needed: bool = True) -> Finding:
    """Return a finding of what an error says: its first line, cut where the advice begins."""
    seen, _, advice = str(error).splitlines()[0].partition("; ")
    return Finding(name, False, seen, advice, needed)
