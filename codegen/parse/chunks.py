"""Tokens to top-level declarations, each with the packing that is in force for it.

A header is cut at its top level so that one declaration which cannot be understood does
not hide the others. ``#pragma pack`` and ``__attribute__`` are taken out here, because
the C parser knows neither; what would change a layout and is not supported is kept as
the declaration's fault, and raised only if that declaration is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xiokv.codegen.errors import SourceError
from xiokv.codegen.parse.attributes import strip_attributes
from xiokv.codegen.parse.preprocess import Directive
from xiokv.codegen.parse.tokens import Token

_OPENING = {"(", "[", "{"}
_CLOSING = {")", "]", "}"}
_PACK_VALUES = {"1", "2", "4", "8", "16"}
_LAYOUT_PRAGMAS = {"scalar_storage_order", "ms_struct", "options", "align"}


@dataclass(frozen=True, slots=True)
class Chunk:
    """One top-level declaration.

    Attributes:
        tokens: its tokens, closing semicolon included, attributes removed.
        pack: limit on alignment in bytes set by ``#pragma pack``; 0 for none.
        packed: indices of the tokens that follow ``struct`` or ``union`` in records with
            the ``packed`` attribute; the C parser places a record there.
        fault: why its layout cannot be known, if so.
        is_function: a function with a body.
    """

    tokens: tuple[Token, ...]
    pack: int
    packed: frozenset[int]
    fault: SourceError | None
    is_function: bool


def split(items: Iterable[Token | Directive]) -> Iterator[Chunk]:
    """Cut a token stream into its top-level declarations."""
    packing = _Packing()
    current: list[Token] = []
    fault: SourceError | None = None
    depth = 0
    for item in items:
        if isinstance(item, Directive):
            if packing.apply(item) and current:
                fault = item.token.error("#pragma pack inside a declaration is not supported")
            continue
        current.append(item)
        depth += (item.text in _OPENING) - (item.text in _CLOSING)
        if depth > 0:
            continue
        if item.text == ";" or (item.text == "}" and _has_function_body(current)):
            yield from _with_asserts(current, packing.limit, fault)
            current, fault, depth = [], None, 0
    if current:
        yield _chunk(current, packing.limit, current[0].error("this declaration never ends"))


def _with_asserts(tokens: list[Token], pack: int, fault: SourceError | None) -> Iterator[Chunk]:
    """Yield a declaration, then the static asserts from within it as their own ones."""
    rest, asserts = [tokens[0]], []
    index = 1
    while index < len(tokens):
        if tokens[index].text == "_Static_assert":
            texts = [token.text for token in tokens[index:]]
            end = index + texts.index(";") + 1 if ";" in texts else len(tokens)
            asserts.append(tokens[index:end])
            index = end
        else:
            rest.append(tokens[index])
            index += 1
    for part in (rest, *asserts):
        yield _chunk(part, pack, fault)


def _chunk(tokens: list[Token], pack: int, fault: SourceError | None) -> Chunk:
    stripped = strip_attributes(tokens)
    return Chunk(
        tokens=stripped.tokens,
        pack=pack,
        packed=stripped.packed,
        fault=fault or stripped.fault,
        is_function=tokens[-1].text == "}",
    )


def _has_function_body(tokens: list[Token]) -> bool:
    """Tell whether the brace group that ends `tokens` is a function's body."""
    plain = strip_attributes(tokens).tokens
    depth = 0
    for index in range(len(plain) - 1, -1, -1):
        depth += (plain[index].text == "}") - (plain[index].text == "{")
        if depth == 0:
            return index > 0 and plain[index - 1].text == ")"
    return False


class _Packing:
    """The state of ``#pragma pack``: a limit in force and the stack of saved ones."""

    def __init__(self) -> None:
        self.limit = 0
        self._saved: list[int] = []

    def apply(self, directive: Directive) -> bool:
        """Act upon a pragma; return whether it was one of packing."""
        words = directive.words[1:]
        if words and words[0] in _LAYOUT_PRAGMAS:
            raise directive.token.error(f"#pragma {words[0]} changes layouts and is not supported")
        if not words or words[0] != "pack":
            return False
        arguments = [word for word in words[1:] if word not in {"(", ")", ","}]
        if not arguments:
            self.limit = 0
        elif arguments[0] == "pop" and len(arguments) == 1:
            if not self._saved:
                raise directive.token.error("#pragma pack(pop) without a push before it")
            self.limit = self._saved.pop()
        elif arguments[0] == "push" and len(arguments) <= 2:
            self._saved.append(self.limit)
            self._set(directive, arguments[1:])
        else:
            self._set(directive, arguments)
        return True

    def _set(self, directive: Directive, values: list[str]) -> None:
        for value in values:
            if value not in _PACK_VALUES or len(values) != 1:
                raise directive.token.error(
                    f"#pragma {' '.join(directive.words[1:])} is not understood; known are "
                    "pack(n), pack(push, n), pack(push), pack(pop) and pack() with n of 1 to 16"
                )
            self.limit = int(value)
