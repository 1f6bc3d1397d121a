"""build --target hip and cuda: which architectures, what is printed, and every refusal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from xiokv.runtime import toolchain

# Says what it is and what it knows, and compiles nothing.
NO_COMPILER = """#!/bin/sh
case "$*" in
*--print-supported-cpus*) printf '\\tgfx90a\\n\\tgfx942\\n' ;;
--list-gpu-code) echo sm_80 ;;
--version) echo clang version 19 ;;
*) echo boom >&2; exit 1 ;;
esac
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a compiler for either GPU that fails."""
    path = tmp_path / "compiler"
    path.write_text(NO_COMPILER)
    path.chmod(0o755)
    monkeypatch.setenv("XIOKV_HIP_CXX", str(path))
    monkeypatch.setenv("XIOKV_NVCC", str(path))
    return path


def configure(project: Path, text: str) -> None:
    path = project / "xiokv.toml"
    path.write_text(path.read_text(encoding="utf-8") + f"[compile]\n{text}\n", encoding="utf-8")


@pytest.mark.skipif(shutil.which("clang++-19") is None, reason="clang++-19 is not installed")
@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        ('hip_arch = ["gfx942"]', ["--target", "hip", "--arch", "gfx1100"]),
        ('hip_arch = ["gfx1100"]\ntargets = ["hip"]', []),
    ],
    ids=["the command line", "the project"],
)
def test_architectures_come_from(fetched: Path, run, config: str, arguments: list[str]) -> None:
    configure(fetched, config)
    told = json.loads(run("build", "--json", *arguments).out)
    assert told["modules"] == ["build/xiokv/hip/xiokv_gfx1100.hsaco"]
    folder = fetched / "build" / "xiokv" / "hip"
    assert {path.name for path in folder.iterdir()} == {
        ".lock",
        "module.json",
        "xiokv_gfx1100.hsaco",
    }
    (folder / "module.json").write_text("stale")
    assert run("check").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--arch", "gfx942"], "--arch gfx942 goes with one --target: give hip or cuda"),
        (
            ["--target", "hip", "--target", "cuda", "--arch", "gfx942"],
            "--arch gfx942 goes with one --target: give hip or cuda",
        ),
        (
            ["--target", "host", "--arch", "gfx942"],
            "--arch 'gfx942': host is compiled for this machine's processor",
        ),
        (
            ["--target", "hip", "--arch", "sm_90"],
            "--arch 'sm_90' is no architecture of hip; write for example gfx90a or gfx942:xnack+",
        ),
        (
            ["--target", "hip", "--arch", "gfx942", "--arch", "../gfx942"],
            "--arch '../gfx942' is no architecture of hip",
        ),
        (
            ["--target", "cuda", "--arch", "gfx942"],
            "--arch 'gfx942' is no architecture of cuda; write for example sm_90 or compute_80",
        ),
        (
            ["--target", "hip", "--arch", "gfx11-generic"],
            "--arch 'gfx11-generic' is no architecture of hip: generic processors need code objects"
            " of version 6, and xiokv makes version 5; name the processor, such as gfx1100",
        ),
        (["--target", "hip", "--arch", "gfx9-4-generic"], "generic processors need code objects"),
        (["--target", "hip", "--arch", "GFX942:Xnack+"], "did you mean gfx942:xnack+?"),
        (["--target", "cuda", "--arch", "SM_90"], "did you mean sm_90?"),
        (["--target", "hip", "--arch", "gfx9"], "is no architecture of hip; write for example"),
        (
            ["--target", "hip", "--arch", "gfx942:xnack+:sramecc-:xnack-"],
            "write for example gfx90a or gfx942:xnack+, each feature once",
        ),
        (["--target", "hip", "--arch", "gfx942", "--emit-only"], "give one of both"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_architecture_out_of_place_is_refused_before_anything_is_written(
    fetched: Path, run, snapshot, arguments: list[str], said: str
) -> None:
    before = snapshot()
    outcome = run("build", *arguments)
    assert outcome.code == 2
    assert said in outcome.err.splitlines()[0]
    assert snapshot() == before


@pytest.mark.parametrize(
    ("target", "asked", "known"),
    [
        ("hip", "gfx950", "one of gfx90a, gfx942"),
        ("hip", "gfx942:xnack+", "gfx942"),
        ("cuda", "sm_99", "sm_80"),
        ("cuda", "sm_80a", "sm_80"),
    ],
)
def test_an_architecture_that_the_compiler_does_not_know_leaves_the_text(
    fetched: Path, run, compiler: Path, target: str, asked: str, known: str
) -> None:
    outcome = run("build", "--target", target, "--arch", asked)
    assert outcome.code == 2
    (line,) = outcome.err.splitlines()
    assert line == (
        f"xiokv-gen: {compiler} (clang version 19) does not know {asked}:"
        f" use a newer one, or {known}"
    )
    assert (fetched / "generated/kernels/kv_kernels.cpp").is_file()


@pytest.mark.parametrize(
    ("target", "said"), [("hip", "apt-get install clang-19 lld-19"), ("cuda", "CUDA toolkit")]
)
def test_without_a_compiler_one_line_says_what_to_install(
    fetched: Path, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain.compilers, "_CUDA_FOLDER", str(tmp_path))
    outcome = run("build", "--target", target)
    assert outcome.code == 5
    (line,) = outcome.err.splitlines()
    assert said in line
    assert (fetched / "generated/kernels/kv_kernels.cpp").is_file()


@pytest.mark.parametrize(
    ("target", "asked", "file"),
    [("hip", "gfx942", "xiokv_gfx942.hsaco"), ("cuda", "sm_80", "xiokv_sm_80.cubin")],
)
def test_a_compile_that_fails_leaves_the_text_and_no_module(
    fetched: Path, run, compiler: Path, target: str, asked: str, file: str
) -> None:
    outcome = run("build", "--target", target, "--arch", asked)
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        f"xiokv-gen: {compiler} could not compile {file} (exit code 1):",
        "boom",
    ]
    assert (fetched / "generated/kernels/kv_kernels.cpp").is_file()
    assert [path.name for path in (fetched / "build/xiokv" / target).iterdir()] == [".lock"]


def test_what_costs_more_than_registers_is_a_warning(
    fetched: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "xiokv_gfx942.hsaco: 8 bytes of scratch in xiokv_batch_list; see module.json"
    monkeypatch.setattr(toolchain, "costs", lambda folder: (line,))
    outcome = run("build", "--target", "host", "--json")
    assert outcome.code == 0
    assert outcome.err == f"xiokv-gen: warning: {line}\n"
    assert json.loads(outcome.out)["warnings"] == [line]


@pytest.mark.skipif(shutil.which("clang++-19") is None, reason="clang++-19 is not installed")
def test_a_build_that_fails_leaves_the_former_module(
    fetched: Path, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("build", "--target", "hip", "--arch", "gfx1100").code == 0
    folder = fetched / "build" / "xiokv" / "hip"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setenv("XIOKV_HIP_CXX", shutil.which("false") or "")
    outcome = run("build", "--target", "hip", "--arch", "gfx942")
    assert outcome.code == 1
    assert outcome.err.endswith(
        "could not compile xiokv_gfx942.hsaco (exit code 1) and said nothing\n"
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
