"""Which compiler serves a target, and what is said where there is none."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.errors import ArgumentFault, ExitCode, MissingFault
from xiokv.runtime.toolchain.gpus import HIP_ARCHITECTURES

from .conftest import ROOT, StandIn, described

ABLE = {
    "version": "clang version 19.1.7",
    "known": "\tgfx90a\n",
    "lld": "/bin/lld",
    "real": "80 90",
    "endings": "*=gfx90a:xnack?\\ *|*_90a\\ *",  # of the architectures that it knows with one
}
UNABLE = {
    "too old": {"version": "clang version 18.1.8"},
    "without AMD GPUs": {"known": "error: unknown target triple"},
    "without a linker": {"lld": "lld"},
    "no clang": {"version": "gcc 12"},
}
ANSWERS = """#!/bin/sh
case "$*" in
--version) echo "{version}" ;;
*--print-supported-cpus*) echo "{known}" ;;
*-print-prog-name*) echo "{lld}" ;;
--list-gpu-code) printf 'sm_%s\\n' {real} ;;
--list-gpu-arch) printf 'compute_%s\\n' 80 90 ;;
*--dryrun*|*-fsyntax-only*) case "$*" in {endings}) ;; *) exit 1 ;; esac ;;
esac
"""
NVCC_VERSION = "nvcc: a driver\nBuilt once\nCuda tools, release 12.4, V12.4.99"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is all of the path, and empty; the toolkit's is not looked at."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(toolchain.compilers, "_CUDA_FOLDER", str(tmp_path / "toolkit"))
    return folder


def put(file: Path, **answers: str) -> Path:
    """Write a compiler that only answers questions."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(ANSWERS.format(**{**ABLE, **answers}))
    file.chmod(0o755)
    return file


@pytest.mark.parametrize("why", UNABLE)
def test_a_clang_that_is_not_able_to_is_passed_by(path: Path, why: str) -> None:
    put(path / "clang++", **UNABLE[why])
    with pytest.raises(MissingFault):
        toolchain.find_hip()
    hipcc = put(path / "hipcc", version="HIP version: 6.2")
    assert toolchain.find_hip().path == str(hipcc)


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (["clang++-19", "clang++-20", "clang++", "hipcc"], "clang++-19"),
        (["clang++-21", "clang++-20", "clang++"], "clang++-20"),
        (["clang++", "hipcc"], "clang++"),
        (["clang++-18", "hipcc"], "hipcc"),
    ],
)
def test_clangs_go_before_hipcc_and_the_oldest_that_serves_first(
    path: Path, names: list[str], taken: str
) -> None:
    for name in names:
        put(path / name)
    assert toolchain.find_hip().path == str(path / taken)


@pytest.mark.parametrize(
    ("variable", "find"),
    [("XIOKV_HIP_CXX", toolchain.find_hip), ("XIOKV_NVCC", toolchain.find_nvcc)],
)
def test_the_environment_names_the_compiler(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, find
) -> None:
    put(path / "clang++")
    put(path / "nvcc")
    mine = put(tmp_path / "elsewhere" / "mine", version="mine 1")
    monkeypatch.setenv(variable, str(mine))
    assert (find().path, find().version) == (str(mine), "mine 1")
    monkeypatch.setenv(variable, str(tmp_path / "gone"))
    with pytest.raises(MissingFault, match=rf"^\${variable} names .*gone, which is not there$"):
        find()


def test_nvcc_is_looked_for_on_the_path_and_in_its_toolkit(path: Path, tmp_path: Path) -> None:
    toolkit = put(tmp_path / "toolkit" / "nvcc", version=NVCC_VERSION)
    assert toolchain.find_nvcc().path == str(toolkit)
    found = put(path / "nvcc", version=NVCC_VERSION)
    compiler = toolchain.find_nvcc()
    assert compiler.path == str(found)
    assert compiler.version == "nvcc release 12.4, V12.4.99"
    assert compiler.architectures == ("sm_80", "sm_90", "compute_80", "compute_90")


@pytest.mark.parametrize(
    ("find", "said"),
    [
        (toolchain.find_cxx, r"apt-get install g\+\+"),
        (toolchain.find_hip, "apt-get install clang-19 lld-19"),
        (toolchain.find_nvcc, "install NVIDIA's CUDA toolkit"),
    ],
)
def test_without_a_compiler_one_line_says_what_to_install(path: Path, find, said: str) -> None:
    with pytest.raises(MissingFault, match=said) as caught:
        find()
    assert caught.value.exit_code is ExitCode.MISSING
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("target", "asked", "unknown"),
    [
        ("hip", ("gfx90a", "gfx950"), "gfx950"),
        ("hip", ("gfx999:xnack+",), "gfx999:xnack+"),
        ("cuda", ("sm_99", "sm_90", "compute_99"), "sm_99, compute_99"),
    ],
)
def test_an_architecture_that_the_compiler_does_not_know_is_refused(
    path: Path, generated: Path, target: str, asked: tuple[str, ...], unknown: str
) -> None:
    put(path / "clang++-19")
    put(path / "nvcc", version=NVCC_VERSION)
    with pytest.raises(ArgumentFault) as caught:
        toolchain.recipe(target, generated, "0", asked)
    assert caught.value.exit_code is ExitCode.USAGE
    known = {"hip": "gfx90a", "cuda": "one of sm_80, sm_90, compute_80, compute_90"}[target]
    assert f" does not know {unknown}: use a newer one, or {known}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("target", "asked", "known"),
    [
        ("hip", "gfx90a:sramecc-:xnack+", "one of gfx90a, gfx90a:xnack+, gfx90a:xnack-"),
        ("hip", "gfx1100:xnack+", "gfx1100"),
        ("cuda", "sm_80a", "sm_80"),
        ("cuda", "compute_80f", "compute_80"),
        ("cuda", "sm_90f", "one of sm_90, sm_90a"),
    ],
)
def test_what_the_compiler_does_not_know_of_an_architecture_is_refused(
    path: Path, generated: Path, target: str, asked: str, known: str
) -> None:
    put(path / "clang++-19", known="\tgfx90a\n\tgfx1100\n")
    put(path / "nvcc", version=NVCC_VERSION)
    with pytest.raises(ArgumentFault) as caught:
        toolchain.recipe(target, generated, "0", (asked,))
    assert str(caught.value).endswith(f" does not know {asked}: use a newer one, or {known}")


@pytest.mark.parametrize(
    ("target", "asked", "said"),
    [
        ("hip", ("gfx803", "gfx942"), "gfx803: they need gfx900 or later; use one of gfx900,"),
        ("hip", ("gfx600", "gfx810:xnack+"), "gfx600, gfx810:xnack+: they need gfx900 or later"),
        ("cuda", ("sm_61",), "sm_61: they need sm_70 or later; use one of sm_70, sm_100, compute"),
    ],
)
def test_an_architecture_that_is_too_old_for_the_kernels_is_refused(
    path: Path, generated: Path, target: str, asked: tuple[str, ...], said: str
) -> None:
    known = "".join(f"\t{name}\n" for name in ("gfx600", "gfx803", "gfx810", "gfx900", "gfx942"))
    put(path / "clang++-19", known=known)
    put(path / "nvcc", version=NVCC_VERSION, real="61 70 100")
    with pytest.raises(ArgumentFault) as caught:
        toolchain.recipe(target, generated, "0", asked)
    assert f"the kernels cannot be built for {said}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_architectures_are_listed_by_age(path: Path) -> None:
    put(path / "clang++-19", known="\tgfx1010\n\tgfx1100\n\tgfx900\n\tgfx90a\n\tgfx942\n")
    put(path / "nvcc", version=NVCC_VERSION, real="75 100 110 103")
    assert toolchain.find_hip().architectures == (
        "gfx900",
        "gfx90a",
        "gfx942",
        "gfx1010",
        "gfx1100",
    )
    numbers = ("sm_75", "sm_100", "sm_103", "sm_110")
    assert toolchain.find_nvcc().architectures == (*numbers, "compute_80", "compute_90")


# Of each generation the first and the last that clang 19 knows, and every ending.
OF_CLANG = (
    *("gfx900", "gfx900:xnack+", "gfx90c", "gfx90a:sramecc+:xnack-", "gfx942:sramecc-:xnack+"),
    *("gfx1010:xnack-", "gfx1036", "gfx1100", "gfx1152", "gfx1200", "gfx1201"),
)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", OF_CLANG)
def test_the_kernels_are_built_for_what_is_accepted(
    clang: str, tmp_path: Path, architecture: str
) -> None:
    recipe = toolchain.recipe("hip", ROOT / "generated", "0", (architecture,))
    toolchain.build(recipe, tmp_path / "out")
    assert described(tmp_path / "out")["images"][0]["arch"] == architecture


@pytest.mark.parametrize(
    "asked", ["gfx803", "gfx600", "gfx1100:xnack+", "gfx900:sramecc+", "gfx942:xnack+:xnack-"]
)
def test_the_real_clang_has_no_kernels_for(clang: str, asked: str) -> None:
    with pytest.raises(ArgumentFault):
        toolchain.recipe("hip", ROOT / "generated", "0", (asked,))


@pytest.mark.parametrize("asked", ["sm_80a", "sm_80f", "sm_90f", "compute_80a"])
def test_the_real_nvcc_does_not_know(nvcc: str, asked: str) -> None:
    with pytest.raises(ArgumentFault, match=f"does not know {asked}: use a newer one, or"):
        toolchain.recipe("cuda", ROOT / "generated", "0", (asked,))


@pytest.mark.parametrize(
    ("known", "made"),
    [
        (HIP_ARCHITECTURES, HIP_ARCHITECTURES),
        ((*HIP_ARCHITECTURES, "gfx950"), (*HIP_ARCHITECTURES, "gfx950")),
        ((), HIP_ARCHITECTURES),
    ],
    ids=["19", "newer", "one that does not tell"],
)
def test_gfx950_is_among_those_by_default_where_the_compiler_knows_it(
    stand_in: StandIn, generated: Path, known: tuple[str, ...], made: tuple[str, ...]
) -> None:
    stand_in.tell(known="".join(f"\t{name}\n" for name in known))
    recipe = toolchain.recipe("hip", generated, "0")
    assert tuple(output.arch for output in recipe.outputs) == made


def test_an_architecture_of_one_generation_goes_with_its_base(path: Path, generated: Path) -> None:
    put(path / "nvcc", version=NVCC_VERSION)
    recipe = toolchain.recipe("cuda", generated, "0", ("sm_90a", "sm_90a"))
    assert [output.file for output in recipe.outputs] == ["xiokv_sm_90a.cubin"]


def test_the_host_has_no_architectures_to_choose_from(generated: Path) -> None:
    with pytest.raises(ArgumentFault, match="gfx942: the host module is for this machine's"):
        toolchain.recipe("host", generated, "0", ("gfx942",))


def test_hipcc_is_given_what_clang_is_given(
    path: Path, clang: str, generated: Path, tmp_path: Path
) -> None:
    # hipcc is a front of clang: here one that keeps what it was given.
    record = 'echo "$@" >> "{}"\nexec {} "$@"\n'.format(tmp_path / "given", clang)
    (path / "hipcc").write_text("#!/bin/sh\n" + record)
    (path / "hipcc").chmod(0o755)
    recipe = toolchain.recipe("hip", generated, "0", ("gfx942",))
    file = toolchain.build(recipe, tmp_path / "out")
    *_, given = (tmp_path / "given").read_text().splitlines()
    assert re.fullmatch(
        "-x hip --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib"
        r" -mcode-object-version=5 -std=c\+\+17 -O3 --offload-arch=gfx942 -I include"
        r" kernels/kv_kernels\.cpp -o \S+",
        given,
    )
    assert file.name == "xiokv_gfx942.hsaco"
    assert set(described(file.parent)["images"][0]["kernels"]) == {"lean", "costly"}
    assert shutil.which("hipcc") == recipe.find_compiler().path
