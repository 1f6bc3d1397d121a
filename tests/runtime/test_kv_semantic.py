"""Named semantic fields end up in their bits, for the batch or for each key."""

from __future__ import annotations

import inspect
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xiokv.codegen.semantics.words import fault_of
from xiokv.runtime.description import SemanticField
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module
from xiokv.runtime.operation import Operation
from xiokv.runtime.semantic import NO_SEMANTIC, pack_semantic, per_key_dwords

FIELDS = (
    SemanticField("tier", 11, 19, 16, "batch", (Operation.STORE, Operation.RETRIEVE)),
    SemanticField("hint", 11, 31, 24, "key", (Operation.STORE,)),
    SemanticField("rank", 12, 7, 0, "key", (Operation.STORE,)),
    SemanticField("layer", 12, 15, 8, "key", (Operation.STORE,)),
    SemanticField("tag", 13, 31, 0, "batch", (Operation.STORE, Operation.LIST)),
)


def packed(
    command: Operation = Operation.STORE, count: int = 3, **given: Any
) -> list[tuple[int, int, Any]]:
    places = pack_semantic(FIELDS, command, given, count)
    return [
        (place.mask, place.value, None if place.per_key is None else place.per_key.tolist())
        for place in places
    ]


NOTHING = (0, 0, None)
PACKED: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "none": ({}, [NOTHING] * 3),
    "batch": ({"tier": 15}, [(0xF0000, 0xF0000, None), NOTHING, NOTHING]),
    "whole dword": ({"tag": 2**32 - 1}, [NOTHING, NOTHING, (2**32 - 1, 2**32 - 1, None)]),
    "key": (
        {"hint": [0, 1, 255]},
        [(0xFF000000, 0, [0, 1 << 24, 255 << 24]), NOTHING, NOTHING],
    ),
    "one for all keys": ({"rank": 9}, [NOTHING, (0xFF, 9, None), NOTHING]),
    "scalar of NumPy for all keys": ({"rank": np.uint8(9)}, [NOTHING, (0xFF, 9, None), NOTHING]),
    "array without dimensions": (
        {"rank": np.array(9), "tier": np.array(1)},
        [(0xF0000, 0x10000, None), (0xFF, 9, None), NOTHING],
    ),
    "big-endian array": (
        {"tag": 0, "rank": np.array([1, 2, 3], ">u4")},
        [NOTHING, (0xFF, 0, [1, 2, 3]), (0xFFFFFFFF, 0, None)],
    ),
    "array": (
        {"rank": np.array([1, 2, 3], np.uint8)},
        [NOTHING, (0xFF, 0, [1, 2, 3]), NOTHING],
    ),
    "two in one dword": (
        {"rank": [1, 2, 3], "layer": [4, 5, 6]},
        [NOTHING, (0xFFFF, 0, [0x401, 0x502, 0x603]), NOTHING],
    ),
    "mixed in one dword": (
        {"tier": 3, "hint": [1, 2, 3]},
        [(0xFF0F0000, 0x30000, [1 << 24, 2 << 24, 3 << 24]), NOTHING, NOTHING],
    ),
}


@pytest.mark.parametrize(("given", "expected"), PACKED.values(), ids=PACKED)
def test_values_lie_in_their_bits(given: dict[str, Any], expected: list[Any]) -> None:
    assert packed(**given) == expected


REFUSED: dict[str, tuple[Operation, dict[str, Any], str]] = {
    "unknown": (Operation.STORE, {"size": 1}, "no argument or semantic field 'size'.*hint, layer"),
    "another command's": (
        Operation.RETRIEVE,
        {"rank": 1},
        "retrieve has no .*'rank'.*declares tier for",
    ),
    "command without any": (Operation.EXIST, {"tier": 1}, "declares none"),
    "too wide": (
        Operation.STORE,
        {"tier": 16},
        r"tier = 0x10: 0 to 0xf fit its bits, CDW11\[19:16\]",
    ),
    "far too wide": (Operation.STORE, {"rank": 2**64}, "rank = 0x10000000000000000: 0 to 0xff"),
    "64 bits a key": (
        Operation.STORE,
        {"rank": np.full(3, 2**64 - 1, np.uint64)},
        r"rank hold 18446744073709551615.*; 0 to 0xff fit its bits, CDW12\[7:0\]",
    ),
    "negative": (Operation.STORE, {"rank": -1}, "rank = -0x1"),
    "too wide for a key": (Operation.STORE, {"rank": [0, 256, 0]}, "rank = 0x100"),
    "too wide after the widest": (Operation.STORE, {"rank": [0, 255, 256]}, "rank = 0x100"),
    "one a key for the batch": (
        Operation.STORE,
        {"tier": [1, 2, 3]},
        "tier is a list; its scope is the batch: allowed is one integer for all keys",
    ),
    "too few": (Operation.STORE, {"rank": [1, 2]}, "3 keys need"),
    "truth": (Operation.STORE, {"rank": True}, "rank is a bool; its scope is the key"),
    "truths": (Operation.STORE, {"rank": [True, False, True]}, "integers of up to 64 bits, not bo"),
    "fraction for the key": (
        Operation.STORE,
        {"rank": np.float32(1)},
        "rank is a float32; its scope is the key: allowed is one integer, or one a key",
    ),
    "two dimensions": (Operation.STORE, {"rank": [[1], [2], [3]]}, r"shape \(3, 1\); 3 keys need"),
    "negative for a key": (Operation.STORE, {"rank": np.array([0, -1, 0], np.int8)}, "rank = -0x1"),
    "fraction": (Operation.STORE, {"tier": 1.5}, "tier is a float; its scope is the batch"),
}


@pytest.mark.parametrize(("command", "given", "said"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(command: Operation, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        packed(command, **given)


def test_nothing_is_packed_where_nothing_is_given() -> None:
    assert pack_semantic(FIELDS, Operation.STORE, {}, 3) is NO_SEMANTIC


def test_only_dwords_with_fields_a_key_need_memory_a_key() -> None:
    assert per_key_dwords(FIELDS) == (11, 12)
    assert per_key_dwords(FIELDS[:1]) == ()


def test_fields_reach_the_wire(module: Module) -> None:
    description = replace(module.description, fields=FIELDS)
    with (
        Emulator() as controller,
        Module(description, module.image, module.driver).attach(controller) as kv,
    ):
        controller.trace_start()
        kv.store([b"a", b"b"], b"12345678", tier=5, hint=[1, 2], rank=3, layer=[4, 5], tag=6)
        kv.store([b"a"], b"1234")
        kv.retrieve([b"a"], bytearray(4), tier=7)
        assert sorted(kv.list(tag=8)) == [b"a", b"b"]
        entries = [record.data for record in controller.trace() if record.kind == "sqe"]
    words = [struct.unpack_from("<3I", entry, 44) for entry in entries]
    assert [(cdw11 >> 16, cdw12, cdw13) for cdw11, cdw12, cdw13 in words] == [
        (0x0105, 0x0403, 6),
        (0x0205, 0x0503, 6),
        (0, 0, 0),
        (0x0007, 0, 0),
        (0, 0, 8),
        (0, 0, 8),  # the page that says that there is no more
    ]


def test_a_list_refuses_fields_before_its_first_key(module: Module) -> None:
    said = "list has no argument or semantic field 'tier'"
    with (
        Emulator() as controller,
        module.attach(controller) as kv,
        pytest.raises(ArgumentFault, match=said),
    ):
        kv.list(tier=1)


MARK = SemanticField("mark", 13, 31, 0, "key", tuple(set(Operation) - {Operation.EXEC}))
KEYS = [b"a", b"b"]
CALLS: dict[str, tuple[Operation, Callable[[KV], Any]]] = {
    "store": (Operation.STORE, lambda kv: kv.store(KEYS, bytes(8), mark=[1, 2])),
    "retrieve": (Operation.RETRIEVE, lambda kv: kv.retrieve(KEYS, bytearray(8), mark=[1, 2])),
    "the seam": (
        Operation.RETRIEVE,
        lambda kv: kv.xio_batched_kv_retrieve(KEYS, 2, bytearray(8), None, mark=[1, 2]),
    ),
    "exist": (Operation.EXIST, lambda kv: kv.exist(KEYS, mark=[1, 2])),
    "delete": (Operation.DELETE, lambda kv: kv.delete(KEYS, mark=[1, 2])),
    "list": (Operation.LIST, lambda kv: (list(kv.list(mark=[1])), list(kv.list(mark=[2])))),
}


@pytest.mark.parametrize(("command", "call"), CALLS.values(), ids=CALLS)
def test_every_call_carries_the_fields_of_its_command(
    module: Module, command: Operation, call: Callable[[KV], Any]
) -> None:
    """And with the next one, which is given none, they are gone."""
    description = replace(module.description, fields=(MARK,))
    marked = Module(description, module.image, module.driver)
    with Emulator() as controller, marked.attach(controller, block_size=4) as kv:
        controller.trace_start()
        call(kv)
        kv.exist(KEYS)
        entries = [record.data for record in controller.trace() if record.kind == "sqe"]
    words = [(entry[0], *struct.unpack_from("<I", entry, 52)) for entry in entries]
    assert words == [(command.opcode, 1), (command.opcode, 2), *[(Operation.EXIST.opcode, 0)] * 2]


@pytest.mark.parametrize(
    "call",
    [KV.store, KV.retrieve, KV.exist, KV.delete, KV.list, KV.xio_batched_kv_retrieve],
)
def test_no_field_may_be_called_like_a_parameter(call: Any) -> None:
    """The generator refuses the name; a field that had it could not be given."""
    names = set(inspect.signature(call).parameters) - {"semantic"}
    assert {name for name in names if fault_of(name) is None} == set()
