"""The baselines: right whatever the lanes and the controller do, and never without an end."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from xiokv.runtime.bench import cpu
from xiokv.runtime.bench.baselines import SHAPES, recipe
from xiokv.runtime.errors import MissingFault

ROOT = Path(__file__).resolve().parents[2]
EMULATOR, KERNELS = ROOT / "runtime" / "emulator", ROOT / "runtime" / "bench" / "kernels"
SIMULATOR, INCLUDE = ROOT / "tests" / "engine", ROOT / "generated" / "include"
MOST_SECONDS = 200
SIMULATED_SHAPES = ("reference", "lean_reference", "each")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")


def compile_with(compiler: str, *arguments: str | Path) -> None:
    done = subprocess.run(
        [compiler, "-std=c++17", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def simulated(folder: Path) -> Path:
    """Return the program that runs the baselines as 8 lanes in waves of 4."""
    emulator = folder / "whole_emulator.cpp"
    units = sorted(path.name for path in EMULATOR.glob("*.cpp"))
    emulator.write_text("".join(f'#include "{name}"\n' for name in units))
    compile_with(
        "g++",
        *("-O1", "-g1", "-pthread", "-w", "-U_FORTIFY_SOURCE"),
        *(f"-I{folder}" for folder in (INCLUDE, EMULATOR, SIMULATOR)),
        *("-DSIMULATED_LANES=8u", "-DSIMULATED_WAVE=4u", "-DSIMULATED_SHARED_WINDOW=16u"),
        *("-DSIMULATED_EARLY_ACQUIRE=0", '-DXIOKV_PLATFORM_HEADER="platform_fibers.h"'),
        *(Path(__file__).with_name("shapes.cpp"), KERNELS / "bench_kernels.cpp", emulator),
        *(SIMULATOR / "bench.cpp", SIMULATOR / "fibers.cpp", "-o", folder / "shapes"),
    )
    return folder / "shapes"


# One test, so that the program is built once.
@pytest.mark.slow
def test_every_key_gets_what_is_its_own_or_the_queue_is_given_up(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: apt-get install g++")
    program = simulated(tmp_path)

    for shape, fault in product(SIMULATED_SHAPES, ("none", "reorder", "drop")):
        done = subprocess.run(
            [program, shape, fault, "1", "60"],
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
        assert done.returncode == 0, f"{shape}, {fault}: {done.stdout}"


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_the_parts_for_the_cpu_compile_without_a_warning(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    units = sorted((ROOT / "runtime" / "bench" / "native").glob("*.cpp"))
    compile_with(compiler, *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", *units)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "architecture"), [("hip", "gfx90a"), ("hip", "gfx1100"), ("cuda", "sm_90")]
)
def test_the_baselines_compile_for_gpus(target: str, architecture: str, tmp_path: Path) -> None:
    from xiokv.runtime import toolchain

    try:
        made = toolchain.build(recipe(target, architecture), tmp_path)
    except MissingFault as fault:
        pytest.skip(str(fault))
    assert made.is_file()
    assert toolchain.costs(tmp_path) == ()


def test_recipes_name_texts_that_are_there() -> None:
    for made in (recipe("host"), cpu.recipe()):
        assert made.sources.read
        assert made.sources.digest()
    assert sorted(recipe("host").description["commands"]) == sorted(SHAPES)
