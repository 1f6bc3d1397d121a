"""The text that llvm-objdump prints of a code object, as instructions.

In: the text. Out: for each function its instructions in order, operands still text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_FUNCTION = re.compile(r"^[0-9a-f]+ <(\S+)>:$")
_LINE = re.compile(
    r"^\t(?P<text>\S.*?)\s*// (?P<address>[0-9A-F]+):(?: [0-9A-F]{8})+(?P<label>.*)$"
)
_LABEL = re.compile(r"<(?P<function>\w+)(?:\+0x(?P<offset>[0-9a-f]+))?>")
_SUFFIX = re.compile(r"_(?:e32|e64|sdwa|dpp)$")
# An operand may hold commas in brackets; what follows the operands is parted by spaces.
_OPERAND = re.compile(r"(?:\[[^\]]*\]|\([^)]*\)|[^,\s\[(])+")
_MODIFIER = re.compile(r"^(?:glc|slc|dlc|sc0|sc1|nt|gds|lds|clamp|[a-z_0-9]+:.*)$")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, or half of one that does two things at once.

    Attributes:
        address: where it is in the code object.
        name: mnemonic without the suffix that names an encoding.
        operands: in the order of the text.
        modifiers: what follows them, such as ``offset`` (16) and ``sc0`` ("").
        target: address that a branch goes to.
        pair: the other half.
        text: the instruction as the listing has it, without its address.
    """

    address: int
    name: str
    operands: tuple[str, ...] = ()
    modifiers: Mapping[str, str] = field(default_factory=dict)
    target: int | None = None
    pair: Instruction | None = None
    text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shown = (f"{name}:{value}".rstrip(":") for name, value in self.modifiers.items())
        words = (self.name, ", ".join(self.operands), *shown)
        object.__setattr__(self, "text", " ".join(word for word in words if word))

    def __str__(self) -> str:
        return f"{self.address:x}: {self.text}"


def functions(listing: str) -> dict[str, list[Instruction]]:
    """Return the instructions of every function by its name."""
    found: dict[str, list[Instruction]] = {}
    starts: dict[str, int] = {}
    body: list[Instruction] = []
    for line in listing.splitlines():
        if heading := _FUNCTION.match(line):
            body = found[heading[1]] = []
            starts[heading[1]] = int(line.split()[0], 16)
        elif there := _LINE.match(line):
            body.append(_instruction(there, starts))
    return found


def _instruction(there: re.Match[str], starts: Mapping[str, int]) -> Instruction:
    address = int(there["address"], 16)
    target = None
    if label := _LABEL.search(there["label"]):
        target = starts[label["function"]] + int(label["offset"] or "0", 16)
    pair = None
    for text in reversed(there["text"].split(" :: ")):
        pair = _one(address, text, target, pair)
    assert pair is not None
    return pair


def _one(address: int, text: str, target: int | None, pair: Instruction | None) -> Instruction:
    name, _, rest = text.strip().partition(" ")
    words = list(_words(rest))
    modifiers = dict(word.partition(":")[::2] for word in words if _MODIFIER.match(word))
    operands = tuple(word for word in words if not _MODIFIER.match(word))
    return Instruction(address, _SUFFIX.sub("", name), operands, modifiers, target, pair)


def _words(text: str) -> Iterator[str]:
    for found in _OPERAND.finditer(text):
        yield found[0]
