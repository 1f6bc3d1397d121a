"""Upstream texts to tokens: macros expanded, conditions taken, pragmas left in place.

pcpp does the work; this module feeds it texts instead of files and gives every token
the exact place it has upstream, whatever macro it went through.
"""

from __future__ import annotations

import copy
import io
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pcpp

from xiokv.codegen.errors import Origin, SourceError, XiokvError
from xiokv.codegen.parse.stubs import PRELUDE, PRELUDE_PATH, PROTECTED_MACROS
from xiokv.codegen.parse.tokens import Token

# pcpp works with absolute paths; the texts live below this folder that is never opened.
_ROOT = "/"
_INCLUDE_FOLDER = "/include"
_FROM_MACRO = -1
_MOST_TOKENS = 1 << 18  # of one stretch of text, expanded
_DEEPEST_INCLUDE = 64
_WITH_ARGUMENT = {"define", "undef", "if", "ifdef", "ifndef"}
_OTHER_LINE_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Directive:
    """A ``#pragma`` that the preprocessor does not act upon: its words, its place."""

    words: tuple[str, ...]
    token: Token


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """Preprocessed texts: what is left to parse, and the object-like macros by name."""

    items: tuple[Token | Directive, ...]
    macros: Mapping[str, tuple[Token, ...]]


def preprocess(texts: Mapping[str, str], wanted_macros: tuple[str, ...] = ()) -> Preprocessed:
    """Preprocess every text once, in the order of their paths.

    Args:
        texts: upstream path (``include/spdk/nvme_spec.h``) to text.
        wanted_macros: object-like macros whose expansion the caller asks for; those that
            are not defined are left out of the result.
    """
    engine = _Engine({PRELUDE_PATH: PRELUDE, **texts})
    items = tuple(engine.run([PRELUDE_PATH, *sorted(texts)]))
    macros = {name: engine.macro(name) for name in wanted_macros}
    return Preprocessed(items, {name: tokens for name, tokens in macros.items() if tokens})


def _whole_numbers(raws: Iterator[Any]) -> Iterator[Any]:
    """Drop blanks, and join what pcpp cuts: ``1ULL`` into ``1UL`` and ``L``."""
    number = None
    for raw in filter(lambda raw: raw.value, raws):
        if number is not None and (raw.value[0].isalnum() or raw.value[0] in "_."):
            number.value += raw.value
            continue
        if number is not None:
            yield number
        number = raw if raw.value[0].isdigit() else None
        if number is None and raw.value.strip():
            yield raw
    if number is not None:
        yield number


@dataclass(slots=True)
class _Text:
    """A text as pcpp will see it: line ends unified, no trailing blanks, no trigraphs."""

    path: str
    text: str
    lines: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Same length throughout, so that pcpp's positions in a line hold upstream.
        text = self.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        text = _OTHER_LINE_BREAKS.sub(" ", text).replace("??", "? ")
        self.lines = [line.rstrip() for line in text.split("\n")]
        self.text = "\n".join(self.lines)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def token(self, raw: Any) -> Token:
        """Return pcpp's token with its place; one out of a macro points at the macro's use."""
        if raw.lexpos == _FROM_MACRO:
            line = raw.lineno
            column = self.line(line).find(raw.expanded_from[-1]) + 1
        else:
            line = bisect_right(self.starts, raw.lexpos)
            column = raw.lexpos - self.starts[line - 1] + 1
        return Token(raw.value, Origin(self.path, line, column), self.line(line))


class _Engine(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp over texts in memory, whose faults are errors at a place."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__()
        self._texts = {_ROOT + path: _Text(path, text) for path, text in texts.items()}
        self.add_path(_INCLUDE_FOLDER)
        self.rewrite_paths: list[
            tuple[str, str]
        ] = []  # tokens keep the path under which the text was given

    def run(self, paths: list[str]) -> Iterator[Token | Directive]:
        for path in paths:
            self.parse(self._texts[_ROOT + path].text, _ROOT + path)
            yield from self._items()

    def macro(self, name: str) -> tuple[Token, ...]:
        """Return the expansion of an object-like macro, each token at the definition."""
        macro = self.macros.get(name)
        if macro is None or macro.arglist is not None or macro.source not in self._texts:
            return ()
        text = self._texts[macro.source]
        line = text.line(macro.lineno)
        origin = Origin(text.path, macro.lineno, line.find(name) + 1)
        expanded = self.expand_macros([copy.copy(token) for token in macro.value], [name])
        return tuple(Token(raw.value, origin, line) for raw in _whole_numbers(iter(expanded)))

    def _items(self) -> Iterator[Token | Directive]:
        for raw in _whole_numbers(iter(self.token, None)):
            token = self._texts[raw.source].token(raw)
            yield Directive(self._rest_of_line(), token) if token.text == "#" else token

    def _rest_of_line(self) -> tuple[str, ...]:
        words = []
        while (raw := self.token()) is not None and "\n" not in raw.value:
            if raw.value.strip():
                words.append(raw.value)
        return tuple(words)

    def define(self, tokens: Any) -> None:
        name = tokens[0].value if not isinstance(tokens, str) else ""
        if name in PROTECTED_MACROS and name in self.macros:
            return
        super().define(tokens)
        for token in self.macros[name].value if name in self.macros else ():
            token.lexpos = _FROM_MACRO

    def undef(self, tokens: Any) -> None:
        if isinstance(tokens, str) or tokens[0].value not in PROTECTED_MACROS:
            super().undef(tokens)

    def expand_macros(self, tokens: Any, expanding_from: Any = ()) -> Any:
        expanded = super().expand_macros(tokens, [*expanding_from])
        if expanding_from and len(expanded) > _MOST_TOKENS:
            first = expanded[0]
            self.on_error(
                first.source, first.lineno, f"macro {expanding_from[0]} expands without end"
            )
        return expanded

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        if includepath not in self._texts:
            raise OSError(includepath)
        if len(self.temp_path) > _DEEPEST_INCLUDE:
            raise XiokvError(f"{includepath.removeprefix(_ROOT)}: included by itself without end")
        return io.StringIO(self._texts[includepath].text)

    def on_include_not_found(
        self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str
    ) -> None:
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

    def on_error(self, file: str, line: int, msg: str) -> None:
        text = self._texts.get(file)
        if text is None:
            raise XiokvError(f"{file}: error: {msg}")
        if msg.startswith("Could not evaluate expression"):
            msg = "this expression cannot be evaluated"  # pcpp goes on with a Python error
        shown = text.line(line)
        column = len(shown) - len(shown.lstrip()) + 1
        raise SourceError(Origin(text.path, line, column), msg.strip(), shown)

    def on_directive_handle(
        self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any
    ) -> bool | None:
        if not toks and directive.value in _WITH_ARGUMENT:
            self.on_error(directive.source, directive.lineno, f"#{directive.value} of nothing")
        if not toks and directive.value == "pragma":
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        handled: bool | None = super().on_directive_handle(
            directive, toks, ifpassthru, precedingtoks
        )
        return handled

    def on_directive_unknown(
        self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any
    ) -> bool | None:
        if directive.value == "error":
            message = "".join(token.value for token in toks)
            self.on_error(directive.source, directive.lineno, f"#error {message}")
        return None if directive.value == "pragma" else True
