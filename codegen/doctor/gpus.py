"""Findings about what runs modules on GPUs: ROCm, Python packages, libraries and devices.

The version of hip-python has to be that of the ROCm beside it: it is built from its headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from xiokv.codegen.doctor.devices import usable
from xiokv.codegen.doctor.finding import Finding
from xiokv.codegen.doctor.machine import Machine

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,9}))?")
_HIP, _CUDA = "libamdhip64.so", "libcuda.so.1"
_LIBRARY_FOLDERS = (
    *("opt/rocm*/lib", "opt/rocm*/lib64", "usr/lib/x86_64-linux-gnu"),
    *("usr/lib64", "usr/local/lib", "usr/lib"),
)


@dataclass(frozen=True, slots=True)
class Rocm:
    """A ROCm: its numbers, as far as they are ROCm's own, and where they were read."""

    numbers: tuple[int, ...]
    where: str

    def __str__(self) -> str:
        """Return the numbers with dots."""
        return ".".join(map(str, self.numbers))


def find_rocm(machine: Machine) -> Rocm | None:
    """Return the ROCm of $ROCM_PATH, else the newest below /opt, else what hipconfig says."""
    named = escape(machine.environ.get("ROCM_PATH", "").strip("/"))
    for patterns in ((f"{named}/.info/version",) if named else (), ("opt/rocm*/.info/version",)):
        found = [rocm for path in machine.find(*patterns) if (rocm := _read(machine, path))]
        if found:
            return max(found, key=lambda rocm: rocm.numbers)
    said = _VERSION.search(machine.output("hipconfig", "--version"))
    # The third number is a build of HIP, not ROCm's.
    return Rocm((int(said[1]), int(said[2])), "hipconfig --version") if said else None


def amd(machine: Machine, *, needed: bool) -> Iterator[Finding]:
    """Yield what a module for AMD GPUs needs to run."""
    rocm = find_rocm(machine)
    if rocm:
        yield Finding("ROCm", True, f"{rocm} ({rocm.where})")
    else:
        seen = "none in $ROCM_PATH, /opt/rocm*, and no hipconfig"
        yield Finding("ROCm", False, seen, "install AMD's ROCm to run on AMD GPUs")
    yield _hip_python(machine, rocm, needed)
    yield _library(machine, _HIP, "ROCm's development package", needed)
    yield _device(machine, "AMD GPUs", ("dev/kfd",), ("dev/dri/renderD*",), needed)


def nvidia(machine: Machine, *, needed: bool) -> Iterator[Finding]:
    """Yield what a module for NVIDIA GPUs needs to run."""
    version = machine.package("cuda-bindings")
    advice = "" if version else "pip install 'cuda-bindings>=12'"
    yield Finding("cuda-bindings", bool(version), version or "not installed", advice, needed)
    yield _library(machine, _CUDA, "NVIDIA's driver", needed)
    yield _device(machine, "NVIDIA GPUs", ("dev/nvidiactl",), ("dev/nvidia[0-9]*",), needed)


def _read(machine: Machine, path: Path) -> Rocm | None:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    numbers = _VERSION.match(text.strip())
    if numbers is None:
        return None
    return Rocm(tuple(int(n) for n in numbers.groups() if n is not None), machine.shown(path))


def _hip_python(machine: Machine, rocm: Rocm | None, needed: bool) -> Finding:
    version = machine.package("hip-python")
    wanted = f"pip install 'hip-python=={rocm}.*'" if rocm else "pip install 'hip-python>=6.2'"
    if version is None:
        return Finding("hip-python", False, "not installed", wanted, needed)
    found = _VERSION.match(version)
    numbers = tuple(int(n) for n in found.groups() if n is not None) if found else ()
    if rocm is None:
        return Finding("hip-python", True, f"{version}, and no ROCm to compare it with")
    if numbers[: len(rocm.numbers)] == rocm.numbers:
        return Finding("hip-python", True, f"{version}, of this ROCm")
    seen = f"{version} is for another ROCm than {rocm}"
    # Within one major version the library keeps its functions.
    return Finding("hip-python", numbers[:1] == rocm.numbers[:1], seen, wanted, needed)


def _library(machine: Machine, name: str, package: str, needed: bool) -> Finding:
    if machine.opens(name):
        return Finding(name, True, "the loader opens it")
    searched = machine.environ.get("LD_LIBRARY_PATH", "").split(":")
    named = [escape(folder.strip("/")) for folder in searched]
    folders = [*filter(None, named), *_LIBRARY_FOLDERS]
    there = machine.find(*(f"{folder}/{name}" for folder in folders))
    if there:
        folder = machine.shown(there[0].parent)
        advice = f"export LD_LIBRARY_PATH={folder}, or name the folder in /etc/ld.so.conf.d"
        return Finding(name, False, f"in {folder}, where the loader does not look", advice, needed)
    others = machine.find(*(f"{folder}/{name}.*" for folder in folders))
    if others:
        seen = f"only {machine.shown(others[0])}"
        return Finding(name, False, seen, f"install {package}, which has the name", needed)
    return Finding(name, False, "not found", f"install {package}", needed)


def _device(
    machine: Machine, name: str, control: tuple[str, ...], each: tuple[str, ...], needed: bool
) -> Finding:
    controls, devices = machine.find(*control), machine.find(*each)
    if not controls or not devices:
        wanted = " and ".join(f"/{pattern}" for pattern in (*control, *each))
        advice = "load the driver; in a container hand them in, as by docker run --device"
        return Finding(name, False, f"no {wanted}", advice, needed)
    return usable(machine, name, [*controls, *devices], needed)
