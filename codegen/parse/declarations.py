"""Top-level declarations to syntax trees, found by tag or name.

Each declaration is parsed on its own: one that the C parser refuses is kept as a fault
of the names it would define, and matters only to who asks for them. Inside the text
given to pycparser every token has a line of its own, so that a line number there is a
token, and thereby an exact place upstream.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast, c_parser

from xiokv.codegen.errors import SourceError
from xiokv.codegen.parse.chunks import Chunk
from xiokv.codegen.parse.tokens import Token
from xiokv.codegen.parse.types import base_type

_TAGGED = {"struct", "union", "enum"}
# What may begin a member, other than the name of a type.
_SPECIFIERS = {"const", "volatile", "signed", "unsigned", *_TAGGED}
_FIRST_TOKEN_LINE = 2


@dataclass(frozen=True, slots=True)
class Declared:
    """A part of a syntax tree and the declaration it belongs to."""

    node: Any
    chunk: Chunk

    def at(self, node: Any) -> Declared:
        """Return another node of the same declaration."""
        return Declared(node, self.chunk)

    @property
    def index(self) -> int:
        """Index of the node's token in its chunk; of the first one where it has no place."""
        line = self.node.coord.line if self.node.coord else 0
        return _token_index(line, len(self.chunk.tokens))

    @property
    def token(self) -> Token:
        """Token of the node."""
        return self.chunk.tokens[self.index]

    def error(self, message: str) -> SourceError:
        """Return an error at the node."""
        return self.token.error(message)


@dataclass(slots=True)
class Declarations:
    """What the texts declare.

    Attributes:
        tagged: struct, union and enum definitions by tag.
        typedefs: the declaration behind each typedef name.
        enumerators: the enum that each enumerator belongs to.
        asserts: every static assert, in order.
        faults: why a tag or typedef name that is declared cannot be used.
    """

    tagged: dict[str, Declared] = field(default_factory=dict)
    typedefs: dict[str, Declared] = field(default_factory=dict)
    enumerators: dict[str, Declared] = field(default_factory=dict)
    asserts: list[Declared] = field(default_factory=list)
    faults: dict[str, SourceError] = field(default_factory=dict)


def declare(chunks: Iterable[Chunk]) -> Declarations:
    """Parse the declarations that define types, and the static asserts."""
    found = Declarations()
    parser = _Parser(found)
    for chunk in filter(_is_wanted, chunks):
        try:
            _index(parser.declarations(chunk), chunk, found)
        except SourceError as fault:
            _keep_fault(chunk, fault, found)
    return found


def parse_expression(tokens: Sequence[Token], found: Declarations) -> Declared:
    """Parse a constant expression, such as the expansion of a macro."""
    first = tokens[0]
    head, tail = (
        [Token(text, first.origin, first.line_text) for text in texts]
        for texts in (("int", "x", "=", "("), (")", ";"))
    )
    chunk = Chunk((*head, *tokens, *tail), 0, frozenset(), None, is_function=False)
    (declaration,) = _Parser(found).declarations(chunk)
    return Declared(declaration.init, chunk)


class _Parser:
    """pycparser, told of the typedef names that a declaration uses."""

    def __init__(self, found: Declarations) -> None:
        self._found = found
        self._parser = c_parser.CParser()

    def declarations(self, chunk: Chunk) -> list[Any]:
        """Return the syntax trees of one top-level declaration."""
        if chunk.fault is not None:
            raise chunk.fault
        try:
            return self._parse(chunk.tokens)
        except c_parser.ParseError as error:
            raise self._fault(chunk.tokens, str(error)) from None
        except RecursionError:
            raise chunk.tokens[0].error("this declaration is nested too deeply") from None

    def _parse(self, tokens: Sequence[Token], tail: str = "") -> list[Any]:
        names = dict.fromkeys(t.text for t in tokens if self._is_typedef(t.text))
        prelude = " ".join(f"typedef int {name};" for name in names)
        text = "\n".join([prelude, *(token.text for token in tokens), tail])
        return list(self._parser.parse(text).ext[len(names) :])

    def _is_typedef(self, name: str) -> bool:
        return name in self._found.typedefs or name in self._found.faults

    def _fault(self, tokens: Sequence[Token], message: str) -> SourceError:
        """Return an error at the place that pycparser names, or at the first bad member."""
        begin = self._first_bad_member(tokens)
        member = tokens[begin]
        if self._is_unknown_type(tokens[max(begin - 1, 0) : begin + 2]):
            return member.error(f"unknown type name {member.text!r}")
        place = re.match(r"[^:]*:(\d+)", message)
        token = tokens[_token_index(int(place[1]), len(tokens))] if place else member
        return token.error(f"this declaration is not understood near {token.text!r}")

    def _is_unknown_type(self, around: Sequence[Token]) -> bool:
        """Tell whether the middle one of three tokens stands where a type must, and is none."""
        if len(around) != 3 or around[0].text not in {"{", ";"}:
            return False
        name, after = around[1:]
        is_type = base_type([name.text]) or self._is_typedef(name.text) or name.text in _SPECIFIERS
        return name.is_name and not is_type and (after.is_name or after.text == "*")

    def _first_bad_member(self, tokens: Sequence[Token]) -> int:
        """Return the index where the first member begins that the parser refuses."""
        begin = depth = 0
        for index, token in enumerate(tokens):
            depth += (token.text == "{") - (token.text == "}")
            if token.text == "{":
                begin = index + 1
            elif depth and token.text in {";", ","}:
                try:
                    self._parse(tokens[: index + 1], "};" * depth)
                except c_parser.ParseError:
                    return begin
                begin = index + 1
        return begin


def _token_index(line: int, count: int) -> int:
    return min(max(line - _FIRST_TOKEN_LINE, 0), count - 1)


def _is_wanted(chunk: Chunk) -> bool:
    """Tell whether a declaration can define a type or assert something."""
    if chunk.is_function or not chunk.tokens:
        return False
    begins = chunk.tokens[0].text
    return begins in {"typedef", "_Static_assert"} or bool(_defined_tags(chunk))


def _defined_tags(chunk: Chunk) -> list[str]:
    """Return the tags that have a body here; an empty one for a body without a tag."""
    tags = []
    for index, token in enumerate(chunk.tokens):
        if token.text in _TAGGED:
            after = [t.text for t in chunk.tokens[index + 1 : index + 3]]
            if after[:1] == ["{"]:
                tags.append("")
            elif after[1:] == ["{"]:
                tags.append(after[0])
    return tags


def _index(nodes: Iterable[Any], chunk: Chunk, found: Declarations) -> None:
    for node in nodes:
        if isinstance(node, c_ast.Typedef):
            found.typedefs[node.name] = Declared(node, chunk)
        elif isinstance(node, c_ast.StaticAssert):
            found.asserts.append(Declared(node, chunk))
        for part in _definitions(node):
            declared = Declared(part, chunk)
            if part.name:
                found.tagged[part.name] = declared
            if isinstance(part, c_ast.Enum):
                found.enumerators.update((n.name, declared) for n in part.values.enumerators)


def _definitions(node: Any) -> Iterator[Any]:
    """Yield the struct, union and enum bodies at or below a node."""
    if isinstance(node, c_ast.Struct | c_ast.Union):
        if node.decls is not None:
            yield node
            for member in node.decls:
                yield from _definitions(member)
    elif isinstance(node, c_ast.Enum):
        if node.values is not None:
            yield node
    elif hasattr(node, "type") and not isinstance(node, c_ast.Constant):
        yield from _definitions(node.type)


def _keep_fault(chunk: Chunk, fault: SourceError, found: Declarations) -> None:
    if chunk.tokens[0].text == "_Static_assert":
        raise fault
    for tag in filter(None, _defined_tags(chunk)):
        found.faults[tag] = fault
    if chunk.tokens[0].text == "typedef":
        names = [token.text for token in chunk.tokens if token.is_name]
        found.faults[names[-1]] = fault
