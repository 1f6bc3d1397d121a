"""What it costs to compute a context: tokens in, seconds out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from xiokv.runtime.kvcache.breakeven.geometry import Geometry
from xiokv.runtime.kvcache.breakeven.origin import Origin

DEFAULT_MFU = 0.5


class Recompute(Protocol):
    """The side of the prefill."""

    @property
    def origin(self) -> Origin:
        """Where its times are from."""

    def seconds(self, tokens: Any) -> Any:
        """Return how long a prefill takes: of a number of tokens, or an array of floats."""


@dataclass(frozen=True, slots=True)
class Speed:
    """A speed that a caller knows, at every length of the context.

    Attributes:
        tokens_per_s: tokens of a prefill a second.
    """

    tokens_per_s: float

    @property
    def origin(self) -> Origin:
        """Given: it is not computed."""
        return Origin.GIVEN

    def seconds(self, tokens: Any) -> Any:
        """Return tokens by speed."""
        return tokens / self.tokens_per_s


@dataclass(frozen=True, slots=True)
class Formula:
    """FLOPs of a prefill by the FLOPs a second that a machine comes to.

    Attributes:
        geometry: the model.
        active_parameters: its own, or what the caller knows better.
        flops: peak FLOPs a second.
        mfu: the part of them that a prefill comes to.
        mfu_given: whether a caller gave it; else it is `DEFAULT_MFU`.
    """

    geometry: Geometry
    active_parameters: int
    flops: float
    mfu: float = DEFAULT_MFU
    mfu_given: bool = False

    @property
    def origin(self) -> Origin:
        """A formula: nothing is measured."""
        return Origin.FORMULA

    def seconds(self, tokens: Any) -> Any:
        """Return FLOPs by their speed."""
        flops = self.geometry.prefill_flops(tokens, self.active_parameters)
        return flops / (self.flops * self.mfu)
