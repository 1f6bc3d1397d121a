"""The copier's C++ and both kernels: clean for every compiler, and sound under sanitisers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiling import WARNINGS, needs, run, sanitised

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "runtime" / "gpu"
INCLUDE = ROOT / "generated" / "include"
KERNELS = [SOURCES / "copier_kernel.cpp", SOURCES / "relay_kernel.cpp"]
UNITS = sorted(set(SOURCES.glob("*.cpp")) - set(KERNELS))
AMD = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_the_cpu_s_side_compiles_without_a_warning(compiler: str) -> None:
    run(needs(compiler), "-std=c++17", *WARNINGS, "-fsyntax-only", *UNITS)


@pytest.mark.parametrize("header", ["copier.h", "copier_cuda.h"])
def test_the_interface_is_c(header: str) -> None:
    include = ("-include", SOURCES / header)
    run("g++", "-std=c11", *WARNINGS, "-fsyntax-only", *include, "-x", "c", "/dev/null")


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.stem)
@pytest.mark.parametrize("architecture", ["gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201"])
def test_kernels_for_amd_gpus_need_no_scratch(
    tmp_path: Path, kernel: Path, architecture: str
) -> None:
    flags = (*AMD, "-std=c++17", "-O3", *WARNINGS, f"--offload-arch={architecture}")
    run(needs("clang++-19"), *flags, "-I", INCLUDE, kernel, "-o", tmp_path / "kernel.hsaco")

    notes = run(needs("llvm-readelf-19"), "--notes", tmp_path / "kernel.hsaco").stdout
    assert ".private_segment_fixed_size: 0" in notes


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.stem)
def test_kernels_for_nvidia_gpus_do_not_spill(tmp_path: Path, kernel: Path) -> None:
    flags = ("-x", "cu", "-std=c++17", "-O3", "-arch=sm_80", "-cubin", "-Xptxas", "-v")
    said = run(needs("nvcc"), *flags, "-I", INCLUDE, kernel, "-o", tmp_path / "kernel.cubin")

    assert "0 bytes spill stores, 0 bytes spill loads" in said.stdout + said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("sanitiser", ["thread", "address,undefined"])
def test_threads_copy_soundly_while_leases_end(tmp_path: Path, sanitiser: str) -> None:
    places = ("-O1", "-I", SOURCES, "-I", INCLUDE)
    units = (*UNITS, SOURCES / "copier_kernel.cpp", Path(__file__).with_name("hammer.cpp"))
    hammer = sanitised(tmp_path, sanitiser, *places, *units)

    assert int(run(hammer, "60").stdout) > 1
