"""Parts of the engine compute on the machine what clang's host build of them does."""

from __future__ import annotations

import ctypes
import random
import re
import struct
from functools import cache

import pytest

from .device_code import ARCHITECTURES, DEVICE, ROOT, host_library, image, requires_tools
from .machine import WEAK

pytestmark = requires_tools

INCLUDE = f"-I{ROOT / 'generated' / 'include'}"
COUNT = 150
AREA = 2 * 4096  # What a call may write.
LIMIT = 10**6

PARTS = re.findall(
    r"X\((\w+)\)", (DEVICE / "engine.h").read_text().partition("#define ENGINE_FUNCTIONS")[2]
)


@cache
def numbers() -> ctypes.Array[ctypes.c_uint64]:
    choose = random.Random(2)
    return (ctypes.c_uint64 * (8 * COUNT))(*(choose.getrandbits(64) for _ in range(8 * COUNT)))


def room() -> tuple[ctypes.Array[ctypes.c_uint64], ctypes.Array[ctypes.c_uint8]]:
    """Return room for what calls answer, and for what they write."""
    return (ctypes.c_uint64 * (8 * COUNT))(), (ctypes.c_uint8 * (AREA * COUNT))()


@cache
def expected(part: str) -> tuple[bytes, bytes]:
    answers, areas = room()
    call = getattr(host_library("engine_host.cpp", INCLUDE), f"{part}_host")
    call(numbers(), answers, areas, COUNT)
    return bytes(answers), bytes(areas)


@pytest.mark.parametrize("flags", [0, WEAK])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_part_of_the_engine_agrees(architecture: str, part: str, flags: int) -> None:
    code = image("engine.hip", architecture, INCLUDE)
    answers, areas = room()
    arguments = struct.pack("3QI", *map(ctypes.addressof, (numbers(), answers, areas)), COUNT)
    with code.start(f"{part}_kernel", arguments, lanes=(256,), flags=flags, limit=LIMIT) as run:
        run.to_end()
    assert (bytes(answers), bytes(areas)) == expected(part)
