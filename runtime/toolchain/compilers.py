"""Compilers on this machine: which one serves a target, and what it knows.

In: environment variables and the path. Out: a `Compiler`, or a fault of one line that
names what to install.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xiokv.runtime.errors import MissingFault

HIP_VARIABLE = "XIOKV_HIP_CXX"
NVCC_VARIABLE = "XIOKV_NVCC"

_OLDEST_CLANG = 19
_NEWEST_NUMBERED_CLANG = 40  # as clang++-40; a newer one is found as clang++
_CLANG = re.compile(r"clang version (\d+)")
_NVCC_RELEASE = re.compile(r"release .*")
_CUDA_FOLDER = "/usr/local/cuda/bin"


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler.

    Attributes:
        path: its file.
        version: the line of its ``--version`` that tells it from others.
        architectures: the GPUs that it says it compiles for; empty where it says nothing.
    """

    path: str
    version: str
    architectures: tuple[str, ...] = ()


def find_cxx() -> Compiler:
    """Return the C++ compiler: $CXX, or the first of c++, g++ and clang++ on the path."""
    asked = os.environ.get("CXX")
    for name in (asked,) if asked else ("c++", "g++", "clang++"):
        path = shutil.which(name)
        if path:
            return Compiler(path, _first_line(_said(path, "--version")))
    raise MissingFault(
        f"$CXX names {asked}, which is not there"
        if asked
        else "no C++ compiler found (c++, g++, clang++); install one: apt-get install g++"
    )


def find_hip() -> Compiler:
    """Return the compiler for AMD GPUs: $XIOKV_HIP_CXX, a clang that is able to, or hipcc."""
    if asked := _asked(HIP_VARIABLE):
        return _amd_compiler(asked)
    if able := next(_able_clangs(), None):
        return able
    if hipcc := shutil.which("hipcc"):
        return _amd_compiler(hipcc)
    raise MissingFault(
        f"no compiler for AMD GPUs found (clang {_OLDEST_CLANG} or newer with its lld, or"
        " hipcc); install one: apt-get install clang-19 lld-19"
    )


def find_nvcc() -> Compiler:
    """Return NVIDIA's compiler: $XIOKV_NVCC, nvcc on the path or in the toolkit's folder."""
    path = _asked(NVCC_VARIABLE) or shutil.which("nvcc") or shutil.which("nvcc", path=_CUDA_FOLDER)
    if path:
        said = _said(path, "--version")
        release = _NVCC_RELEASE.search(said)
        version = f"nvcc {release[0]}" if release else _first_line(said)
        return Compiler(path, version, _cuda_architectures(path))
    raise MissingFault(
        f"no nvcc found (on the path, in {_CUDA_FOLDER}); install NVIDIA's CUDA toolkit, or"
        f" name its nvcc in ${NVCC_VARIABLE}"
    )


def _asked(variable: str) -> str | None:
    """Return the compiler that an environment variable names, if it is set."""
    name = os.environ.get(variable)
    path = shutil.which(name) if name else None
    if name and not path:
        raise MissingFault(f"${variable} names {name}, which is not there")
    return path


def _able_clangs() -> Iterator[Compiler]:
    """Yield the clangs that are new enough and make code objects, the oldest first."""
    numbered = range(_OLDEST_CLANG, _NEWEST_NUMBERED_CLANG + 1)
    for name in (*(f"clang++-{number}" for number in numbered), "clang++"):
        path = shutil.which(name)
        if path and (compiler := _able(path)):
            yield compiler


def _able(clang: str) -> Compiler | None:
    """Return a clang that is new enough, knows AMD GPUs and finds the linker for them."""
    said = _said(clang, "--version")
    version = _CLANG.search(said)
    if not version or int(version[1]) < _OLDEST_CLANG:
        return None
    known = _amd_architectures(clang)
    if not known or not Path(_said(clang, "-print-prog-name=lld").strip()).is_absolute():
        return None
    return Compiler(clang, _first_line(said), known)


def _amd_compiler(path: str) -> Compiler:
    return Compiler(path, _first_line(_said(path, "--version")), _amd_architectures(path))


def _amd_architectures(path: str) -> tuple[str, ...]:
    said = _said(path, "--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus")
    return _by_age(re.findall(r"^\s+(gfx[0-9a-f]+)$", said, re.MULTILINE))


def _cuda_architectures(path: str) -> tuple[str, ...]:
    said = _said(path, "--list-gpu-code") + _said(path, "--list-gpu-arch")
    return _by_age(re.findall(r"^((?:sm|compute)_[0-9]+)$", said, re.MULTILINE))


def _by_age(names: list[str]) -> tuple[str, ...]:
    """Return names in the order of their numbers, gfx90a before gfx1010, sm_90 before sm_100."""
    return tuple(sorted(names, key=lambda name: (len(name), name)))


def _said(path: str, *arguments: str) -> str:
    """Return what a compiler answers to a question, on either stream."""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise MissingFault(f"cannot run {path}: {error.strerror}") from error
    return done.stdout


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0].strip()
