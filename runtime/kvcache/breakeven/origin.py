"""Where a figure comes from; nothing is told without it."""

from __future__ import annotations

from enum import Enum


class Origin(Enum):
    """Where a figure comes from."""

    MEASURED = "measured"
    """By this run, on this machine."""

    RECORDED = "recorded"
    """By an earlier run, whose file was read."""

    GIVEN = "given"
    """By whoever called."""

    FORMULA = "formula"
    """Computed from counts of the model and a given speed of the machine."""

    ABSENT = "not recorded"
    """Nowhere: it counts as 0."""
