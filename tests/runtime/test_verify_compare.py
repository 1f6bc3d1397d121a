"""What is wrong with a buffer is found, placed and recognised; what is right passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.abi import NO_STATUS, Outcome
from xiokv.runtime.keys import pack_keys
from xiokv.runtime.module import Module
from xiokv.runtime.operation import Operation
from xiokv.runtime.results import RECORD, Result
from xiokv.runtime.verify import stamps
from xiokv.runtime.verify.blocks import Blocks
from xiokv.runtime.verify.compare import Mismatch, Wrong, check_outcomes, check_retrieved
from xiokv.runtime.verify.scenarios import Fate
from xiokv.runtime.verify.slots import Slots
from xiokv.runtime.verify.stamps import POISON

SIZE, VERSION, SEED = 4100, 7, 3


class Ended:
    """A batch that has ended with the records it is given."""

    done = True
    memory_in_use = False

    def __init__(self, records: np.ndarray) -> None:
        self._records = records

    def wait(self, timeout: float | None = None) -> bool:
        return True

    def cancel(self) -> None:
        pass

    def records(self) -> np.ndarray:
        return self._records


class Retrieved:
    """Blocks, and a buffer into which a controller without fault has put them."""

    def __init__(self, module: Module, fates: Sequence[Fate]) -> None:
        self.blocks = Blocks.stamped(module.driver, SIZE, fates, VERSION, SEED)
        sizes = [fate.slot(SIZE) for fate in fates]
        self.slots = Slots(module.driver, sizes, np.random.default_rng(1))
        self.records = np.zeros(len(fates), RECORD)
        for index, size in enumerate(sizes):
            short = size < SIZE
            outcome = Outcome.TRUNCATED if short else Outcome.OK
            self.records[index] = (SIZE, 0, outcome, 0)
            self.slot(index)[: min(size, SIZE)] = self.blocks.value(index, min(size, SIZE))

    def slot(self, index: int) -> np.ndarray:
        start = self.slots.starts[index]
        return self.slots.out[start : start + self.slots.sizes[index]]

    def end(self, index: int, outcome: Outcome, status: int = NO_STATUS) -> None:
        """Give a block another end, in which nothing was written to its slot."""
        self.records[index] = (0, status, outcome, 0)
        self.slot(index)[:] = POISON

    @property
    def result(self) -> Result:
        keys = pack_keys(self.blocks.keys, None, 16)
        return Result(Operation.RETRIEVE, keys, Ended(self.records))

    def wrong(self) -> Wrong | None:
        try:
            check_retrieved(self.result, self.blocks, self.slots)
        except Mismatch as mismatch:
            return mismatch.wrong
        return None


Make = Callable[..., Retrieved]


@pytest.fixture
def retrieved(module: Module) -> Iterator[Make]:
    """Return what makes blocks that were retrieved as they should be."""
    made = []

    def make(*fates: Fate) -> Retrieved:
        made.append(Retrieved(module, fates or (Fate(),) * 6))
        return made[-1]

    yield make
    for one in made:
        one.slots.__exit__()
        one.blocks.memory.free()


def stamped(key: int, version: int = VERSION, seed: int = SEED) -> np.ndarray:
    """Return a block as another key, version or run has it."""
    size = stamps.padded(SIZE)
    blocks = np.zeros((key + 1) * size, np.uint8)
    stamps.fill(blocks, key + 1, version, seed)
    return blocks[key * size :][:SIZE]


def half(size: int) -> int:
    return size // 2


def roomy(size: int) -> int:
    return size + 40


def test_what_is_right_passes(retrieved: Make) -> None:
    assert retrieved(Fate(), Fate(slot=half), Fate(slot=roomy), Fate()).wrong() is None


def flip(slot: np.ndarray) -> None:
    slot[2049] ^= 4


def swap(slot: np.ndarray) -> None:
    slot[16:32] = slot[32:48].copy()


def assign(at: int, data: np.ndarray) -> Callable[[np.ndarray], None]:
    def put(slot: np.ndarray) -> None:
        slot[at:] = data[at:]

    return put


DAMAGES: dict[str, tuple[Callable[[np.ndarray], Any], int, str]] = {
    "a bit flipped": (flip, 2048, "damaged; 1 of its 4100 bytes are wrong"),
    "never written": (lambda slot: slot.fill(POISON), 0, "nothing was written there"),
    "torn off": (lambda slot: slot[4096:].fill(POISON), 4096, "nothing was written there; 4 of"),
    "another key's": (assign(0, stamped(4)), 0, "data of another key"),
    "stale": (assign(0, stamped(3, version=6)), 0, "stale data"),
    "half of it stale": (assign(2048, stamped(3, version=6)), 2048, "stale data"),
    "another run's": (assign(0, stamped(3, seed=4)), 0, "data of another run"),
    "shifted": (swap, 16, "data of another place of the block"),
}


@pytest.mark.parametrize(("damage", "offset", "meaning"), DAMAGES.values(), ids=DAMAGES)
def test_damage_is_placed_and_recognised(
    retrieved: Make, damage: Callable[[np.ndarray], None], offset: int, meaning: str
) -> None:
    one = retrieved()
    damage(one.slot(3))
    wrong = one.wrong()
    assert wrong is not None
    assert (wrong.index, wrong.key, wrong.offset) == (3, one.blocks.keys[3].hex(), offset)
    assert wrong.meaning.startswith(meaning)


def test_expected_and_got_are_shown(retrieved: Make) -> None:
    one = retrieved()
    one.slot(3)[:] = stamped(4)
    wrong = one.wrong()
    assert wrong is not None
    assert "(key 3 offset 0 version 7)" in wrong.expected
    assert wrong.got == f"{bytes(stamped(4)[:16]).hex()} (key 4 offset 0 version 7)"


@pytest.mark.parametrize("at", [-1, SIZE, SIZE + 3])
@pytest.mark.parametrize("index", [0, 2, 5])
def test_a_byte_outside_the_slots_is_seen(retrieved: Make, index: int, at: int) -> None:
    one = retrieved()
    one.slots.out[one.slots.starts[index] + at] ^= 0xFF
    wrong = one.wrong()
    assert wrong is not None
    assert wrong.meaning == "nobody may write there"
    assert wrong.index == (index - 1 if at < 0 else index)


def test_bytes_of_a_slot_past_the_value_are_outside(retrieved: Make) -> None:
    one = retrieved(Fate(slot=roomy), Fate())
    one.slot(0)[SIZE + 20] = 0
    wrong = one.wrong()
    assert wrong is not None
    assert wrong.place == "20 bytes after its data"


@pytest.mark.parametrize("outcome", [Outcome.MISSING, Outcome.ERROR])
def test_a_slot_whose_key_failed_stays_as_it_was(retrieved: Make, outcome: Outcome) -> None:
    one = retrieved(Fate(), Fate(retrieved=(outcome,)), Fate())
    one.end(1, outcome, 0x87)
    assert one.wrong() is None
    one.slot(1)[:] = stamped(1)
    wrong = one.wrong()
    assert wrong is not None
    assert (wrong.index, wrong.meaning[:23]) == (1, "data where none may be;")


@pytest.mark.parametrize(("data", "right"), [(1, True), (2, False)])
def test_data_that_may_arrive_is_the_blocks_own(retrieved: Make, data: int, right: bool) -> None:
    one = retrieved(Fate(), Fate(retrieved=(Outcome.TIMEOUT,), may_write=True), Fate())
    one.end(1, Outcome.TIMEOUT)
    one.slot(1)[:2000] = stamped(data)[:2000]
    assert (one.wrong() is None) is right


@pytest.mark.parametrize(("size", "shown"), [(0, "0 bytes"), (4096, "4096 bytes")])
def test_a_value_size_that_is_false_is_wrong(retrieved: Make, size: int, shown: str) -> None:
    one = retrieved()
    one.records["value_size"][2] = size
    wrong = one.wrong()
    assert wrong is not None
    assert (wrong.index, wrong.place) == (2, "value size")
    assert (wrong.expected, wrong.got) == ("4100 bytes", shown)


UNEXPECTED = {
    "missing": (Outcome.MISSING, 0x87, "KEY_DOES_NOT_EXIST (SCT 0h, SC 87h, DNR 0)"),
    "error": (Outcome.ERROR, 0x4288, "SCT 2h, SC 88h, DNR 1"),
    "timeout": (Outcome.TIMEOUT, NO_STATUS, "no completion was believed"),
}


@pytest.mark.parametrize(("outcome", "status", "answer"), UNEXPECTED.values(), ids=UNEXPECTED)
def test_an_outcome_that_may_not_be_is_wrong(
    retrieved: Make, outcome: Outcome, status: int, answer: str
) -> None:
    one = retrieved()
    one.end(4, outcome, status)
    wrong = one.wrong()
    assert wrong is not None
    assert (wrong.index, wrong.place, wrong.offset) == (4, "Retrieve", None)
    assert (wrong.expected, wrong.got, wrong.meaning) == ("OK", outcome.name, answer)


def test_a_short_slot_has_to_be_reported_as_truncated(retrieved: Make) -> None:
    one = retrieved(Fate(slot=half))
    one.records["outcome"] = Outcome.OK
    wrong = one.wrong()
    assert wrong is not None
    assert (wrong.expected, wrong.got) == ("TRUNCATED", "OK")


def test_all_outcomes_that_may_be_are_named(retrieved: Make) -> None:
    one = retrieved(Fate())
    with pytest.raises(Mismatch, match="expected MISSING or TIMEOUT, got OK"):
        check_outcomes(one.result, one.blocks.keys, [(Outcome.MISSING, Outcome.TIMEOUT)])
