"""A run that was kept: the text that `report.to_json` wrote in, a checked run out.

Nothing of the text is shown or drawn before it is known to be what a run holds.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from xiokv.runtime.bench.catalog import TABLES
from xiokv.runtime.bench.report import SCHEMA, Run
from xiokv.runtime.bench.rows import Comparison, Goal, Row
from xiokv.runtime.errors import RuntimeFault

_T = TypeVar("_T")
_NAMES: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text"}
# Categories of Unicode: control, format, surrogate, separators of lines and paragraphs.
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_CUT_WORD = re.compile(r"[\w.+-]*\s*")


def read(path: Path) -> Run:
    """Return the run that `report.to_json` wrote to a file.

    Raises:
        RuntimeFault: it is none; the message says where.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RuntimeFault(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _fault(path, "is not JSON: it is no text") from error
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise _fault(path, _why_not_json(text, error)) from error
    except (ValueError, RecursionError) as error:  # too many digits, or levels
        raise _fault(path, "is not JSON that can be read") from error
    return _Reader(path).run(document)


def _fault(path: Path, what: str) -> RuntimeFault:
    return RuntimeFault(f"{path} {what}; give what xiokv bench --json has written")


def _why_not_json(text: str, error: json.JSONDecodeError) -> str:
    begun = text.lstrip().startswith("{")
    cut = error.msg.startswith("Unterminated string") or _CUT_WORD.fullmatch(text, error.pos)
    if begun and cut:
        return f"ends early at line {len(text.splitlines())}"
    return f"is not JSON: line {error.lineno}, column {error.colno}"


class _Reader:
    """Takes a document apart; every fault names the file and the place in it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def run(self, document: Any) -> Run:
        if not isinstance(document, dict):
            self._refuse("is a JSON text, but no object")
        schema = self._text(document, "schema", "")
        if schema != SCHEMA:
            raise RuntimeFault(
                f"{self._path}: schema {schema!r}; this version of xiokv reads {SCHEMA!r}"
            )
        rows = self._member(document, "rows", list, "")
        if not rows:
            self._refuse("holds no figure")
        return Run(
            self._facts(document, "machine"),
            self._facts(document, "setting"),
            [self._row(row, f" in row {number}") for number, row in enumerate(rows, 1)],
        )

    def _facts(self, document: Any, name: str) -> dict[str, Any]:
        facts = self._member(document, name, dict, "")
        for key, value in facts.items():
            self._check_text(key, f"a name in {name}")
            if isinstance(value, str):
                self._check_text(value, f"{name}.{key}")
            else:
                self._number(facts, key, f" in {name}")
        return facts

    def _row(self, row: Any, where: str) -> Row:
        table = self._text(row, "table", where)
        if table not in TABLES:
            self._refuse(f"names a table{where} that this version does not know: {table}")
        samples = self._member(row, "samples", list, where)
        if not samples:
            self._refuse(f"has no sample{where}")
        parts = self._member(row, "comparisons", list, where)
        return Row(
            table=table,
            case=self._text(row, "case", where),
            setting=self._text(row, "setting", where),
            who=self._text(row, "who", where),
            unit=self._text(row, "unit", where),
            samples=tuple(self._finite(sample, f"samples{where}") for sample in samples),
            x=self._x(row, where),
            goal=self._goal(row, where),
            comparisons=tuple(self._comparison(part, where) for part in parts),
        )

    def _x(self, row: Any, where: str) -> float | None:
        if self._member(row, "x", object, where) is None:
            return None
        x = self._number(row, "x", where)
        if x <= 0:
            self._refuse(f"holds an x{where} that is not above 0")
        return x

    def _comparison(self, part: Any, where: str) -> Comparison:
        return Comparison(
            self._text(part, "beside", where),
            self._number(part, "times", where),
            self._goal(part, where),
        )

    def _goal(self, holder: Any, where: str) -> Goal | None:
        goal = self._member(holder, "goal", object, where)
        return None if goal is None else Goal(self._number(goal, "least", where))

    def _text(self, holder: Any, name: str, where: str) -> str:
        text = self._member(holder, name, str, where)
        self._check_text(text, f"{name}{where}")
        return text

    def _number(self, holder: Any, name: str, where: str) -> float:
        return self._finite(self._member(holder, name, object, where), f"{name}{where}")

    def _finite(self, value: Any, what: str) -> float:
        """Return a number as it is written: whole ones stay whole."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(f"holds no number as {what}")
        try:
            finite = math.isfinite(value)
        except OverflowError:  # a whole number that no float holds
            finite = False
        if not finite:
            self._refuse(f"holds no finite number as {what}")
        return value

    def _check_text(self, text: str, what: str) -> None:
        """Refuse what could steer a terminal, or has no encoding."""
        if any(unicodedata.category(letter) in _STEERING for letter in text):
            self._refuse(f"holds a control character as part of {what}")

    def _member(self, holder: Any, name: str, kind: type[_T], where: str) -> _T:
        if not isinstance(holder, dict) or name not in holder:
            self._refuse(f"has no member {name}{where}")
        value = holder[name]
        if not isinstance(value, kind):
            self._refuse(f"holds what is not {_NAMES[kind]} as {name}{where}")
        return value

    def _refuse(self, what: str) -> NoReturn:
        raise _fault(self._path, what)
