"""Copies of the headers in one unit, and in one program; in C++, C, HIP and CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import EXEC, STORE, UNITS, Make, Project, compile_well, compiled, printed

DEVICE = UNITS / "device.hip"
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")
PEDANTIC = ("-Wpedantic", "-Wconversion", "-Wsign-conversion")

PUBLIC = "abi bits check commands exec exec_payload list macros operation status types"
IN_C = ["nvme_kv.h", *(f"kv_{name}.h" for name in PUBLIC.split())]


@pytest.fixture(scope="module")
def include(acme: Project, storage: Project, plain: Project) -> tuple[str, ...]:
    """Return the flags for the include folders of all three."""
    return tuple(f"-I{project.include}" for project in (plain, storage, acme))


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_program_of_three_copies_has_what_is_of_each(
    include: tuple[str, ...],
    acme: Project,
    storage: Project,
    expected: list[str],
    tmp_path: Path,
    compiler: str,
    standard: str,
) -> None:
    """Without optimization, functions that may be inlined are symbols to be linked."""
    flags = (compiler, f"-std={standard}", "-O0", *WARNINGS, *include)
    own = {"acme": acme.generated, "storage": storage.generated}
    for name in ("acme", "storage", "plain", "together"):
        kernels = (f"-I{own[name]}",) if name in own else ()
        compile_well(*flags, *kernels, "-c", UNITS / f"{name}.cpp", "-o", tmp_path / f"{name}.o")
    compile_well(compiler, *sorted(tmp_path.glob("*.o")), "-o", tmp_path / "program")
    assert printed(tmp_path / "program") == expected


WHOLE = ("g++", "-std=c++17", "-O2", "-flto", "-Wodr", "-Werror", "-shared", "-fPIC")
UNIT = '#include "{}/nvme_kv.h"\nusing namespace {};\nxiokv_opcode of_{}() {{ return {{}}; }}\n'


@pytest.mark.parametrize("named", [True, False], ids=["namespace", "no namespace"])
def test_a_namespace_keeps_the_one_definition_rule(
    acme: Project, make: Make, plain: Project, tmp_path: Path, named: bool
) -> None:
    """Projects of which one has Exec define the opcodes differently, and the linker sees it."""
    second = acme if named else make("", "kv_cache", has_exec=True)
    units = [_unit("a", plain, tmp_path), _unit("b", second, tmp_path)]
    linked = compiled(*WHOLE, *units, "-o", tmp_path / "whole.so")
    assert (linked.returncode == 0) is named
    assert ("violates the C++ One Definition Rule" in linked.stderr) is not named


def _unit(name: str, project: Project, folder: Path) -> Path:
    """Compile a unit that uses the opcodes of one copy; return it."""
    source, made = folder / f"{name}.cpp", folder / f"{name}.o"
    below = project.headers.relative_to(project.include)
    text = UNIT.format(below, project.namespace or "plain", name)
    source.write_text(f"namespace plain {{}}\n{text}", encoding="utf-8")
    compile_well(*WHOLE, f"-I{project.include}", "-c", source, "-o", made)
    return made


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_c_has_the_plain_names(acme: Project, tmp_path: Path, compiler: str) -> None:
    program = tmp_path / "program"
    flags = (compiler, "-std=c11", *WARNINGS, *PEDANTIC, f"-I{acme.include}")
    compile_well(*flags, UNITS / "plain_names.c", "-o", program)
    fields = ", generation=5, reuse_class=3"
    assert printed(program) == [acme.encoded(STORE % fields), acme.encoded(EXEC)]


@pytest.mark.parametrize(
    ("compiler", "language", "standard"),
    [("gcc", "c", "c11"), ("g++", "c++", "c++17"), ("clang++-19", "c++", "c++20")],
)
def test_each_header_in_a_namespace_compiles_on_its_own(
    acme: Project, tmp_path: Path, compiler: str, language: str, standard: str
) -> None:
    names = IN_C if language == "c" else [path.name for path in acme.headers.glob("*.h")]
    for name in sorted(names):
        source = tmp_path / "unit"
        source.write_text(f'#include "acme/kv/{name}"\n' * 2 + "int unit;\n", encoding="utf-8")
        flags = (f"-std={standard}", *WARNINGS, f"-I{acme.include}", "-x", language)
        compile_well(compiler, *flags, "-fsyntax-only", source)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_two_copies_compile_into_one_unit_for_amd_gpus(
    include: tuple[str, ...], acme: Project, tmp_path: Path, arch: str
) -> None:
    flags = ("-std=c++17", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O2")
    target = (f"--offload-arch={arch}", "--no-gpu-bundle-output", f"-I{acme.generated}")
    made = tmp_path / "device.o"
    compile_well("clang-19", *flags, *target, *WARNINGS, *include, "-c", DEVICE, "-o", made)


def test_two_copies_compile_into_one_unit_with_nvcc(
    include: tuple[str, ...], acme: Project, tmp_path: Path
) -> None:
    flags = ("-std=c++17", "-x", "cu", "-arch=sm_90", "-Werror", "all-warnings")
    host = ("-Xcompiler", "-Wall,-Wextra,-Werror", f"-I{acme.generated}")
    compile_well("nvcc", *flags, *host, *include, "-c", "-o", tmp_path / "device.o", DEVICE)
