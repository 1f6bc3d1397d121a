"""The kernels compile without a warning, and for NVIDIA GPUs without a spill."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import INCLUDE, KERNELS

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
AMD = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")


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
@pytest.mark.parametrize("architecture", ["gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201"])
def test_the_kernels_compile_for_amd_gpus(architecture: str, tmp_path: Path) -> None:
    target = (f"--offload-arch={architecture}", "-mcode-object-version=5", "-std=c++17", "-O3")
    compile_kernels("clang-19", *AMD, *target, *WARNINGS, "-c", "-o", tmp_path / "kernels.o")


@pytest.mark.slow
def test_the_kernels_compile_for_nvidia_gpus_without_spills(tmp_path: Path) -> None:
    said = compile_kernels(
        "nvcc",
        *("-x", "cu", "-arch=sm_90", "-std=c++17", "-O3", "-Werror", "all-warnings"),
        *("-Xptxas", "-v", "-cubin", "-o", tmp_path / "kernels.cubin"),
    )
    spills = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", said)
    assert spills == [("0", "0")] * 5
