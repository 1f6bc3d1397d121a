"""Instructions one by one, against what Python says that they compute."""

from __future__ import annotations

import ctypes
import random
import re
import struct
from functools import cache
from pathlib import Path

import pytest

from .device_code import ARCHITECTURES, image, requires_tools
from .instruction_cases import CARRIES, M32, M64, MEMORY, SCALAR, VECTOR, Case
from .machine import WEAK, Image

pytestmark = requires_tools

COUNT = 64
CORNERS = (0, 1, 31, 63, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, M32, 1 << 63, M64)

KERNEL = """
KERNEL {name}(const uint64_t *from, uint64_t *to, uint64_t *area) {{
  SHARED uint64_t shared[4096];
  const uint32_t i = {index};
  const uint32_t p = place_of(shared + 8 * i);
  uint64_t *const G = area + i;
  const uint64_t A = {read}(from[3 * i]), B = {read}(from[3 * i + 1]);
  const uint64_t C = {read}(from[3 * i + 2]);
  const uint32_t a = A, b = B, c = C;
  {type} d = C;
  uint32_t code = 0;
  {statement}
  (void)p, (void)G;
  to[2 * i] = d;
  to[2 * i + 1] = code;
}}
"""
VECTOR_STATEMENT = (
    'asm volatile("{text}" : "+v"(d) : "v"(a), "v"(b), "v"(c), "v"(A), "v"(B), "v"(C), "v"(p),'
    ' "v"(G) : "v4", "v5", "vcc", "memory");'
)
SCALAR_STATEMENT = (
    'asm volatile("s_cmp_lg_u32 0, 0\\n{text}\\ns_cselect_b32 %1, 1, 0"'
    ' : "+&s"(d), "=&s"(code) : "s"(a), "s"(b), "s"(c), "s"(A), "s"(B), "s"(C) : "scc");'
)


OLD_WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)"
WAITS = {"gfx90": OLD_WAIT, "gfx94": OLD_WAIT, "gfx11": OLD_WAIT, "gfx12": "s_wait_loadcnt_dscnt 0"}


def cases(architecture: str) -> list[Case]:
    """Return the instructions that a processor has."""
    return [
        case for case in (*VECTOR, *CARRIES, *MEMORY, *SCALAR) if architecture.startswith(case.only)
    ]


def is_scalar(case: Case) -> bool:
    return case.text.startswith("s_")


def text_for(case: Case, architecture: str) -> str:
    """Return the instruction with the numbers of C's operands for its own."""
    text = case.text.split("|")[-1 if architecture.startswith("gfx1") else 0]
    first = 2 if is_scalar(case) else 1
    places = {name: f"%{first + i}" for i, name in enumerate("abcABCpG")}
    return text.format(d="%0", D="%0", wait=WAITS[architecture[:5]], **places)


def kernel_of(case: Case, number: int, architecture: str) -> str:
    scalar = is_scalar(case)
    statement = SCALAR_STATEMENT if scalar else VECTOR_STATEMENT
    return KERNEL.format(
        name=f"case{number}",
        index="group()" if scalar else "lane()",
        read="uniform" if scalar else "",
        type="uint64_t" if "{D}" in case.text else "uint32_t",
        statement=statement.replace("{text}", text_for(case, architecture)),
    )


HELPERS = """
DEVICE uint32_t place_of(uint64_t *shared) {
  return (uint32_t)(uintptr_t)(__attribute__((address_space(3))) uint64_t *)shared;
}

DEVICE uint64_t uniform(uint64_t value) {
  const uint32_t low = __builtin_amdgcn_readfirstlane(static_cast<int>(value));
  const uint32_t high = __builtin_amdgcn_readfirstlane(static_cast<int>(value >> 32));
  return low | static_cast<uint64_t>(high) << 32;
}
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("instructions")


def code_of(folder: Path, architecture: str) -> Image:
    source = folder / f"{architecture}.hip"
    if not source.exists():
        kernels = (kernel_of(case, i, architecture) for i, case in enumerate(cases(architecture)))
        source.write_text(f'#include "device.h"\n{HELPERS}{"".join(kernels)}')
    return image(str(source), architecture)


@cache
def numbers() -> ctypes.Array[ctypes.c_uint64]:
    choose = random.Random(3)
    values = [
        choose.choice((choose.getrandbits(64), choose.getrandbits(20), choose.choice(CORNERS)))
        for _ in range(3 * COUNT)
    ]
    return (ctypes.c_uint64 * len(values))(*values)


def wanted(case: Case, i: int) -> tuple[int, int]:
    """Return what the target and the condition code must be."""
    wide = set(re.findall(r"{([A-D])}", case.text))
    a, b, c = numbers()[3 * i : 3 * i + 3]
    a, b = (a if "A" in wide else a & M32), (b if "B" in wide else b & M32)
    # The target's old value is c.
    c = c if wide & {"C", "D"} else c & M32
    mask = M64 if "D" in wide else M32
    return case.oracle(a, b, c) & mask, int(bool(case.code and case.code(a, b, c)))


def first_difference(code: Image, case: Case, number: int, flags: int) -> str | None:
    results, area = (ctypes.c_uint64 * (2 * COUNT))(), (ctypes.c_uint64 * COUNT)()
    arguments = struct.pack("3Q", *map(ctypes.addressof, (numbers(), results, area)))
    shape = {"groups": (COUNT,), "lanes": (1,)} if is_scalar(case) else {"lanes": (COUNT,)}
    with code.start(f"case{number}", arguments, flags=flags, limit=10_000, **shape) as run:
        run.to_end()
    for i in range(COUNT):
        found = (results[2 * i], results[2 * i + 1] if case.code else 0)
        if found != wanted(case, i):
            operands = ", ".join(map(hex, numbers()[3 * i : 3 * i + 3]))
            return f"{case.text} of {operands}: {found}, and not {wanted(case, i)}"
    return None


@pytest.mark.parametrize("flags", [0, WEAK])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_instruction_computes_what_it_should(
    folder: Path, architecture: str, flags: int
) -> None:
    code = code_of(folder, architecture)
    assert code.unknown == []
    every = enumerate(cases(architecture))
    found = (first_difference(code, case, i, flags) for i, case in every)
    assert [difference for difference in found if difference] == []
