"""Machine code computes on the machine what clang's host build of the same functions does."""

from __future__ import annotations

import ctypes
import random
import re
import struct
from functools import cache

import pytest

from .device_code import ARCHITECTURES, DEVICE, host_library, image, requires_tools
from .machine import WEAK

pytestmark = requires_tools

# Not a whole number of waves, so that some lanes take no part.
COUNT = 150
LIMIT = 10**6
CORNERS = (0, 1, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63)

FUNCTIONS = re.findall(
    r"X\((\w+)\)", (DEVICE / "functions.h").read_text().partition("#define FUNCTIONS")[2]
)


def number(choose: random.Random) -> int:
    """Return a number: any, a short one, a negative one, or one at the end of a type."""
    return choose.choice(
        (
            choose.getrandbits(64),
            choose.getrandbits(choose.randrange(1, 64)),
            -choose.getrandbits(choose.randrange(1, 63)) & (2**64 - 1),
            choose.choice(CORNERS),
        )
    )


@cache
def numbers() -> ctypes.Array[ctypes.c_uint64]:
    choose = random.Random(1)
    return (ctypes.c_uint64 * (3 * COUNT))(*(number(choose) for _ in range(3 * COUNT)))


@cache
def expected(function: str) -> list[int]:
    results = (ctypes.c_uint64 * COUNT)()
    getattr(host_library("functions_host.cpp"), f"{function}_host")(numbers(), results, COUNT)
    return list(results)


@pytest.mark.parametrize("flags", [0, WEAK])
@pytest.mark.parametrize("kind", ["vector", "scalar"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_functions_agree(architecture: str, kind: str, flags: int) -> None:
    code = image("functions.hip", architecture)
    different = {}
    for function in FUNCTIONS:
        results = (ctypes.c_uint64 * COUNT)()
        arguments = struct.pack(
            "2QI", ctypes.addressof(numbers()), ctypes.addressof(results), COUNT
        )
        lanes = (256,) if kind == "vector" else (code.wave,)
        with code.start(
            f"{kind}_{function}", arguments, lanes=lanes, flags=flags, limit=LIMIT
        ) as run:
            run.to_end()
        if list(results) != expected(function):
            different[function] = first_difference(function, list(results))
    assert different == {}


def first_difference(function: str, results: list[int]) -> str:
    pairs = zip(results, expected(function), strict=True)
    at = next(i for i, (found, wanted) in enumerate(pairs) if found != wanted)
    a, b, c = (hex(each) for each in numbers()[3 * at : 3 * at + 3])
    return f"of {a}, {b}, {c}: {results[at]:#x}, and not {expected(function)[at]:#x}"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_instruction_of_the_functions_is_unknown(architecture: str) -> None:
    assert image("functions.hip", architecture).unknown == []
