"""Code objects of the tests' own kernels, whole or with instructions taken out.

In: a source in device/, an architecture, and what to take out. Out: a code object's bytes.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from . import machine

ROOT = Path(__file__).resolve().parents[2]
DEVICE = Path(__file__).resolve().parent / "device"

ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201")

_HIP = (
    *("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib"),
    *("-O3", "-std=c++17", "-mcode-object-version=5", "-Wall", "-Wextra", "-Werror"),
)

requires_tools = pytest.mark.skipif(
    bool(machine.missing_tools()), reason=f"not installed: {', '.join(machine.missing_tools())}"
)


@cache
def image(source: str, architecture: str, *flags: str) -> machine.Image:
    """Load what a source of device/, or a file elsewhere, compiles to."""
    return machine.Image(_output("clang-19", *_target(architecture), *flags, "-c", DEVICE / source))


@cache
def image_without(source: str, architecture: str, kernel: str, pattern: str) -> machine.Image:
    """Load a source's code with a kernel that lacks the instructions that a pattern matches."""
    text = _assembly(source, architecture)
    start = text.index(f"\n{kernel}:")
    end = text.index("\n.Lfunc_end", start)
    shorter = re.sub(rf"^\t{pattern}.*$", "", text[start:end], flags=re.MULTILINE)
    assert shorter != text[start:end], f"{kernel} for {architecture} has no {pattern}"
    return machine.Image(_assembled(architecture, text[:start] + shorter + text[end:]))


@cache
def host_library(source: str, *flags: str) -> ctypes.CDLL:
    """Load what a source of device/ compiles to for this computer."""
    words = ("clang++-19", "-std=c++17", "-O2", "-shared", "-fPIC", f"-I{DEVICE}", *flags)
    with TemporaryDirectory() as folder:
        library = Path(folder) / "host.so"
        library.write_bytes(_output(*words, DEVICE / source))
        return ctypes.CDLL(str(library))


@cache
def _assembly(source: str, architecture: str) -> str:
    return _output("clang-19", *_target(architecture), "-S", DEVICE / source).decode()


def _target(architecture: str) -> tuple[str, ...]:
    return (*_HIP, f"--offload-arch={architecture}", f"-I{DEVICE}")


def _assembled(architecture: str, text: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.s"
        path.write_text(text)
        target = ("--target=amdgcn-amd-amdhsa", f"-mcpu={architecture}")
        return _output("clang-19", *target, "-mcode-object-version=5", path)


def _output(*command: object) -> bytes:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        words = [*map(str, command), "-o", str(out)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return out.read_bytes()
