"""The kinds of GPU: their architectures, flags and files.

In: names of architectures. Out: a recipe for a compiler that knows all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xiokv.runtime.toolchain.architectures import AMD, NVIDIA, Family, check_architectures
from xiokv.runtime.toolchain.compilers import Compiler, find_hip, find_nvcc
from xiokv.runtime.toolchain.recipes import Figures, Output, Recipe, Sources

HIP_ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201")
HIP_WHERE_KNOWN = ("gfx950",)  # newer than the oldest compiler that serves
CUDA_ARCHITECTURES = ("sm_80", "sm_90", "compute_80")


@dataclass(frozen=True, slots=True)
class Gpu:
    """What differs between the kinds of GPU.

    Attributes:
        find: returns the compiler.
        flags: what the compiler is given for every architecture.
        supported: returns the architectures to compile for where none is asked for.
        canonical: returns an architecture's name as the compiled file has it.
        family: which architectures there are.
        output: returns the file for an architecture; its name begins with the stem given.
        figures: returns what is told of a file, from it and from what the compiler said.
    """

    find: Callable[[], Compiler]
    flags: tuple[str, ...]
    supported: Callable[[Compiler], tuple[str, ...]]
    canonical: Callable[[str], str]
    family: Family
    output: Callable[[str, str], Output]
    figures: Callable[[Path, str], Figures]


def gpu_recipe(
    target: str,
    stem: str,
    sources: Sources,
    description: Mapping[str, Any],
    architectures: Sequence[str],
) -> Recipe:
    """Return how a file for each architecture is made; `recipe` says what it raises."""
    gpu = GPUS[target]
    compiler = gpu.find()
    asked = tuple(dict.fromkeys(map(gpu.canonical, architectures)))
    chosen = asked or gpu.supported(compiler)
    check_architectures(gpu.family, compiler, gpu.flags, chosen)
    outputs = tuple(gpu.output(stem, name) for name in chosen)
    described = {**description, "arch": list(chosen)}
    return Recipe(outputs, sources, gpu.flags, described, compiler, gpu.figures)


def _hip_supported(compiler: Compiler) -> tuple[str, ...]:
    newer = (name for name in HIP_WHERE_KNOWN if name in compiler.architectures)
    return (*HIP_ARCHITECTURES, *newer)


def _target_id(name: str) -> str:
    """Return a processor with its features in alphabetical order, as code objects have it."""
    processor, *features = name.split(":")
    return ":".join([processor, *sorted(features)])


def _code_object(stem: str, name: str) -> Output:
    return Output(f"{stem}_{name.replace(':', '_')}.hsaco", name, (f"--offload-arch={name}",))


def _code_object_figures(path: Path, said: str) -> Figures:
    # Imported here: what reads ELF files takes longer to import than all the rest.
    from xiokv.runtime.toolchain.code_object import code_object_figures

    return code_object_figures(path)


def _cubin_or_ptx(stem: str, name: str) -> Output:
    if name.startswith("compute_"):
        return Output(f"{stem}_{name}.ptx", name, (f"-arch={name}", "-ptx"))
    return Output(f"{stem}_{name}.cubin", name, (f"-arch={name}", "-cubin", "-Xptxas", "-v"))


def _ptxas_figures(path: Path, said: str) -> Figures:
    from xiokv.runtime.toolchain.ptxas import ptxas_figures

    return ptxas_figures(said)


GPUS: Mapping[str, Gpu] = {
    "hip": Gpu(
        find=find_hip,
        # No device library and no wrapper header: so plain clang serves, without ROCm.
        flags=(
            *("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output"),
            *("-nogpuinc", "-nogpulib", "-mcode-object-version=5", "-std=c++17", "-O3"),
        ),
        supported=_hip_supported,
        canonical=_target_id,
        family=AMD,
        output=_code_object,
        figures=_code_object_figures,
    ),
    "cuda": Gpu(
        find=find_nvcc,
        flags=("-x", "cu", "-std=c++17", "-O3"),
        supported=lambda compiler: CUDA_ARCHITECTURES,
        canonical=str,
        family=NVIDIA,
        output=_cubin_or_ptx,
        figures=_ptxas_figures,
    ),
}
