"""Whatever batches come, and whatever a controller does meanwhile, a dictionary agrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xiokv.runtime.abi import Outcome
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module

SLOT = 12 << 10

KEYS = st.sampled_from([bytes([65 + i % 26]) * (1 + i % 16) for i in range(40)])
SIZES = st.sampled_from([0, 1, 5, 4095, 4096, 4097, 8192, 9000, SLOT])
BATCHES = st.one_of(
    st.tuples(st.just("store"), st.dictionaries(KEYS, SIZES, max_size=30)),
    st.tuples(st.just("retrieve"), st.lists(st.tuples(KEYS, SIZES), max_size=60)),
    st.tuples(st.just("exist"), st.lists(KEYS, max_size=60)),
    st.tuples(st.just("delete"), st.lists(KEYS, max_size=30, unique=True)),
)
FAULTS = st.lists(
    st.sampled_from(
        [
            {"kind": "reorder", "amount": 8},
            {"kind": "reverse", "amount": 5},
            {"kind": "delay", "amount": 200, "probability": 0.1},
            {"kind": "duplicate", "probability": 0.1},
            {"kind": "duplicate", "amount": 300, "probability": 0.1},
            {"kind": "unknown_cid", "probability": 0.1},
            {"kind": "foreign_sqid", "probability": 0.1},
            {"kind": "status", "sc": 0x88, "probability": 0.1},
        ]
    ),
    max_size=3,
)


@dataclass
class Model:
    """What the controller should hold; a key with an error keeps what it had."""

    kv: KV
    held: dict[bytes, bytes] = field(default_factory=dict)
    stored: int = 0

    def store(self, sizes: dict[bytes, int]) -> None:
        self.stored += 1
        rng = np.random.default_rng(self.stored)
        values = {key: rng.bytes(size) for key, size in sizes.items()}
        result = self.kv.store(list(values), list(values.values()))
        for (key, value), status in zip(values.items(), result.status, strict=True):
            assert status in (Outcome.OK, Outcome.ERROR)
            if status == Outcome.OK:
                self.held[key] = value

    def retrieve(self, wanted: list[tuple[bytes, int]]) -> None:
        out = np.full((len(wanted), SLOT), 0xEE, np.uint8)
        sizes = [size for _, size in wanted]
        result = self.kv.retrieve([key for key, _ in wanted], out, sizes=sizes)
        for i, (key, size) in enumerate(wanted):
            seen = (result.status[i], result.value_size[i], bytes(out[i]))
            if result.status[i] == Outcome.ERROR:
                continue
            assert seen == self.expected(key, size), (key, size)

    def expected(self, key: bytes, size: int) -> tuple[Outcome, int, bytes]:
        if key not in self.held:
            return Outcome.MISSING, 0, b"\xee" * SLOT
        value = self.held[key]
        status = Outcome.OK if len(value) <= size else Outcome.TRUNCATED
        return status, len(value), value[:size].ljust(SLOT, b"\xee")

    def exist(self, keys: list[bytes]) -> None:
        for key, status in zip(keys, self.kv.exist(keys).status, strict=True):
            there = Outcome.OK if key in self.held else Outcome.MISSING
            assert status in (there, Outcome.ERROR), key

    def delete(self, keys: list[bytes]) -> None:
        for key, status in zip(keys, self.kv.delete(keys).status, strict=True):
            assert status in (Outcome.OK, Outcome.ERROR), key
            if status == Outcome.OK:
                self.held.pop(key, None)


@settings(max_examples=40, deadline=None)
@given(
    depth=st.sampled_from([2, 3, 8, 255]),
    window=st.sampled_from([1, 7, 1023]),
    queues=st.integers(1, 3),
    faults=FAULTS,
    batches=st.lists(BATCHES, min_size=1, max_size=8),
    seed=st.integers(0, 1000),
)
def test_a_dictionary_agrees(
    module: Module,
    depth: int,
    window: int,
    queues: int,
    faults: list[dict[str, Any]],
    batches: list[tuple[str, Any]],
    seed: int,
) -> None:
    options = {"queues": queues, "depth": depth, "window": window, "block_size": SLOT}
    with Emulator(seed=seed) as controller, module.attach(controller, **options) as kv:
        for fault in faults:
            controller.fault(**fault)
        model = Model(kv)
        for command, argument in batches:
            getattr(model, command)(argument)
        controller.clear_faults()
        assert set(kv.list()) == set(model.held)
