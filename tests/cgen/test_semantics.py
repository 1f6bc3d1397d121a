"""The places that a command leaves reserved: zero, raw, or named by a profile."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.spec.model import SemanticField

U64 = ctypes.c_uint64
OK, E_SEMANTIC = 0, -6
COMMANDS = ("store", "retrieve", "list", "delete", "exist")
FIELDS = (
    SemanticField("model", 11, Bits(27, 16), "batch", ("retrieve",), "number", "Model."),
    SemanticField("limits", 12, Bits(31, 0), "key", ("retrieve",), "level", "A level."),
    SemanticField("hint", 11, Bits(31, 28), "batch", ("retrieve", "exist"), "", "A hint."),
)

Call = Callable[..., tuple[int, bytes]]


@pytest.mark.parametrize("command", COMMANDS)
def test_raw_values_reach_the_reserved_places_and_no_others(shim: Any, command: str) -> None:
    plain = shim.raw(command)
    filled = shim.raw(command, reserved=(0xFFFFFFFF,) * 3)
    differing = [i for i in range(64) if plain[i] != filled[i]]
    assert differing == [46, 47, *range(48, 56)]


@pytest.fixture(scope="module")
def library(make_spec: Any, write: Any, load: Any) -> ctypes.CDLL:
    """Return the semantic shim, compiled."""
    return load(write(make_spec(*FIELDS)), "semantic_shim.c")


@pytest.fixture(scope="module")
def call(library: ctypes.CDLL) -> Call:
    """Return a function that calls the semantic shim: (error, the entry it wrote)."""

    def run(name: str, *values: int) -> tuple[int, bytes]:
        memory = (ctypes.c_uint8 * 128)(*b"\xa5" * 128)
        start = -ctypes.addressof(memory) % 64
        entry = ctypes.c_void_p(ctypes.addressof(memory) + start)
        error = library[name](entry, *map(U64, values))
        return error, bytes(memory[start : start + 64])

    return run


@pytest.mark.parametrize(("encoder", "raw_cdw13"), [("shim_retrieve", 0), ("shim_raw", 7)])
@pytest.mark.parametrize(
    ("model", "level", "hint"),
    [(0, 0, 0), (0xFFF, 0xFFFFFFFF, 0xF), (0x123, 0x89ABCDEF, 0xA), (0xABC, 1, 0)],
)
def test_semantic_fields_are_written_where_the_profile_places_them(
    call: Call, encoder: str, raw_cdw13: int, model: int, level: int, hint: int
) -> None:
    error, entry = call(encoder, model, level, hint)
    dwords = [int.from_bytes(entry[4 * i : 4 * i + 4], "little") for i in (11, 12, 13)]
    assert (error, dwords) == (OK, [hint << 28 | model << 16 | 0x104, level, raw_cdw13])


@pytest.mark.parametrize("encoder", ["shim_retrieve", "shim_raw"])
@pytest.mark.parametrize(
    ("model", "level", "hint"), [(0x1000, 0, 0), (2**32, 0, 0), (0, 2**32, 0), (0, 0, 16)]
)
def test_a_semantic_value_too_wide_for_its_bits_is_refused(
    call: Call, encoder: str, model: int, level: int, hint: int
) -> None:
    assert call(encoder, model, level, hint) == (E_SEMANTIC, b"\xa5" * 64)


def test_a_command_that_a_field_does_not_name_has_no_parameter_for_it(call: Call) -> None:
    error, entry = call("shim_delete")
    assert (error, entry[44:56]) == (OK, b"\x04" + bytes(11))


def entry_of(opcode: int) -> Any:
    """Return an entry in which every bit but the opcode is one."""
    return (ctypes.c_uint8 * 64)(opcode, *b"\xff" * 63)


@pytest.mark.parametrize(
    ("name", "value", "carriers"),
    [("model", 0xFFF, {0x02}), ("limits", 0xFFFFFFFF, {0x02}), ("hint", 0xF, {0x02, 0x14})],
)
@pytest.mark.parametrize("opcode", [0x01, 0x02, 0x06, 0x10, 0x14, 0x83])
def test_a_field_is_read_back_from_the_commands_that_carry_it(
    library: ctypes.CDLL, name: str, value: int, carriers: set[int], opcode: int
) -> None:
    get = library[f"shim_get_{name}"]
    get.restype = ctypes.c_uint32
    assert get(entry_of(opcode)) == (value if opcode in carriers else 0)
