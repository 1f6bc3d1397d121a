"""The kernels compile without a warning, and GPUs keep registers and whole accesses."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import INCLUDE, KERNELS

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
AMD = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")
# How a load says that it passes by the caches, up to the host's memory.
UNCACHED = {
    "gfx90a": "glc",
    "gfx942": "sc0 sc1",
    "gfx1100": "glc dlc",
    "gfx1151": "glc dlc",
    "gfx1201": "scope:SCOPE_SYS",
}


def compile_kernels(compiler: str, *flags: str | Path) -> str:
    """Compile the kernels; return what the compiler said."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    command = [compiler, *map(str, flags), f"-I{INCLUDE}", str(KERNELS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("standard", ["-std=c++17", "-std=c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_the_kernels_compile_for_the_host(compiler: str, standard: str) -> None:
    compile_kernels(compiler, standard, "-O2", *WARNINGS, "-fsyntax-only")


@pytest.mark.slow
@pytest.mark.parametrize("architecture", UNCACHED)
def test_the_kernels_compile_for_amd_gpus_without_scratch(
    architecture: str, tmp_path: Path
) -> None:
    target = (f"--offload-arch={architecture}", "-mcode-object-version=5")
    said = compile_kernels(
        "clang-19",
        *AMD,
        *target,
        *("-std=c++17", "-O3", *WARNINGS),
        *("-Rpass-analysis=kernel-resource-usage", "-c", "-o", tmp_path / "kernels.o"),
    )
    # One remark a kernel.
    assert re.findall(r"ScratchSize \[bytes/lane\]: (\d+)", said) == ["0"] * 5


@pytest.mark.slow
@pytest.mark.parametrize("architecture", UNCACHED)
def test_an_entry_is_read_by_one_load_of_16_bytes(architecture: str, tmp_path: Path) -> None:
    listing = tmp_path / "kernels.s"
    target = f"--offload-arch={architecture}"
    compile_kernels("clang-19", *AMD, target, "-std=c++17", "-O3", "-S", "-o", listing)
    marked = re.compile(rf"(\w+_load_\w+) .* {UNCACHED[architecture]}$", re.MULTILINE)
    loads = marked.findall(listing.read_text(encoding="utf-8"))
    # Stop flag, look, second read, last look, its second read; for each place of the tables.
    assert len(loads) == 5 * 5 * 2
    assert {load.rsplit("_", 1)[1] for load in loads} <= {"dwordx4", "b128"}


@pytest.mark.slow
def test_the_kernels_compile_for_nvidia_gpus_without_spills(tmp_path: Path) -> None:
    said = compile_kernels(
        "nvcc",
        *("-x", "cu", "-arch=sm_90", "-std=c++17", "-O3", "-Werror", "all-warnings"),
        *("-Xptxas", "-v", "-cubin", "-o", tmp_path / "kernels.cubin"),
    )
    spills = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", said)
    assert spills == [("0", "0")] * 5
