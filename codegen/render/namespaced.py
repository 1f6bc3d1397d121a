"""Puts rendered C code into the project's C++ namespace.

In: ``{path: text}`` as rendered for all projects, and the names of this one's copy. Out: the
same headers and kernels in a folder of the namespace's name. What they declare is in the
namespace where C++ reads them; C sees the plain names. Macros, which know no namespace,
begin with its name in place of ``XIOKV_``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from itertools import groupby

from xiokv.codegen.naming import Names

_HEADERS = "include/xiokv/"
# Those of libxiokv, which has one interface of plain names, whatever a project's copy is called.
_LIBRARY = (
    "include/xiokv.h",
    "include/xiokv_emulator.h",
    "include/xiokv_rados.h",
    "include/xiokv/host_streams.h",
)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+XIOKV_(\w+)", re.MULTILINE)
_WORD = re.compile(r"\bXIOKV_(\w+)")
_PATH = re.compile(r"(?<![\w./-])xiokv/(?=[a-z_/]+\.h\b)")
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)")


class _Kind(Enum):
    """What a line is to the namespace."""

    OUTSIDE = auto()  # includes, what decides between them, and "once"
    CODE = auto()
    OTHER = auto()  # blank, a comment or another directive: wherever its neighbours are


def in_namespace(texts: dict[str, str], names: Names) -> dict[str, str]:
    """Return the texts by their paths, relative to the output folder, in the namespace."""
    if not names.cpp_namespace:
        return texts
    texts = {path: text for path, text in texts.items() if path not in _LIBRARY}
    ours = {path for path in texts if path.startswith(_HEADERS) or path.endswith(".cpp")}
    macros = {name for path in ours for name in _DEFINED.findall(texts[path])}
    return {
        _path(path, names): _text(text, macros, names) if path in ours else text
        for path, text in texts.items()
    }


def _path(path: str, names: Names) -> str:
    return re.sub(f"^{_HEADERS}", f"include/{names.folder}/", path)


def _text(text: str, macros: set[str], names: Names) -> str:
    def renamed(word: re.Match[str]) -> str:
        return f"{names.macros}{word[1]}" if word[1] in macros else word[0]

    text = _PATH.sub(f"{names.folder}/", _WORD.sub(renamed, text))
    return "\n".join([*_wrapped(text.splitlines(), names.cpp_namespace), ""])


def _wrapped(lines: list[str], namespace: str) -> Iterator[str]:
    """Yield the lines, each stretch between includes in the namespace if it has code."""
    pairs = zip(_kinds(lines), lines, strict=True)
    for _, stretch in groupby(pairs, lambda pair: pair[0] is _Kind.OUTSIDE):
        kinds, same = zip(*stretch, strict=True)
        yield from _enclosed(list(same), namespace) if _Kind.CODE in kinds else same


def _kinds(lines: list[str]) -> list[_Kind]:
    kinds: list[_Kind] = []
    conditions: list[int] = []  # the lines at which those begin that are open
    continues = False
    for number, line in enumerate(lines):
        directive = None if continues else _DIRECTIVE.match(line)
        kinds.append(kinds[-1] if continues else _kind(line, directive))
        continues = line.endswith("\\") and (continues or directive is not None)
        if directive and directive[1].startswith("if"):
            conditions.append(number)
        elif directive and directive[1] == "endif":
            _settle(kinds, conditions.pop())
    return kinds


def _kind(line: str, directive: re.Match[str] | None) -> _Kind:
    if directive:
        outside = directive[1] == "include" or line.split() == ["#pragma", "once"]
        return _Kind.OUTSIDE if outside else _Kind.OTHER
    return _Kind.CODE if line and not line.startswith("//") else _Kind.OTHER


def _settle(kinds: list[_Kind], start: int) -> None:
    """Leave outside what a condition that has just ended decides, if it is about includes."""
    if _Kind.OUTSIDE in kinds[start:]:
        if _Kind.CODE in kinds[start:]:
            raise ValueError("one condition holds code and an include")
        kinds[start:] = [_Kind.OUTSIDE] * len(kinds[start:])


def _enclosed(lines: list[str], namespace: str) -> Iterator[str]:
    first = next(index for index, line in enumerate(lines) if line)
    last = next(index for index in reversed(range(len(lines))) if lines[index]) + 1
    yield from lines[:first]
    yield from ("#ifdef __cplusplus", f"namespace {namespace} {{", "#endif", "")
    yield from lines[first:last]
    yield from ("", "#ifdef __cplusplus", f"}} // namespace {namespace}", "#endif")
    yield from lines[last:]
