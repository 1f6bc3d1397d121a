"""The faults of the kit themselves, by its own fixtures: what they take, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import ArgumentFault, Module, Outcome, RuntimeFault
from xiokv.runtime.operation import Operation
from xiokv.runtime.testing import Faults, MakeRig, Rig
from xiokv.runtime.testing.rig import make_rig

KEYS = [b"block-%d" % number for number in range(4)]
SIZE = 64


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


@pytest.fixture
def rig(xiokv_make: MakeRig) -> Rig:
    rig = xiokv_make(block_size=SIZE, timeout=0.5)
    rig.kv.store(KEYS, bytes(range(256))).raise_for_status()
    return rig


def rows(keys: list[bytes]) -> Any:
    """Return keys of 16 bytes as an array."""
    return np.array([list(key.ljust(16, b"\0")) for key in keys], np.uint8)


FORMS: dict[str, Callable[[bytes], Any]] = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_keys_are_taken_as_the_calls_take_them(rig: Rig, form: Callable[[bytes], Any]) -> None:
    rig.faults.truncate([form(KEYS[2])], 8)
    rig.faults.miss(tuple(map(form, KEYS[:2])))
    result = rig.kv.retrieve(KEYS, bytearray(4 * SIZE))
    assert result.counts == {Outcome.MISSING: 2, Outcome.OK: 2}
    assert result.value_size.tolist() == [0, 0, 8, SIZE]


def test_keys_may_be_rows_of_an_array(rig: Rig) -> None:
    wide = [b"0123456789abcdef", b"fedcba9876543210"]
    rig.kv.store(wide, bytes(2 * SIZE)).raise_for_status()
    assert rig.faults.pick(rows(wide), 2) == wide
    rig.faults.miss(rows(wide[:1]))
    assert rig.kv.exist(wide).status.tolist() == [Outcome.MISSING, Outcome.OK]


def test_a_missing_key_misses_from_every_call_that_reads(rig: Rig) -> None:
    rig.faults.miss(KEYS[1:3])
    status = [Outcome.OK, Outcome.MISSING, Outcome.MISSING, Outcome.OK]
    assert rig.kv.retrieve(KEYS, bytearray(4 * SIZE)).status.tolist() == status
    assert rig.kv.exist(KEYS).status.tolist() == status
    rig.kv.store(KEYS, bytes(256)).raise_for_status()
    rig.faults.clear()
    rig.kv.exist(KEYS).raise_for_status()
    assert rig.kv.exist(KEYS).counts == {Outcome.OK: 4}


@pytest.mark.parametrize(
    ("operation", "struck"), [(Operation.EXIST, "exist"), (Operation.DELETE, "delete")]
)
def test_a_fault_strikes_the_named_command_alone(
    rig: Rig, operation: Operation, struck: str
) -> None:
    rig.faults.fail(KEYS[:1], operation=operation)
    for name in ("exist", "delete"):
        first = Outcome.ERROR if name == struck else Outcome.OK
        status = getattr(rig.kv, name)(KEYS).status.tolist()
        assert status == [first, Outcome.OK, Outcome.OK, Outcome.OK]


@pytest.mark.parametrize("strike", [lambda f: f.drop([b"x"]), lambda f: f.hang()])
def test_values_are_changed_before_commands_are_struck(
    rig: Rig, strike: Callable[[Faults], None]
) -> None:
    strike(rig.faults)
    with pytest.raises(RuntimeFault, match=r"change values first.* recover\(\) from a hang"):
        rig.faults.truncate(KEYS, 1)
    rig.faults.recover()
    rig.faults.truncate(KEYS, 1)
    assert rig.kv.retrieve(KEYS, bytearray(4 * SIZE)).value_size.tolist() == [1] * 4


def test_a_controller_without_a_free_queue_pair(xiokv_make: MakeRig) -> None:
    rig = xiokv_make(controller={"queues": 1})
    rig.kv.store(KEYS, bytes(256)).raise_for_status()
    with pytest.raises(ArgumentFault, match=r"all 1 queue pairs are taken; allow .* one more"):
        rig.faults.flip(KEYS[:1])


def test_what_a_fault_holds_back_at_the_end_goes_on(xiokv_module: Module) -> None:
    """It is no timeout of the batch, which would kill a queue."""
    with xiokv_module.stream() as stream:
        with make_rig(xiokv_module, block_size=SIZE, timeout=3.0) as rig:
            rig.kv.store(KEYS, bytes(256)).raise_for_status()
            rig.faults.delay(KEYS, 60.0)
            result = rig.kv.retrieve(KEYS, bytearray(4 * SIZE), stream=stream)
            assert not result.done
        assert result.counts == {Outcome.OK: 4}


def test_the_controller_chooses_by_the_seed_too(xiokv_make: MakeRig) -> None:
    chosen = []
    for seed in (1, 1, 2):
        rig = xiokv_make(seed=seed)
        rig.controller.fault("status", probability=0.5, sc=6)
        chosen.append([rig.kv.exist([b"k"]).status.tolist() for _ in range(40)])
    assert chosen[0] == chosen[1] != chosen[2]


def test_every_bit_may_be_flipped(rig: Rig) -> None:
    rig.faults.flip(KEYS[1:2], bits=8 * SIZE)
    out = bytearray(4 * SIZE)
    rig.kv.retrieve(KEYS, out).raise_for_status()
    assert out == bytes(at ^ (0xFF if at // SIZE == 1 else 0) for at in range(256))


WRONG: dict[str, tuple[Callable[[Faults], object], str]] = {
    "a value that is not there": (lambda f: f.flip([b"x"]), "no value of key b'x' can be changed"),
    "more keys than there are": (lambda f: f.pick([b"a"], 2), "count 2: there are 1 keys"),
    "a part of the keys": (lambda f: f.pick(KEYS, 0.5), "count is 0.5"),  # type: ignore[arg-type]
    "more bits than there are": (
        lambda f: f.flip(KEYS, 8 * SIZE + 1),
        "bits 513: a value of 64 bytes has not so many",
    ),
    "no bits": (lambda f: f.flip(KEYS, 0), "bits 0: 1 or more"),
    "a size below 0": (lambda f: f.truncate(KEYS, -1), "size -1: 0 or more"),
    "no further bytes": (lambda f: f.lengthen(KEYS, 0), "extra 0: 1 to 33554432"),
    "too many further bytes": (lambda f: f.lengthen(KEYS, 10**12), "extra 10{12}: 1 to 33554432"),
    "one key": (lambda f: f.miss(b"block-1"), r"keys is one bytes.*for one key, \[key\]"),
    "no key": (lambda f: f.drop(b""), "keys is one bytes"),
    "an empty key": (lambda f: f.miss([b""]), "key 0 has 0 bytes; 1 to 16"),
    "a long key": (lambda f: f.drop([b"a", b"x" * 17]), "key 1 has 17 bytes"),
    "text": (lambda f: f.drop(["a"]), "key 0 is str"),
    "keys that come once": (lambda f: f.miss(key for key in KEYS), "keys is a generator"),
    "no time": (lambda f: f.delay(KEYS, 0), r"time 0\.0.*above 0"),
    "success": (lambda f: f.fail(KEYS, sc=0), "SC 00h is success"),
    "a wide status": (lambda f: f.fail(KEYS, sc=256), "sc is 256; allowed are 0 to 255"),
    "a word": (
        lambda f: f.drop(KEYS, "retrieve"),  # type: ignore[arg-type]
        r"operation is 'retrieve'; allowed is one such as Operation\.RETRIEVE",
    ),
}


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_a_fault_that_cannot_be_says_why_and_strikes_nothing(
    rig: Rig, call: Callable[[Faults], object], said: str
) -> None:
    with pytest.raises(ArgumentFault, match=said):
        call(rig.faults)
    out = bytearray(4 * SIZE)
    rig.kv.retrieve(KEYS, out).raise_for_status()
    assert out == bytes(range(256))
