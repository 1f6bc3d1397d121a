"""Hold what came back against what had to: the first thing that is wrong, or nothing.

In: the result of a batch, the blocks it was of, and the buffer it filled. A difference is
raised as a `Mismatch`, which names the key, the place, and what is there instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xiokv.runtime import statuses
from xiokv.runtime.abi import Outcome
from xiokv.runtime.results import Result
from xiokv.runtime.verify import stamps
from xiokv.runtime.verify.blocks import Blocks
from xiokv.runtime.verify.scenarios import Fate
from xiokv.runtime.verify.slots import Slots
from xiokv.runtime.verify.stamps import POISON, WORD_BYTES

_HAS_VALUE = (Outcome.OK, Outcome.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Wrong:
    """The first thing that is not as it has to be.

    Attributes:
        index: which block; -1 for the bytes before the first.
        key: its key, in hex.
        place: what of the block: a command, its value size, or a place in or after its slot.
        offset: bytes from the beginning of the slot, where bytes differ, else None.
        expected: what had to be there.
        got: what is there.
        meaning: what that looks like.
    """

    index: int
    key: str
    place: str
    offset: int | None
    expected: str
    got: str
    meaning: str

    def __str__(self) -> str:
        block = f"key {self.index} ({self.key}), " if self.index >= 0 else ""
        text = f"{block}{self.place}: expected {self.expected}, got {self.got}"
        return f"{text}: {self.meaning}" if self.meaning else text


class Mismatch(Exception):
    """Something is wrong."""

    def __init__(self, wrong: Wrong) -> None:
        super().__init__(str(wrong))
        self.wrong = wrong


def check_outcomes(
    result: Result, keys: Sequence[bytes], allowed: Iterable[Sequence[Outcome]]
) -> None:
    """Hold the outcome of every key to those that it may have."""
    for index, (got, may_be) in enumerate(zip(result.status.tolist(), allowed, strict=True)):
        if got not in may_be:
            expected = " or ".join(outcome.name for outcome in may_be)
            seen = Outcome(got).name
            raise Mismatch(
                Wrong(
                    index,
                    keys[index].hex(),
                    result.command.word.capitalize(),
                    None,
                    expected,
                    seen,
                    _answer(result, index),
                )
            )


def check_retrieved(result: Result, blocks: Blocks, slots: Slots) -> None:
    """Hold outcomes, value sizes and every byte of the buffer to what they have to be."""
    pairs = zip(blocks.fates, slots.sizes.tolist(), strict=True)
    check_outcomes(
        result, blocks.keys, (_allowed(fate, size < blocks.size) for fate, size in pairs)
    )
    _check_sizes(result, blocks)
    check_bytes(result, blocks, slots)


def check_bytes(result: Result, blocks: Blocks, slots: Slots) -> None:
    """Hold every byte of the buffer, in slots and around them, to what it has to be."""
    image = _image(result, blocks, slots)
    differs = slots.out != image
    if differs.any():
        raise Mismatch(_locate(differs, image, blocks, slots))


def _allowed(fate: Fate, is_short: bool) -> tuple[Outcome, ...]:
    """Return the outcomes that a Retrieve may have."""
    success = Outcome.TRUNCATED if is_short else Outcome.OK
    return tuple(success if outcome is Outcome.OK else outcome for outcome in fate.retrieved)


def _check_sizes(result: Result, blocks: Blocks) -> None:
    has_value = np.isin(result.status, _HAS_VALUE)
    expected = np.where(has_value, blocks.size, 0)
    wrong = result.value_size != expected
    if wrong.any():
        index = int(wrong.argmax())
        sizes = f"{expected[index]} bytes", f"{result.value_size[index]} bytes"
        raise Mismatch(Wrong(index, blocks.keys[index].hex(), "value size", None, *sizes, ""))


def _image(result: Result, blocks: Blocks, slots: Slots) -> npt.NDArray[np.uint8]:
    """Return what the buffer has to look like; it follows it where there is a choice."""
    image = np.full_like(slots.out, POISON)
    places = zip(slots.starts.tolist(), slots.sizes.tolist(), result.status.tolist(), strict=True)
    for index, (start, size, outcome) in enumerate(places):
        end = start + min(size, blocks.size)
        value = blocks.value(index, end - start)
        if outcome in _HAS_VALUE:
            image[start:end] = value
        elif blocks.fates[index].may_write:
            arrived = slots.out[start:end] == value
            image[start:end][arrived] = value[arrived]
    return image


def _locate(
    differs: npt.NDArray[np.bool_], image: npt.NDArray[np.uint8], blocks: Blocks, slots: Slots
) -> Wrong:
    """Return what is wrong at the first byte that differs."""
    at = int(differs.argmax())
    index = slots.around(at)
    if index < 0:
        return _outside(slots.out, at, -1, "", "before the first slot", at)
    start, key = int(slots.starts[index]), blocks.keys[index].hex()
    end = start + min(int(slots.sizes[index]), blocks.size)
    if at >= end:
        return _outside(slots.out, at, index, key, f"{at - end} bytes after its data", at - start)
    word = start + (at - start) // WORD_BYTES * WORD_BYTES
    expected, got = (bytes(side[word : min(word + WORD_BYTES, end)]) for side in (image, slots.out))
    count = int(differs[start:end].sum())
    meaning = f"{_meaning(expected, got)}; {count} of its {end - start} bytes are wrong"
    shown = _shown(expected), _shown(got)
    return Wrong(index, key, f"offset {word - start}", word - start, *shown, meaning)


def _outside(
    out: npt.NDArray[np.uint8], at: int, index: int, key: str, place: str, offset: int
) -> Wrong:
    found = f"{int(out[at]):02x}"
    return Wrong(index, key, place, offset, f"{POISON:02x}", found, "nobody may write there")


def _shown(word: bytes) -> str:
    stamp = stamps.read(word)
    return f"{word.hex()} ({stamp})" if stamp else word.hex()


def _meaning(expected: bytes, got: bytes) -> str:
    """Say what the bytes in place of those expected look like."""
    if got == bytes([POISON]) * len(got):
        return "nothing was written there"
    wanted, found = stamps.read(expected), stamps.read(got)
    if found is None:
        return "damaged"
    if wanted is None:
        return "data where none may be"
    if found.seed != wanted.seed:
        return "data of another run"
    if found.key != wanted.key:
        return "data of another key"
    if found.offset != wanted.offset:
        return "data of another place of the block"
    return "stale data"


def _answer(result: Result, index: int) -> str:
    """Say what the controller said of a key."""
    sct, sc, dnr = result.nvme_status[index].tolist()
    if sc < 0:
        return "no completion was believed"
    return statuses.explained(statuses.completion(sc | sct << 8 | dnr << 14))
