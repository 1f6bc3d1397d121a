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


@pytest.mark.parametrize(("model", "level"), [(0, 0), (0xFFF, 0xFFFFFFFF), (0x123, 0x89ABCDEF)])
def test_a_semantic_field_is_written_where_the_profile_places_it(
    call: Call, model: int, level: int
) -> None:
    error, entry = call("shim_retrieve", model, level)
    dwords = [int.from_bytes(entry[4 * i : 4 * i + 4], "little") for i in (11, 12, 13)]
    assert (error, dwords) == (OK, [model << 16 | 0x104, level, 0])


@pytest.mark.parametrize(("model", "level"), [(0, 0), (0xFFF, 0xFFFFFFFF), (0x123, 0x89ABCDEF)])
def test_the_raw_encoder_takes_fields_by_name(call: Call, model: int, level: int) -> None:
    error, entry = call("shim_raw", model, level)
    dwords = [int.from_bytes(entry[4 * i : 4 * i + 4], "little") for i in (11, 12, 13)]
    assert (error, dwords) == (OK, [model << 16 | 0x104, level, 7])


@pytest.mark.parametrize("encoder", ["shim_retrieve", "shim_raw"])
@pytest.mark.parametrize(("model", "level"), [(0x1000, 0), (2**32, 0), (0, 2**32)])
def test_a_semantic_value_too_wide_for_its_bits_is_refused(
    call: Call, encoder: str, model: int, level: int
) -> None:
    assert call(encoder, model, level) == (E_SEMANTIC, b"\xa5" * 64)


def test_a_command_that_a_field_does_not_name_has_no_parameter_for_it(call: Call) -> None:
    error, entry = call("shim_delete")
    assert (error, entry[44:56]) == (OK, b"\x04" + bytes(11))


def entry_of(opcode: int) -> Any:
    """Return an entry in which every bit but the opcode is one."""
    return (ctypes.c_uint8 * 64)(opcode, *b"\xff" * 63)


@pytest.mark.parametrize(("name", "value"), [("model", 0xFFF), ("limits", 0xFFFFFFFF)])
@pytest.mark.parametrize(("opcode", "carries"), [(0x02, True), (0x01, False), (0x83, False)])
def test_a_field_is_read_back_from_the_commands_that_carry_it(
    library: ctypes.CDLL, name: str, value: int, opcode: int, carries: bool
) -> None:
    get = library[f"shim_get_{name}"]
    get.restype = ctypes.c_uint32
    assert get(entry_of(opcode)) == (value if carries else 0)
