"""Plans such as planners make of wrapped documents, tools and retrieval: a recipe in.

Lengths are those of such prompts, in tokens, and of whole blocks wherever blocks are to be
moved. The same recipe gives the same plans.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from xiokv.runtime.kvcache.plan import Plan
from xiokv.runtime.kvcache.replay.request import Donor, Request

Shape = Literal["wrapper", "tool", "rag", "mixed"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

# How many there are of each, and the tokens that one has.
_WRAPPERS = 8, (64, 512)
_DOCUMENTS = 48, (512, 4096)
_AGENTS = 4, (256, 1024)
_TOOLS = 32, (64, 512)
_RESULTS = 64, (128, 2048)
_INSTRUCTIONS = 4, (64, 256)
_PASSAGES = 200, (256, 1024)
# What of it was changed since, or is asked.
_EDITED = 0.2
_TURN = 32, 256
_QUESTION = 16, 128


@dataclass(frozen=True, slots=True)
class Recipe:
    """What plans are to be made.

    Attributes:
        count: how many.
        seed: of everything that is drawn.
        shape: which kind.
        block_tokens: tokens of a block.
    """

    count: int
    seed: int = 1
    shape: Shape = "mixed"
    block_tokens: int = 64


def generate(recipe: Recipe) -> Iterator[Plan]:
    """Yield the plans of a recipe, one at a time."""
    chance = random.Random(f"plans {recipe.seed}")  # noqa: S311 - to be the same each time
    for number in range(recipe.count):
        shape = recipe.shape
        if shape == "mixed":
            shape = chance.choice(("wrapper", "tool", "rag"))
        request = Request(f"{shape}-{recipe.seed}-{number}", recipe.block_tokens)
        _MAKERS[shape](request, _Library(recipe, chance))
        yield request.plan()


class _Library:
    """What prompts are made of; each piece has its length by its name.

    Args:
        recipe: what is made.
        chance: of what is drawn.
    """

    def __init__(self, recipe: Recipe, chance: random.Random) -> None:
        self.chance = chance
        self._recipe = recipe

    def one(self, name: str, kind: tuple[int, tuple[int, int]]) -> Donor:
        """Return a piece; the first ones are drawn most often."""
        return self.some(name, kind, 1)[0]

    def some(self, name: str, kind: tuple[int, tuple[int, int]], number: int) -> list[Donor]:
        """Return different pieces, in any order."""
        count, tokens = kind
        drawn: dict[int, Donor] = {}
        while len(drawn) < number:
            index = int(count ** self.chance.random()) - 1
            drawn.setdefault(index, self._piece(f"{name}-{index}", tokens))
        return list(drawn.values())

    def rows(self, tokens: tuple[int, int]) -> int:
        """Return a length in whole blocks."""
        return max(1, self.chance.randint(*tokens) // self._recipe.block_tokens)

    def tokens(self, tokens: tuple[int, int]) -> int:
        """Return a length in tokens."""
        return self.chance.randint(*tokens)

    def of(self, name: str, choices: Sequence[Donor]) -> Donor:
        """Return the choice that belongs to a name."""
        return self._drawn(name).choice(choices)

    def all(self, name: str, kind: tuple[int, tuple[int, int]]) -> list[Donor]:
        """Return all pieces of a kind."""
        count, tokens = kind
        return [self._piece(f"{name}-{index}", tokens) for index in range(count)]

    def _piece(self, name: str, tokens: tuple[int, int]) -> Donor:
        rows = max(1, self._drawn(name).randint(*tokens) // self._recipe.block_tokens)
        return Donor(f"{name}-{self._recipe.seed}", rows)

    def _drawn(self, name: str) -> random.Random:
        return random.Random(f"{name} {self._recipe.seed}")  # noqa: S311


def _wrapper(request: Request, library: _Library) -> None:
    """A document in a wrapper; another request had it in a wrapper, too, maybe this one."""
    document = library.one("document", _DOCUMENTS)
    first = library.of(document.name, library.all("wrapper", _WRAPPERS))
    wrapper = library.one("wrapper", _WRAPPERS)
    donor = Donor(f"wrapped-{document.name}", first.rows + document.rows)
    if wrapper == first:
        request.same_beginning(donor, donor.rows)
    else:
        request.same_beginning(wrapper, wrapper.rows)
        _maybe_edited(request, library, donor, first.rows)
    request.fresh(library.tokens(_QUESTION))


def _tool(request: Request, library: _Library) -> None:
    """An agent's prompt, schemas of tools in any order, then turns with their results."""
    agent = library.one("agent", _AGENTS)
    request.same_beginning(agent, agent.rows)
    for schema in library.some("tool", _TOOLS, library.chance.randint(2, 8)):
        request.from_donor(schema, 0, schema.rows)
    for result in library.some("result", _RESULTS, library.chance.randint(1, 4)):
        request.fresh_rows(library.rows(_TURN))
        _maybe_edited(request, library, result, 0)
    request.fresh(library.tokens(_QUESTION))


def _rag(request: Request, library: _Library) -> None:
    """An instruction and retrieved passages in any order."""
    instruction = library.one("instruction", _INSTRUCTIONS)
    request.same_beginning(instruction, instruction.rows)
    for passage in library.some("passage", _PASSAGES, library.chance.randint(3, 10)):
        # Its blocks were computed behind an instruction of their own.
        request.from_donor(Donor(passage.name, passage.rows + 1), 1, passage.rows)
    request.fresh(library.tokens(_QUESTION))


def _maybe_edited(request: Request, library: _Library, donor: Donor, first: int) -> None:
    """Take a donor's blocks from `first` on, at times all but one that was changed since."""
    rows = donor.rows - first
    if rows < 3 or library.chance.random() >= _EDITED:
        request.from_donor(donor, first, rows)
        return
    changed = library.chance.randint(1, rows - 2)
    request.from_donor(donor, first, changed)
    request.fresh_rows(1)
    request.from_donor(donor, first + changed + 1, rows - changed - 1)


_MAKERS: dict[str, Callable[[Request, _Library], None]] = {
    "wrapper": _wrapper,
    "tool": _tool,
    "rag": _rag,
}
