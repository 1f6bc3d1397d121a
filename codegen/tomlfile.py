"""TOML files read key by key, with the place of every fault.

In: a TOML text and the name to show for it. Out: typed values. A value of another type,
a key that is missing and a key that nobody asked for are kept and reported together by
`Document.close`; until then a faulty key reads as its default.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from xiokv.codegen.errors import Origin, Problems, UsageError, XiokvError, nesting
from xiokv.codegen.files import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

T = TypeVar("T")

_TYPE_NAMES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    list: "a list",
    dict: "a table",
}
_HEADER = re.compile(r"\s*\[{1,2}\s*([^\]]*?)\s*\]{1,2}")


class Document:
    """A parsed TOML text and the faults found in it so far."""

    def __init__(self, text: str, name: str) -> None:
        """Parse `text`; `name` is the path that messages show."""
        self.name = name
        self._lines = text.splitlines()
        self._problems = Problems()
        try:
            with nesting(name):
                values = tomllib.loads(text)
        except ValueError as error:  # numbers of thousands of digits among them
            raise XiokvError(f"{name}: not valid TOML: {error}") from error
        self.root = Table(self, "", values)

    @classmethod
    def read(cls, path: Path, name: str) -> Document:
        """Read and parse a file."""
        text = read_text(path, name)
        if text is None:
            raise XiokvError(f"{name}: there is no such file")
        return cls(text, name)

    def fault(self, section: str, key: str, message: str, index: int = 0) -> None:
        """Keep a fault of one key, with its line where the text shows it plainly."""
        self._problems.add(UsageError(f"{self.origin(section, key, index)}: {message}"))

    def origin(self, section: str, key: str, index: int = 0) -> Origin:
        """Return the place of one key; `index` counts the tables of the same header."""
        return Origin(self.name, self._line_of(section, key, index))

    def close(self) -> None:
        """Refuse keys that nobody asked for, then raise whatever was found."""
        self.root.refuse_unknown()
        self._problems.raise_if_any()

    def _line_of(self, section: str, key: str, index: int) -> int:
        wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        here, child, header_line = "", f"{section}.{key}".lstrip("."), 0
        seen: Counter[str] = Counter()
        for number, line in enumerate(self._lines, 1):
            header = _HEADER.match(line)
            if header:
                here = header[1]
                seen[here] += 1
                if here == section and seen[here] == index + 1:
                    header_line = number  # of what lacks the key
            of_section = here == section and seen[here] in (0, index + 1)
            if (of_section and wanted.match(line)) or (header and here == child):
                return number
        return header_line


class Table:
    """One table of a document; it remembers which keys were asked for."""

    def __init__(
        self, document: Document, name: str, values: dict[str, Any], index: int = 0
    ) -> None:
        """Wrap `values`; `name` is the dotted header, empty for the top level.

        `index` tells apart the members of an array of tables.
        """
        self._document = document
        self._name = name
        self._index = index
        self._values = values
        self._children: list[Table] = []
        self._known: set[str] = set()
        self._not_read: set[str] = set()

    def has(self, key: str) -> bool:
        """Tell whether the text gives a value, of whatever type."""
        self._known.add(key)
        return key in self._values

    def string(self, key: str, default: str | None = None) -> str:
        """Return a string."""
        return self._take(key, str, default)

    def integer(self, key: str, default: int | None = None) -> int:
        """Return an integer."""
        return self._take(key, int, default)

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Return a boolean."""
        return self._take(key, bool, default)

    def strings(self, key: str, default: Iterable[str] = ()) -> tuple[str, ...]:
        """Return a list of strings."""
        return self._list(key, str, "strings", default)

    def integers(self, key: str) -> tuple[int, ...]:
        """Return a list of integers."""
        return self._list(key, int, "integers")

    def names(self) -> list[str]:
        """Return the keys of a table whose keys are free names."""
        return list(self._values)

    def table(self, key: str) -> Table:
        """Return a table below this one; an empty one where the text has none."""
        return self._child(key, self._take(key, dict, {}))

    def tables(self, key: str) -> list[Table]:
        """Return an array of tables."""
        if isinstance(self._values.get(key), dict):
            self._known.add(key)
            name = f"{self._name}.{key}".lstrip(".")
            self.fault(key, f"[{name}] is one table; there may be several, so write [[{name}]]")
            return []
        found = self._take(key, list, [])
        for value in found:
            if not isinstance(value, dict):
                self.fault(key, f"{key} must be a list of tables, not {value!r}")
        members = (value for value in found if isinstance(value, dict))
        return [self._child(key, value, index) for index, value in enumerate(members)]

    def fault(self, key: str, message: str) -> None:
        """Keep a fault of one key of this table, unless its value could not even be read."""
        if key not in self._not_read:
            self._document.fault(self._name, key, message, self._index)

    def origin(self, key: str) -> Origin:
        """Return the place of one key of this table."""
        return self._document.origin(self._name, key, self._index)

    def refuse_unknown(self) -> None:
        """Keep a fault for every key that nobody asked for, here and below."""
        allowed = sorted(self._known)
        for key in (key for key in self._values if key not in self._known):
            near = get_close_matches(key.lower(), allowed, n=1, cutoff=0.5)
            all_of_them = f"allowed: {', '.join(allowed)}"
            advice = f"the nearest is {near[0]!r} ({all_of_them})" if near else all_of_them
            place = f" in [{self._name}]" if self._name else ""
            self.fault(key, f"unknown key {key!r}{place}; {advice}")
        for child in self._children:
            child.refuse_unknown()

    def _list(
        self, key: str, kind: type[T], kinds: str, default: Iterable[T] = ()
    ) -> tuple[T, ...]:
        found = self._take(key, list, list(default))
        strange = [value for value in found if type(value) is not kind]
        for value in strange:
            self.fault(key, f"{key} must be a list of {kinds}, not {value!r}")
        if strange:
            self._not_read.add(key)
        return tuple(value for value in found if type(value) is kind)

    def _child(self, key: str, values: dict[str, Any], index: int = 0) -> Table:
        child = Table(self._document, f"{self._name}.{key}".lstrip("."), values, index)
        self._children.append(child)
        return child

    def _take(self, key: str, kind: type[T], default: T | None) -> T:
        self._known.add(key)
        value = self._values.get(key, default)
        if type(value) is kind:
            return value
        if value is None:
            self.fault(key, f"{self._name or 'the file'} lacks {key}")
        else:
            self.fault(key, f"{key} must be {_TYPE_NAMES[kind]}, not {value!r}")
        self._not_read.add(key)
        return kind() if default is None else default
