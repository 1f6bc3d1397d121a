"""Kernels to compile, small and real, and compilers that stand in for others."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

from xiokv.runtime import toolchain

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201")
CLANG = "clang++-19"

# Compiles as HIP, as CUDA and for the host. On GPUs: LDS for the first kernel; scratch or
# local memory, and a call, for the second.
KERNELS = """
#include "part.h"
#if defined(__HIP__) || defined(__CUDACC__)
#define KERNEL extern "C" __attribute__((global))
__attribute__((device, noinline)) int called(int a) {
  volatile int kept[4];
  kept[a & 3] = a;
  return kept[1] * a;
}
KERNEL void lean(int *p, int a, unsigned lane) {
  __attribute__((shared)) int shared[30];
  shared[lane] = a;
  p[lane] = shared[PART];
}
KERNEL void costly(int *p, int a) { p[0] = called(a) + called(p[1]); }
#else
extern "C" int lean() { return PART; }
#endif
"""

# What a clang answers that compiles nothing: it copies a code object that was made before,
# or fails for an architecture, or waits for one as long as the gate is held.
STAND_IN = """#!/bin/sh
case "$*" in
--version) exec cat "{folder}/version" ;;
*--print-supported-cpus*) exec cat "{folder}/known" ;;
*-print-prog-name*) exec cat "{folder}/lld" ;;
*-fsyntax-only*) exit 0 ;;
esac
echo "$@" >> "{folder}/calls"
for output; do :; done
case "$*" in *"$(cat "{folder}/waits")"*) echo half > "$output"; flock "{folder}/gate" true ;; esac
case "$*" in *"$(cat "{folder}/fails")"*) echo half > "$output"; echo boom >&2; exit 1 ;; esac
cp "{code_object}" "$output"
"""


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


@pytest.fixture(scope="session")
def clang() -> str:
    """Return the path of the clang that makes code objects, or skip."""
    path = shutil.which(CLANG)
    if path is None:
        pytest.skip(f"{CLANG} is not installed")
    return path


@pytest.fixture(scope="session")
def nvcc() -> str:
    """Return the path of nvcc, or skip."""
    path = shutil.which("nvcc")
    if path is None:
        pytest.skip("nvcc is not installed")
    return path


def write_kernels(folder: Path) -> Path:
    """Write a folder as `xiokv-gen build` does, with two small kernels."""
    (folder / "kernels").mkdir(parents=True)
    (folder / "include").mkdir()
    (folder / "kernels" / "kv_kernels.cpp").write_text(KERNELS)
    (folder / "include" / "part.h").write_text("#define PART 3\n")
    (folder / "kernels" / "kv_module.json").write_text('{"spec": "1"}')
    return folder


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    """Return a folder with two small kernels."""
    return write_kernels(tmp_path / "generated")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new folder that the processes of this test session share.

    A build into it happens once: whoever comes later waits for it.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared-build"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def small(clang: str, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the two small kernels compiled for a wave64 and a wave32 GPU."""
    generated = write_kernels(tmp_path_factory.mktemp("small") / "generated")
    recipe = toolchain.recipe("hip", generated, "0", ("gfx942:xnack-:sramecc+", "gfx1100"))
    return toolchain.build(recipe, shared / "small")


@pytest.fixture(scope="session")
def whole(clang: str, shared: Path) -> Path:
    """Return a folder with this checkout's kernels compiled for every AMD GPU."""
    recipe = toolchain.recipe("hip", ROOT / "generated", version("xiokv"), ARCHITECTURES)
    return toolchain.build(recipe, shared / "whole")


def described(folder: Path) -> dict:
    """Return the description in a folder."""
    return dict(json.loads((folder / "module.json").read_text(encoding="utf-8")))


@dataclass(frozen=True)
class StandIn:
    """A compiler for AMD GPUs that answers as it is told."""

    folder: Path

    @property
    def path(self) -> str:
        return str(self.folder / "clang++-19")

    @property
    def calls(self) -> list[str]:
        """The compilations, a line each."""
        calls = self.folder / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def tell(self, **answers: str) -> None:
        """Set what it answers: version, known, lld; and for what it fails and waits."""
        for name, text in answers.items():
            (self.folder / name).write_text(text)

    @contextmanager
    def waiting(self, architecture: str) -> Iterator[None]:
        """Let compilations for an architecture wait to the end of the block."""
        self.tell(waits=architecture)
        with (self.folder / "gate").open("w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            yield
        self.tell(waits="none")


@pytest.fixture
def stand_in(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Return a compiler that is quick, and is the one that is taken."""
    made = StandIn(tmp_path / "stand-in")
    made.folder.mkdir()
    code_object = small / "xiokv_gfx1100.hsaco"
    Path(made.path).write_text(STAND_IN.format(folder=made.folder, code_object=code_object))
    Path(made.path).chmod(0o755)
    known = "".join(f"\t{name}\n" for name in ARCHITECTURES)
    made.tell(version="a clang version 19.1\n", known=known, lld="/a/lld\n")
    made.tell(fails="none", waits="none")
    monkeypatch.setenv("XIOKV_HIP_CXX", made.path)
    return made


Build = Callable[..., Path]


@pytest.fixture
def build(generated: Path, tmp_path: Path) -> Build:
    """Return a function that builds the small kernels for AMD GPUs into one folder."""

    def run(*architectures: str, generator: str = "0") -> Path:
        recipe = toolchain.recipe("hip", generated, generator, architectures)
        return toolchain.build(recipe, tmp_path / "out")

    return run
