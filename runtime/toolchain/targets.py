"""The module of each target: its architectures, flags and files.

In: a folder of generated text, and the architectures that are asked for. Out: a recipe,
for a compiler that knows all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.toolchain.compilers import Compiler, find_hip, find_nvcc
from xiokv.runtime.toolchain.recipes import Figures, Output, Recipe, Sources, library_recipe

HOST_MODULE = "xiokv_host.so"
HIP_ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201")
HIP_WHERE_KNOWN = ("gfx950",)  # newer than the oldest compiler that serves
CUDA_ARCHITECTURES = ("sm_80", "sm_90", "compute_80")

_UNIT = "kernels/kv_kernels.cpp"
_HOST_FLAGS = ("-std=c++17", "-O2", "-g", "-fPIC", "-shared", "-pthread", "-fvisibility=default")
# No device library and no wrapper header: so plain clang serves, without ROCm.
_HIP_FLAGS = (
    *("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output"),
    *("-nogpuinc", "-nogpulib", "-mcode-object-version=5", "-std=c++17", "-O3"),
)
_CUDA_FLAGS = ("-x", "cu", "-std=c++17", "-O3")


def recipe(
    target: str, generated: Path, generator: str, architectures: Sequence[str] = ()
) -> Recipe:
    """Return how a target's module is made from a folder of generated text.

    Args:
        target: "host", "hip" or "cuda".
        generated: the folder that holds ``include/`` and ``kernels/``.
        generator: version of xiokv that compiles, for the description.
        architectures: GPUs to compile for; those that xiokv supports by default.

    Raises:
        ArgumentFault: the compiler knows no such architecture.
        MissingFault: there is no compiler for the GPUs; that for the host is looked for
            later, by the build.
    """
    return _RECIPES[target](generated, generator, tuple(dict.fromkeys(architectures)))


def host_recipe(generated: Path, generator: str) -> Recipe:
    """Return how the host module is made from a folder of generated text."""
    return recipe("host", generated, generator)


def kernel_recipe(
    target: str,
    stem: str,
    sources: Sources,
    description: Mapping[str, Any],
    architecture: str,
) -> Recipe:
    """Return how kernels that are no module's are made, for one device.

    Args:
        target: "host", "hip" or "cuda".
        stem: the file's name without its suffix.
        sources: texts that include the engine's platform.
        description: what their description says besides.
        architecture: what the device's driver states; of no meaning for the host.
    """
    described = {**description, "target": target}
    if target == "host":
        return library_recipe(f"{stem}.so", sources, _HOST_FLAGS, described)
    described["arch"] = [architecture]
    if target == "cuda":
        output = Output(f"{stem}.cubin", architecture, (f"-arch={architecture}", "-cubin"))
        return Recipe((output,), sources, _CUDA_FLAGS, described, find_nvcc(), _no_figures)
    output = Output(f"{stem}.hsaco", architecture, (f"--offload-arch={architecture}",))
    return Recipe((output,), sources, _HIP_FLAGS, described, find_hip(), _no_figures)


def _host(generated: Path, generator: str, architectures: tuple[str, ...]) -> Recipe:
    if architectures:
        raise ArgumentFault(
            f"architecture {architectures[0]}: the host module is for this machine's processor"
        )
    description = _description("host", generated, generator)
    return library_recipe(HOST_MODULE, _sources(generated), _HOST_FLAGS, description)


def _hip(generated: Path, generator: str, architectures: tuple[str, ...]) -> Recipe:
    description = _description("hip", generated, generator)
    compiler = find_hip()
    # A target id names its features in alphabetical order.
    asked = tuple(":".join(sorted(name.split(":"), key=_feature)) for name in architectures)
    known = tuple(name for name in HIP_WHERE_KNOWN if name in compiler.architectures)
    chosen = asked or (*HIP_ARCHITECTURES, *known)
    _check_known([(name, name.split(":")[0]) for name in chosen], compiler)
    outputs = tuple(
        Output(f"xiokv_{name.replace(':', '_')}.hsaco", name, (f"--offload-arch={name}",))
        for name in chosen
    )
    description["arch"] = list(chosen)
    return Recipe(
        outputs, _sources(generated), _HIP_FLAGS, description, compiler, _code_object_figures
    )


def _feature(part: str) -> tuple[bool, str]:
    return not part.startswith("gfx"), part


def _cuda(generated: Path, generator: str, architectures: tuple[str, ...]) -> Recipe:
    description = _description("cuda", generated, generator)
    compiler = find_nvcc()
    chosen = architectures or CUDA_ARCHITECTURES
    # nvcc lists sm_90, and knows sm_90a with it.
    _check_known([(name, name.rstrip("af")) for name in chosen], compiler)
    outputs = tuple(_cuda_output(name) for name in chosen)
    description["arch"] = list(chosen)
    return Recipe(outputs, _sources(generated), _CUDA_FLAGS, description, compiler, _cuda_figures)


def _cuda_output(name: str) -> Output:
    if name.startswith("compute_"):
        return Output(f"xiokv_{name}.ptx", name, (f"-arch={name}", "-ptx"))
    return Output(f"xiokv_{name}.cubin", name, (f"-arch={name}", "-cubin", "-Xptxas", "-v"))


_RECIPES: dict[str, Callable[[Path, str, tuple[str, ...]], Recipe]] = {
    "host": _host,
    "hip": _hip,
    "cuda": _cuda,
}


def _check_known(asked: Sequence[tuple[str, str]], compiler: Compiler) -> None:
    """Refuse what the compiler does not list; `asked` holds names as given and as listed."""
    unknown = [name for name, listed in asked if listed not in compiler.architectures]
    if unknown and compiler.architectures:
        raise ArgumentFault(
            f"{compiler.path} ({compiler.version}) does not know {', '.join(unknown)}: use a newer"
            f" one, or one of {', '.join(compiler.architectures)}"
        )


def _no_figures(path: Path, said: str) -> Figures:
    """Return that nothing is told of the code."""
    return {}


def _code_object_figures(path: Path, said: str) -> Figures:
    # Imported here: what reads ELF files takes longer to import than all the rest.
    from xiokv.runtime.toolchain.code_object import code_object_figures

    return code_object_figures(path)


def _cuda_figures(path: Path, said: str) -> Figures:
    from xiokv.runtime.toolchain.ptxas import ptxas_figures

    return ptxas_figures(said)


def _description(target: str, generated: Path, generator: str) -> dict[str, Any]:
    described = generated / "kernels" / "kv_module.json"
    if not described.is_file() or not (generated / _UNIT).is_file():
        raise RuntimeFault(
            f"no kernels in {generated}: the project does not emit the engine;"
            ' add "engine" to emit in xiokv.toml and run xiokv-gen build'
        )
    try:
        read: dict[str, Any] = json.loads(described.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeFault(f"{described} cannot be read ({error}); run xiokv-gen build") from error
    return {**read, "generator": generator, "target": target}


def _sources(generated: Path) -> Sources:
    headers = sorted(generated.glob("include/**/*.h"))
    read = tuple(path.relative_to(generated).as_posix() for path in headers)
    return Sources(generated, (_UNIT,), "include", (_UNIT, *read))
