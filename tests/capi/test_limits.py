"""What C is told of the embedded controller is what Python is told of it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from xiokv.runtime import Emulator, RuntimeFault
from xiokv.runtime.emulator import library as emulator_library
from xiokv.runtime.nvme import library

OPTIONS: list[dict[str, Any]] = [
    {},
    {"mdts": 5, "queues": 3},
    {"key_max": 8, "value_max": 4096},
    {"mqes": 63, "dstrd": 4, "active_format": 3},
]


@pytest.fixture(params=OPTIONS, ids=str)
def emulator(request: pytest.FixtureRequest, own_surroundings: None) -> Iterator[Emulator]:
    with Emulator(**request.param) as controller:
        yield controller


@pytest.fixture
def functions(emulator: Emulator) -> library.ControllerFunctions:
    made = library.ControllerFunctions()
    call = emulator_library.load().xiokv_emu_controller
    call.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    assert call(emulator._handle, ctypes.addressof(made)) == 0
    return made


def test_limits_are_the_same(emulator: Emulator, functions: library.ControllerFunctions) -> None:
    found = library.ControllerLimits()
    functions.call("limits", 1, found)
    expected = asdict(emulator.limits(1))
    assert {name: getattr(found, name) for name in expected} == expected


def test_doorbells_are_where_the_controller_says(
    emulator: Emulator, functions: library.ControllerFunctions
) -> None:
    rings = (ctypes.c_uint8 * (3 * 4096))()
    page = -(-ctypes.addressof(rings) // 4096) * 4096
    wanted, made = library.Rings(page, page + 4096, 8, 8), library.Created()
    functions.call("create_queue", wanted, made)
    stride = 4 << (ctypes.c_uint64.from_address(emulator.registers).value >> 32 & 0xF)
    doorbell = emulator.registers + 0x1000 + 2 * made.qid * stride
    assert (made.sq_doorbell, made.cq_doorbell) == (doorbell, doorbell + stride)
    functions.call("delete_queue", made.qid)
    with pytest.raises(RuntimeFault, match="Delete I/O Submission Queue: SCT 1, SC 01h"):
        functions.call("delete_queue", made.qid)


def test_a_namespace_that_is_not_there(functions: library.ControllerFunctions) -> None:
    with pytest.raises(RuntimeFault, match=r"Identify|not key-value"):
        functions.call("limits", 9, library.ControllerLimits())


def test_queues_up_to_the_last(functions: library.ControllerFunctions) -> None:
    most = library.ControllerLimits()
    functions.call("limits", 1, most)
    if most.queues_max > 16:
        return
    rings = (ctypes.c_uint8 * (4096 * (2 * most.queues_max + 1)))()
    page = -(-ctypes.addressof(rings) // 4096) * 4096
    made = library.Created()
    for number in range(most.queues_max):
        sq = page + 2 * 4096 * number
        functions.call("create_queue", library.Rings(sq, sq + 4096, 8, 8), made)
        assert made.qid == number + 1
    with pytest.raises(RuntimeFault, match=f"all {most.queues_max} queue pairs are taken"):
        functions.call("create_queue", library.Rings(page, page + 4096, 8, 8), made)
    for number in range(most.queues_max):
        functions.call("delete_queue", number + 1)
