"""A measurement that was kept: the file of ``xiokv breakeven --json`` in, a `Fetch` out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.breakeven.fetch import Fetch, FetchCost, Timing, fitted
from xiokv.runtime.kvcache.breakeven.origin import Origin

SCHEMA = "xiokv-breakeven/1"

_T = TypeVar("_T")
_PLACES = ("device", "host")
_COUNT_MAX = 1 << 40
_MICROSECOND = 1e-6
_TIME_MAX = 1e15


def read(path: Path) -> Fetch | None:
    """Return the fetch side that a file holds; None where it is no file of this kind.

    Raises:
        RuntimeFault: it is of this kind, and damaged, or its fetch side was not measured.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # the reader of other files says what is wrong
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return None
    return _Reader(path).fetch(_Reader(path).member(document, "fetch", dict, ""))


class _Reader:
    """Takes a document apart; every fault names the file and the place in it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def fetch(self, side: dict[str, Any]) -> Fetch:
        if self.member(side, "origin", str, " in fetch") != Origin.MEASURED.value:
            self._refuse("was not measured: give the file of the run that was")
        place = self.member(side, "place", str, " in fetch")
        costs = self.member(side, "costs", list, " in fetch")
        if place not in _PLACES or not costs:
            self._refuse("holds no place of its blocks, or no blocks; measure again")
        return Fetch(
            origin=Origin.RECORDED,
            costs=tuple(
                self._cost(cost, f" in block size {number}") for number, cost in enumerate(costs, 1)
            ),
            place=place,
            file=str(self._path),
            date=self._text(side, "date", " in fetch"),
            machine=self._facts(side, "machine"),
            setting=self._facts(side, "setting"),
        )

    def member(self, holder: Any, name: str, kind: type[_T], where: str) -> _T:
        if not isinstance(holder, dict) or not isinstance(holder.get(name), kind):
            self._refuse(f"has no {kind.__name__} {name}{where}")
        value: _T = holder[name]
        return value

    def _cost(self, cost: Any, where: str) -> FetchCost:
        size = self._whole(cost, "block_bytes", where)
        one, many = (self._timing(cost, name, where) for name in ("one", "many"))
        if one.blocks != 1 or many.blocks < 2:
            self._refuse(f"holds no time of one block and of many{where}")
        return fitted(size, one, many, Origin.RECORDED)

    def _timing(self, cost: Any, name: str, where: str) -> Timing:
        timing = self.member(cost, name, dict, where)
        samples = self.member(timing, "samples_us", list, f" of {name}{where}")
        if not samples or not all(map(_is_time, samples)):
            self._refuse(f"holds no times above 0 as samples_us of {name}{where}")
        blocks = self._whole(timing, "blocks", f" of {name}{where}")
        return Timing(blocks, tuple(us * _MICROSECOND for us in samples))

    def _whole(self, holder: Any, name: str, where: str) -> int:
        number = self.member(holder, name, int, where)
        if isinstance(number, bool) or not 1 <= number <= _COUNT_MAX:
            self._refuse(f"holds no number above 0 as {name}{where}")
        return number

    def _text(self, holder: Any, name: str, where: str) -> str:
        text = self.member(holder, name, str, where)
        if not text.isprintable():
            self._refuse(f"holds a control character as part of {name}{where}")
        return text

    def _facts(self, side: dict[str, Any], name: str) -> dict[str, Any]:
        facts = self.member(side, name, dict, " in fetch")
        for key, value in facts.items():
            if not (key.isprintable() and isinstance(value, str | int | float)):
                self._refuse(f"holds no fact as {name}.{key!r}")
            if isinstance(value, str):
                self._text(facts, key, f" in {name}")
        return facts

    def _refuse(self, what: str) -> NoReturn:
        raise RuntimeFault(f"{self._path} {what}")


def _is_time(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value < _TIME_MAX
