"""Every header compiles, alone and without a warning, for hosts and for GPUs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.semantics.docs import load_docs
from xiokv.codegen.spec.model import SemanticField

DEVICE = Path(__file__).with_name("device.hip")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
HOSTILE = (
    'end */ #error out\n#error "line" \\\n??/\n/* \\brief @brief """ %s {{ x }} \x00\x1b\u2028'
)


def run(*command: str | Path) -> None:
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_each_header_compiles_on_its_own(compiler: Any, include: Path, tmp_path: Path) -> None:
    for header in sorted(include.rglob("*.h")):
        source = tmp_path / "unit.c"
        name = header.relative_to(include)
        source.write_text(f'#include "{name}"\n#include "{name}"\nint unit;\n', encoding="utf-8")
        compiler.build(include, "-fsyntax-only", source)


def compile_for_amd(include: Path, arch: str, *arguments: str | Path) -> None:
    flags = ("-std=c++17", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib")
    target = (f"--offload-arch={arch}", "--no-gpu-bundle-output", "-O2")
    run("clang-19", *flags, *target, *WARNINGS, f"-I{include}", *arguments, DEVICE)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_the_headers_compile_for_amd_gpus(include: Path, tmp_path: Path, arch: str) -> None:
    compile_for_amd(include, arch, "-c", "-o", tmp_path / "device.o")


@pytest.mark.parametrize(
    ("arch", "store"), [("gfx942", "global_store_dwordx4"), ("gfx1100", "global_store_b128")]
)
def test_a_raw_entry_leaves_as_four_stores_of_16_bytes(
    include: Path, tmp_path: Path, arch: str, store: str
) -> None:
    listing = tmp_path / "device.s"
    compile_for_amd(include, arch, "-S", "-o", listing)
    kernel = listing.read_text(encoding="utf-8").split("\nencode_raw:")[1].split("s_endpgm")[0]
    assert re.findall(r"global_store_\w+", kernel) == [store] * 4


def test_the_headers_compile_with_nvcc(include: Path, tmp_path: Path) -> None:
    flags = ("-std=c++17", "-x", "cu", "-arch=sm_90", "-Werror", "all-warnings")
    host = ("-Xcompiler", "-Wall,-Wextra,-Werror")
    run("nvcc", *flags, *host, f"-I{include}", "-c", "-o", tmp_path / "device.o", DEVICE)


def test_hostile_text_stays_within_its_comment(
    compiler: Any, make_spec: Any, write: Any, tmp_path: Path
) -> None:
    field = SemanticField("model", 11, Bits(31, 16), "batch", ("store",), HOSTILE, HOSTILE)
    docs = {"xiokv_cmd.nsid": HOSTILE, "XIOKV_OPC_STORE": HOSTILE, "store": HOSTILE}
    include = write(make_spec(field, docs=load_docs() | docs))
    source = tmp_path / "unit.c"
    source.write_text(
        '#include "xiokv/kv_commands.h"\n'
        'XIOKV_STATIC_ASSERT(offsetof(struct xiokv_cmd, nsid) == 4, "");\n'
        "int store(struct xiokv_sqe *sqe);\n"
        "int store(struct xiokv_sqe *sqe) {\n"
        "  return xiokv_encode_store(sqe, NULL, 1, NULL, 0, XIOKV_OPC_STORE, 0, 1);\n"
        "}\n",
        encoding="utf-8",
    )
    compiler.build(include, "-fsyntax-only", "-Wcomment", "-Wtrigraphs", source)
