"""One line of text to bytes: plain digits, a line of a dump, or a line of a trace.

In: a line as tools print it. Out: a `Piece`, or a fault that names the word which is not
understood. Which bytes belong together is for `xiokv.codegen.decode.entries` to tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xiokv.codegen.errors import Origin, SourceError
from xiokv.codegen.render.text import one_line

_TRACE = re.compile(r"([0-9]{1,20})\s+(sqe|cqe)\s+([0-9]{1,5})\s+([0-9a-f]+)", re.IGNORECASE)
# "00000010: 0102 0304  ..", as xxd prints it, and gdb with 0x before each number
_WITH_COLON = re.compile(r"(?:0x)?([0-9a-f]{4,16}):\s+(\S.*)", re.IGNORECASE)
# "00000010  01 02 03 04  |....|", as hexdump -C and od -A x -t x1z print it
_WITHOUT_COLON = re.compile(r"([0-9a-f]{6,16})\s+((?:[0-9a-f]{2}\s+)*[0-9a-f]{2})", re.IGNORECASE)
_END = re.compile(r"[0-9a-f]{6,16}", re.IGNORECASE)
_CHARACTERS = re.compile(r"\s\s+[|>].*$")
_SEPARATORS = re.compile(r"[\s:,]+")
_NUMBER_DIGITS = (4, 8, 16)  # 0x with so many digits is a number, whose low byte comes first
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Traced:
    """What a line of a trace says besides the bytes."""

    nanoseconds: int
    kind: str
    qid: int


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one line.

    Attributes:
        data: the bytes.
        origin: the line.
        offset: where a dump says that they lie; None for a line without an address.
        traced: what a line of a trace says of them.
    """

    data: bytes
    origin: Origin
    offset: int | None = None
    traced: Traced | None = None


def read_line(text: str, origin: Origin) -> Piece:
    """Return the bytes that a line states.

    Raises:
        SourceError: a word of it is neither hexadecimal digits nor a separator.
    """
    line = text.strip()
    if traced := _TRACE.fullmatch(line):
        nanoseconds, kind, qid, digits = traced.groups()
        about = Traced(int(nanoseconds), kind.lower(), int(qid))
        return Piece(_word(digits, line, origin), origin, traced=about)
    if line == "*":
        raise SourceError(
            origin,
            "'*' stands for lines that the dump leaves out; dump all of them: hexdump -Cv,"
            " od -v, xxd without -a",
        )
    if dumped := _WITH_COLON.fullmatch(line):
        digits = _before_characters(dumped[2])
        return Piece(_bytes(digits, line, origin), origin, offset=int(dumped[1], 16))
    plain = _CHARACTERS.sub("", line)
    if dumped := _WITHOUT_COLON.fullmatch(plain):
        return Piece(_bytes(dumped[2], line, origin), origin, offset=int(dumped[1], 16))
    return Piece(_bytes(plain, line, origin), origin)


def ends_dump(text: str, end: int | None) -> bool:
    """Tell whether a line is nothing but the address at which a dump ends."""
    line = text.strip()
    return end is not None and bool(_END.fullmatch(line)) and int(line, 16) == end


def _before_characters(text: str) -> str:
    """Cut off what xxd prints after two blanks: the bytes as characters."""
    return re.split(r"  +", text, maxsplit=1)[0] if "\t" not in text else text


def _bytes(text: str, line: str, origin: Origin) -> bytes:
    words = [word for word in _SEPARATORS.split(text) if word]
    return b"".join(_word(word, line, origin) for word in words)


def _word(word: str, line: str, origin: Origin) -> bytes:
    digits = word[2:] if word[:2].lower() == "0x" else word
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", digits):
        raise SourceError(Origin(origin.path, origin.line), _fault(word, digits))
    data = bytes.fromhex(digits)
    is_number = digits is not word and len(digits) in _NUMBER_DIGITS
    return data[::-1] if is_number else data


def _fault(word: str, digits: str) -> str:
    shown = one_line(word)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    if re.fullmatch(r"[0-9a-fA-F]+", digits):
        return f"{shown!r} has {len(digits)} digits; write two for each byte"
    return (
        f"{shown!r} is not hexadecimal; allowed are digits with or without 0x, blanks, colons"
        " and commas between them, lines of xxd or hexdump -C, and lines of a trace"
    )
