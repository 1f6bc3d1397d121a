"""Findings about compilers: those that a build uses, found in the way that it finds them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from xiokv.codegen.doctor.finding import Finding
from xiokv.codegen.doctor.machine import Machine
from xiokv.runtime import toolchain

_COMPILERS: tuple[tuple[str, str, Callable[[], toolchain.Compiler]], ...] = (
    ("host", "C++ compiler", toolchain.find_cxx),
    ("hip", "compiler for AMD GPUs", toolchain.find_hip),
    ("cuda", "nvcc", toolchain.find_nvcc),
)


def compilers(machine: Machine, targets: Collection[str]) -> Iterator[Finding]:
    """Yield the compiler of each target, and hipcc, which serves where no clang does."""
    for target, name, find in _COMPILERS:
        yield _compiler(name, find, needed=target in targets)
    hipcc = machine.which("hipcc")
    yield Finding("hipcc", bool(hipcc), hipcc or "not on the path, not needed where a clang serves")


def _compiler(name: str, find: Callable[[], toolchain.Compiler], *, needed: bool) -> Finding:
    try:
        compiler = find()
    except toolchain.RuntimeFault as fault:
        seen, _, advice = str(fault).splitlines()[0].partition("; ")
        return Finding(name, False, seen, advice, needed)
    return Finding(name, True, f"{compiler.path}: {compiler.version}")
