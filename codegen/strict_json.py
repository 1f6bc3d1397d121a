"""Strict reading of JSON: every value is asked for by name and type.

A `Reader` wraps one value and knows its path; whatever is missing, unknown, repeated or
of another type is an error that shows the path, such as ``$.records.x.fields[3].width``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeVar

from xiokv.codegen.errors import Origin, SourceError, XiokvError, nesting

_T = TypeVar("_T")
_NAMES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "an integer",
    bool: "a boolean",
}


class Reader:
    """One JSON value at a path."""

    def __init__(self, value: object, origin: str, path: str = "$") -> None:
        """Wrap a value; `origin` names the file in errors."""
        self._value = value
        self._origin = origin
        self._path = path
        self._taken: set[str] = set()

    @classmethod
    def parse(cls, text: str, origin: str) -> Reader:
        """Return a reader of the value that a JSON text holds."""
        try:
            with nesting(origin):
                value = json.loads(text, object_pairs_hook=_unique)
        except json.JSONDecodeError as error:
            line = text.splitlines()[error.lineno - 1] if text.strip() else None
            place = Origin(origin, error.lineno, error.colno)
            raise SourceError(place, f"not JSON: {error.msg}", line) from None
        except ValueError as error:
            raise XiokvError(f"{origin}: error: {error}") from None
        return cls(value, origin)

    def error(self, message: str) -> XiokvError:
        """Return an error at this value."""
        return XiokvError(f"{self._origin}: {self._path}: error: {message}")

    def has(self, name: str) -> bool:
        """Tell whether this object has a member."""
        return name in self._as(dict)

    def is_string(self) -> bool:
        """Tell whether this value is a string."""
        return isinstance(self._value, str)

    def take(self, name: str) -> Reader:
        """Return a member of this object; it is an error if there is none."""
        members = self._as(dict)
        if name not in members:
            raise self.error(f"member {name!r} is missing")
        self._taken.add(name)
        return self._member(name, members[name])

    def members(self) -> Iterator[tuple[str, Reader]]:
        """Yield every member of this object, in the order of the text."""
        for name, value in self._as(dict).items():
            self._taken.add(name)
            yield name, self._member(name, value)

    def items(self) -> Iterator[Reader]:
        """Yield every item of this array."""
        for index, value in enumerate(self._as(list)):
            yield Reader(value, self._origin, f"{self._path}[{index}]")

    def string(self) -> str:
        """Return this value, a string."""
        return self._as(str)

    def integer(self, least: int | None = None) -> int:
        """Return this value, an integer, which is not below `least`."""
        value = self._as(int)
        if least is not None and value < least:
            raise self.error(f"{value} is not {least} or more")
        return value

    def boolean(self) -> bool:
        """Return this value, a boolean."""
        return self._as(bool)

    def finish(self) -> None:
        """Refuse members of this object that nobody asked for."""
        unknown = sorted(self._as(dict).keys() - self._taken)
        if unknown:
            known = ", ".join(sorted(self._taken))
            raise self.error(f"unknown member {unknown[0]!r}; known here: {known}")

    def _member(self, name: str, value: object) -> Reader:
        return Reader(value, self._origin, f"{self._path}.{name}")

    def _as(self, kind: type[_T]) -> _T:
        # bool is a subclass of int in Python, but not in JSON.
        if not isinstance(self._value, kind) or (kind is int and isinstance(self._value, bool)):
            raise self.error(f"{json.dumps(self._value)[:60]} is not {_NAMES[kind]}")
        return self._value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"member {repeated!r} occurs twice in one object")
    return members
