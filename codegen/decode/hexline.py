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
# "0000000 0002 0005", as hexdump and od print it unless they are told otherwise
_OF_WORDS = re.compile(r"[0-9a-f]{6,7}(?:\s+[0-9a-f]{3,})+", re.IGNORECASE)
# "unsigned char sqe[] = {", as C and xxd -i print it, and the line that follows there
_BEFORE_LIST = re.compile(r"[\w\s]*\w\s*\[\d*\]\s*=\s*(?=\{)")
_LENGTH = re.compile(r"unsigned int \w+_len = \d+;")
_END = re.compile(r"[0-9a-f]{6,16}", re.IGNORECASE)
_CHARACTERS = re.compile(r"\s\s+[|>].*$")
_SEPARATORS = re.compile(r"[\s:,]+")
_OF_LIST = re.compile(r"[{};]+")
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
    if "{" in line or "}" in line:
        return Piece(_bytes(_OF_LIST.sub(" ", _BEFORE_LIST.sub("", line)), line, origin), origin)
    plain = _CHARACTERS.sub("", line)
    if _OF_WORDS.fullmatch(plain):
        raise SourceError(
            origin,
            f"{_shown(line)!r} is of a dump in words, which hides the order of bytes; dump bytes:"
            " xxd FILE, hexdump -Cv FILE or od -A x -t x1 -v FILE",
        )
    if dumped := _WITHOUT_COLON.fullmatch(plain):
        return Piece(_bytes(dumped[2], line, origin), origin, offset=int(dumped[1], 16))
    return Piece(_bytes(plain, line, origin), origin)


def says_nothing(text: str) -> bool:
    """Tell whether a line belongs to a list of C and holds none of its bytes."""
    return bool(_LENGTH.fullmatch(text.strip()))


def ends_dump(text: str, end: int | None) -> bool:
    """Tell whether a line is nothing but the address at which a dump ends."""
    line = text.strip()
    return end is not None and bool(_END.fullmatch(line)) and int(line, 16) == end


def _before_characters(text: str) -> str:
    """Cut off what xxd prints after two blanks: the bytes as characters."""
    return re.split(r"  +", text, maxsplit=1)[0] if "\t" not in text else text


def _bytes(text: str, line: str, origin: Origin) -> bytes:
    words = [word for word in _SEPARATORS.split(text) if word]
    of_c = any(word[:2].lower() == "0x" for word in words) or "{" in line or "}" in line
    for word in words:
        if of_c and "," in line and re.fullmatch("[0-9]{2,}", word):
            raise SourceError(
                origin, f"{_shown(word)!r} may be decimal among numbers of C; write it with 0x"
            )
    if "," in line:  # a digit alone is the same in either base
        words = [word if not re.fullmatch("[0-9]", word) else f"0x0{word}" for word in words]
    return b"".join(_word(word, line, origin) for word in words)


def _word(word: str, line: str, origin: Origin) -> bytes:
    digits = word[2:] if word[:2].lower() == "0x" else word
    if digits is not word and len(digits) == 1:
        digits = f"0{digits}"
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", digits):
        raise SourceError(Origin(origin.path, origin.line), _fault(word, digits))
    data = bytes.fromhex(digits)
    is_number = digits is not word and len(digits) in _NUMBER_DIGITS
    return data[::-1] if is_number else data


def _fault(word: str, digits: str) -> str:
    shown = _shown(word)
    if re.fullmatch(r"[0-9a-fA-F]+", digits):
        count = "1 digit" if len(digits) == 1 else f"{len(digits)} digits"
        return f"{shown!r} has {count}; write two for each byte"
    return (
        f"{shown!r} is not hexadecimal; allowed are digits with or without 0x, blanks, colons"
        " and commas between them, a list of C in braces, lines of xxd or hexdump -C, and lines"
        " of a trace; a file is read by: xiokv-gen decode - < FILE"
    )


def _shown(text: str) -> str:
    shown = one_line(text)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
