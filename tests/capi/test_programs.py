"""Programs in C and C++ make every call of the library, also under sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import pytest

from xiokv.runtime import toolchain

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
STANDIN = ROOT / "tests/nvme/standin/standin.cpp"
PARTS = ["calls", "refused", "faults", "handles"]
SANITIZERS = ["thread", "address,undefined"]
STRICT = ("-Wall", "-Wextra", "-Werror", "-g", "-pthread", "-I", str(ROOT / "generated/include"))
C = ("gcc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", *STRICT)
CPP = ("g++", "-std=c++17", *STRICT)


@pytest.fixture(scope="module", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""
    for compiler in (C[0], CPP[0]):
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed: apt-get install {compiler}")


@dataclass(frozen=True)
class Built:
    """The programs, and the module that they load."""

    folder: Path
    module: Path

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.folder / program, *arguments],
            env={
                **os.environ,
                "XIOKV_MODULE": str(self.module),
                "TSAN_OPTIONS": "die_after_fork=0",
                # The search for leaks misreads the C library's blocks for thread_local.
                "ASAN_OPTIONS": "intercept_tls_get_addr=0",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = (done.returncode, done.stderr, done.stdout)
        assert said == (0, "", "".join(f"{word}\n" for word in arguments or [program]))


def build(folder: Path, *flags: str) -> Built:
    """Compile library, module and programs."""
    generated = ROOT / "generated"
    recipes = (
        toolchain.capi_recipe(version("xiokv")),
        toolchain.host_recipe(generated, version("xiokv")),
    )
    # Also the engine's stores and loads are to be seen.
    made = [
        toolchain.build_cached(replace(recipe, flags=(*recipe.flags, *flags)) if flags else recipe)
        for recipe in recipes
    ]
    link = (*flags, made[0], f"-Wl,-rpath,{made[0].parent}")
    units = [PROGRAMS / f"{name}.c" for name in ("main", *PARTS)]
    calls = folder / "calls.o"
    compiled = [
        (*C, *flags, *units, *link, "-o", folder / "main"),
        (*C, *flags, "-c", PROGRAMS / "calls.c", "-o", calls),
        (*CPP, *flags, PROGRAMS / "device.cpp", STANDIN, calls, *link, "-o", folder / "device"),
    ]
    for command in compiled:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return Built(folder, made[1].parent)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("programs"))


@pytest.mark.parametrize("part", PARTS)
def test_a_program_in_c(built: Built, part: str) -> None:
    built.run("main", part)


def test_a_program_in_cpp_on_a_namespace_that_is_passed_through(built: Built) -> None:
    built.run("device")


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_the_programs_under_a_sanitizer(sanitizer: str, tmp_path: Path) -> None:
    # To note where variables are would take longer than all else of the compilation.
    built = build(tmp_path, "-O1", "-g1", f"-fsanitize={sanitizer}")
    for part in PARTS:
        built.run("main", part)
    built.run("device")
