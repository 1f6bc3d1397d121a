"""C source text: comments and argument lists wrapped to 80 columns.

In: texts and items of any length. Out: lines that clang-format's LLVM style would keep,
ready for a template. Text that is not ours passes `text.c_comment` here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xiokv.codegen.render.text import c_comment

COLUMNS = 80
_TIE = "\0"


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its comment and its head, up to the opening brace."""

    doc: str
    head: str


def doc(brief: str, *more: str, indent: int = 0) -> str:
    """Return a Doxygen comment: a @brief, then one paragraph or one command a text.

    A text of `more` that begins with ``@param NAME`` or ``@return`` is such a command; one
    of which a comment can hold nothing is left out.
    """
    blocks = [_wrap(f"@brief {c_comment(brief)}", indent)]
    for text in more:
        command = text.startswith("@")
        clean = "@" + c_comment(text[1:]) if command else c_comment(text)
        if not command and clean:
            blocks.append(" " * indent + "///")
        if clean:
            blocks.append(_wrap(clean, indent))
    return "\n".join(blocks)


def _wrap(text: str, indent: int) -> str:
    lead = " " * indent + "/// "
    return textwrap.fill(
        text, COLUMNS, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False
    )


def pack(head: str, items: Iterable[str], tail: str) -> str:
    """Return ``head item, item tail``, continued under the first item where it is long.

    An item is never broken; one too long for its line overflows it.
    """
    joined = ", ".join(item.replace(" ", _TIE) for item in items) + tail.replace(" ", _TIE)
    lead = head.replace(" ", _TIE)
    wrapped = textwrap.fill(
        joined,
        COLUMNS,
        initial_indent=lead,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped.replace(_TIE, " ")


def signature(returns: str, name: str, parameters: Sequence[str]) -> str:
    """Return the head of a host and device function, up to its opening brace."""
    lead = f"XIOKV_HD static inline {returns}"
    joiner = "" if returns.endswith("*") else " "
    one = pack(f"{lead}{joiner}{name}(", parameters, ") {")
    if "\n" not in one and len(one) <= COLUMNS:
        return one
    return f"{lead}\n" + pack(f"{name}(", parameters, ") {")


def assign(target: str, value: str, indent: int = 2) -> str:
    """Return ``target = value;``, broken after the sign where it is long."""
    one = f"{' ' * indent}{target} = {value};"
    if len(one) <= COLUMNS:
        return one
    return f"{' ' * indent}{target} =\n{' ' * (indent + 4)}{value};"


def alternatives(head: str, terms: Sequence[str], tail: str) -> str:
    """Return ``head term | term tail``, one term a line where it is long."""
    one = f"{head}{' | '.join(terms)}{tail}"
    if len(one) <= COLUMNS:
        return one
    return head + f" |\n{' ' * len(head)}".join(terms) + tail
