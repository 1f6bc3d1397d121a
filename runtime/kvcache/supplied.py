"""What a backend may say of a request: by name, checked, and never estimated here.

In: what `Materialiser.supplied` returned. Out: the figures that can be recorded, and what is
the matter with the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NOT_SUPPLIED = "not supplied"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that only the backend can measure.

    Attributes:
        kind: type of its value; an int is taken for a float.
        unit: of the value.
        meaning: what it is.
    """

    kind: type[float] | type[bool]
    unit: str
    meaning: str


#: The figures that are recorded, by name.
SUPPLIED: dict[str, Figure] = {
    "ttft_seconds": Figure(float, "s", "time to the first token of the request"),
    "ppl_ratio": Figure(
        float,
        "ratio",
        "perplexity with the donors' blocks, divided by that with all tokens computed",
    ),
    "structured_correct": Figure(
        bool, "true or false", "whether the structured output of the request was right"
    ),
}


def checked(given: Mapping[str, Any]) -> tuple[dict[str, float | bool], dict[str, str]]:
    """Return the figures that can be recorded, and for each other name what is the matter."""
    problems = dict(_problems(given))
    taken = {
        name: value if SUPPLIED[name].kind is bool else float(value)
        for name, value in given.items()
        if name not in problems
    }
    return taken, problems


def _problems(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if name not in SUPPLIED:
            yield str(name), f"there is no such figure; there are {', '.join(SUPPLIED)}"
        elif not _fits(SUPPLIED[name], value):
            yield name, f"{value!r} is seen; allowed is {_allowed(SUPPLIED[name])}"


def _fits(figure: Figure, value: Any) -> bool:
    if figure.kind is bool:
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and value > 0


def _allowed(figure: Figure) -> str:
    return "True or False" if figure.kind is bool else f"a number above 0, in {figure.unit}"
