"""The commands as an enum of C++: words both ways, while compiling, on hosts and for GPUs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import COMPILERS

WORDS = {
    "store": 0x01,
    "retrieve": 0x02,
    "list": 0x06,
    "delete": 0x10,
    "exist": 0x14,
    "exec": 0x83,
}
NONE = ("", "Store", "stor", "stores", "unknown", "store\\0")


def unit(words: dict[str, int]) -> str:
    """Return a text whose assertions hold the words against opcodes."""
    lines = ['#include "xiokv/kv_operation.h"', "using namespace xiokv;"]
    for word, opcode in words.items():
        lines += [
            f'static_assert(static_cast<unsigned>(Operation::{word.upper()}) == {opcode}, "");',
            f'static_assert(from_string("{word}").value == Operation::{word.upper()}, "");',
            f'static_assert(from_string(to_string(Operation::{word.upper()})).found, "");',
        ]
    for text in NONE:
        size = len(text.replace("\\0", "0"))
        lines.append(f'static_assert(!from_string("{text}", {size}), "");')
    lines += [
        'static_assert(from_string("storeroom", 5).value == Operation::STORE, "");',
        'static_assert(!from_string(nullptr, 0), "");',
        "static_assert(to_string(static_cast<Operation>(0xff))[0] == 'u', \"\");",
        "XIOKV_HD const char *word(unsigned char opcode);",
        "XIOKV_HD const char *word(unsigned char opcode) {",
        "  return to_string(static_cast<Operation>(opcode));",
        "}",
        "XIOKV_HD bool known(const char *text);",
        "XIOKV_HD bool known(const char *text) { return bool(from_string(text)); }",
    ]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("compiler", [c for c in COMPILERS if c.language == "c++"], ids=str)
def test_words_lead_to_operations_and_back(compiler: Any, include: Path, tmp_path: Path) -> None:
    source = tmp_path / "unit.cpp"
    source.write_text(unit(WORDS), encoding="utf-8")
    compiler.build(include, "-fsyntax-only", "-fno-exceptions", source)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_words_are_there_in_device_code(include: Path, tmp_path: Path, arch: str) -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    source = tmp_path / "unit.hip"
    source.write_text(unit(WORDS), encoding="utf-8")
    flags = ("-std=c++17", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib")
    target = (f"--offload-arch={arch}", "--no-gpu-bundle-output", "-O2", "-Werror")
    command = ["clang-19", *flags, *target, f"-I{include}", "-c", source]
    done = subprocess.run(
        [*command, "-o", tmp_path / "unit.o"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
