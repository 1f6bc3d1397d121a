"""The kernels compile without a warning; for NVIDIA GPUs they neither spill nor waste a word."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import INCLUDE, KERNELS, mutated

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
AMD = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")


def compile_kernels(compiler: str, *flags: str | Path, include: Path = INCLUDE) -> str:
    """Compile the kernels; return what the compiler said."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    command = [compiler, *map(str, flags), f"-I{include}", str(KERNELS)]
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


def unused_words(folder: Path, include: Path = INCLUDE) -> list[str]:
    """Return the words of completions that the code for NVIDIA GPUs loads and does not use."""
    ptx = folder / "kernels.ptx"
    flags = ("-x", "cu", "-arch=sm_90", "-std=c++17", "-O3", "-ptx", "-o", ptx)
    compile_kernels("nvcc", *flags, include=include)
    _, *kernels = re.split(r"\.entry (xiokv_batch_\w+)", ptx.read_text())
    unused = []
    for name, body in zip(kernels[::2], kernels[1::2], strict=True):
        loads = re.findall(r"@p ld\.volatile\.v4\.u32 \{(.+?)\}", body)
        assert loads, f"{name} loads no completion again"
        used = set(re.findall(r"[,\[] ?(%r\d+)", re.sub(r"\{.*?\},", "", body)))
        unused += [
            f"{name} {word}" for load in loads for word in load.split(",") if word not in used
        ]
    return unused


@pytest.mark.slow
def test_every_word_of_a_completion_is_used_on_nvidia_gpus(tmp_path: Path) -> None:
    assert unused_words(tmp_path) == []


@pytest.mark.slow
def test_a_word_that_nothing_uses_is_found(tmp_path: Path) -> None:
    edits = (("(words.word[0] | words.word[1]) & zero", "words.word[0] & zero"),)
    assert unused_words(tmp_path, mutated(tmp_path, edits))
