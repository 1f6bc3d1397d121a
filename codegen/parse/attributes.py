"""GNU attributes, taken out of a declaration's tokens before the C parser sees them.

``packed`` on a struct or union is noted, attributes that leave a layout alone are
dropped, and any other is a fault of the declaration: none is ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xiokv.codegen.errors import SourceError
from xiokv.codegen.parse.tokens import Token

_KEYWORDS = {"__attribute__", "__attribute"}
_RECORDS = {"struct", "union"}
_HARMLESS = {"deprecated", "unused", "used", "may_alias", "designated_init", "transparent_union"}
_UNSUPPORTED = {"_Alignas", "alignas", "_Atomic", "_Pragma", "__declspec", "__int128", "_BitInt"}


@dataclass(frozen=True, slots=True)
class Stripped:
    """Tokens without attributes; see `Chunk` for `packed` and `fault`."""

    tokens: tuple[Token, ...]
    packed: frozenset[int]
    fault: SourceError | None


def strip_attributes(tokens: Sequence[Token]) -> Stripped:
    """Take the attributes out of a declaration."""
    stripper = _Stripper()
    index = 0
    while index < len(tokens):
        if tokens[index].text in _KEYWORDS:
            end = _end_of_group(tokens, index + 1)
            stripper.attribute(tokens[index + 1 : end])
            index = end
        else:
            stripper.plain(tokens[index])
            index += 1
    return Stripped(tuple(stripper.kept), frozenset(stripper.packed), stripper.fault)


def _end_of_group(tokens: Sequence[Token], start: int) -> int:
    """Return the index behind the parenthesised group that begins at `start`."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index].text == "(") - (tokens[index].text == ")")
        if depth == 0:
            return index + 1
    return len(tokens)


class _Stripper:
    """Follows record bodies, to know which record an attribute belongs to."""

    def __init__(self) -> None:
        self.kept: list[Token] = []
        self.packed: set[int] = set()
        self.fault: SourceError | None = None
        self._open: list[int | None] = []
        self._closed: int | None = None

    def plain(self, token: Token) -> None:
        """Keep a token that is no attribute."""
        if token.text in _UNSUPPORTED:
            self._fail(token, f"{token.text} is not supported in what is taken from upstream")
        self._closed = None
        if token.text == "{":
            self._open.append(self._record_of_brace())
        elif token.text == "}" and self._open:
            self._closed = self._open.pop()
        self.kept.append(token)

    def attribute(self, group: Sequence[Token]) -> None:
        """Act upon ``((name, name(argument), ...))``."""
        depth = 0
        for token in group:
            depth += (token.text == "(") - (token.text == ")")
            if depth == 2 and token.is_name:
                self._act(token)

    def _act(self, token: Token) -> None:
        name = token.text.removeprefix("__").removesuffix("__")
        if name in _HARMLESS:
            return
        record = self._record_of_attribute()
        if name == "packed" and record is not None:
            self.packed.add(record)
        else:
            self._fail(
                token, f"attribute {name!r} is not supported here; only 'packed' on a record"
            )

    def _record_of_brace(self) -> int | None:
        """Return where the record whose body opens here is named, or its brace."""
        here = len(self.kept)
        if here and self.kept[here - 1].text in _RECORDS:
            return here
        if here > 1 and self.kept[here - 2].text in _RECORDS:
            return here - 1
        return None

    def _record_of_attribute(self) -> int | None:
        """Return the record that an attribute behind its keyword or body belongs to."""
        if self.kept and self.kept[-1].text in _RECORDS:
            return len(self.kept)
        return self._closed

    def _fail(self, token: Token, message: str) -> None:
        self.fault = self.fault or token.error(message)
