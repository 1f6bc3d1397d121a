"""build: which targets it compiles, and what a compile that fails leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xiokv.runtime.module import load

MODULE = "build/xiokv/host/xiokv_host.so"


def _compile_for(project: Path, text: str) -> None:
    path = project / "xiokv.toml"
    path.write_text(path.read_text(encoding="utf-8") + f"[compile]\n{text}\n", encoding="utf-8")


def test_a_project_without_targets_compiles_nothing(fetched: Path, run) -> None:
    assert run("build").code == 0
    assert not (fetched / "build").exists()


def test_target_adds_to_those_of_the_project(fetched: Path, run) -> None:
    outcome = run("build", "--target", "host")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[-1] == f"module {MODULE}"
    assert load(module=fetched / MODULE).target == "host"


def test_json_lists_the_modules_of_the_projects_targets(fetched: Path, run) -> None:
    _compile_for(fetched, 'targets = ["host"]\ndir = "out"')
    found = json.loads(run("build", "--json", "--target", "host").out)
    assert found["modules"] == ["out/host/xiokv_host.so"]
    assert "generated/nvme_kv.py" in found["written"]
    assert (fetched / found["modules"][0]).is_file()


@pytest.mark.parametrize("flag", [["--emit-only"], ["--out", "elsewhere"]])
def test_target_with_text_alone_is_a_contradiction(fetched: Path, run, snapshot, flag) -> None:
    before = snapshot()
    outcome = run("build", "--target", "host", *flag)
    assert outcome.code == 2
    assert "give one of both" in outcome.err
    assert snapshot() == before


def _failing_compiler(folder: Path) -> Path:
    path = folder / "cxx"
    path.write_text("#!/bin/sh\n[ $1 = --version ] || { echo boom >&2; exit 1; }\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("present", "code", "said"),
    [(True, 1, "boom"), (False, 5, "$CXX names")],
    ids=["fails", "is missing"],
)
def test_a_compiler_that_does_not_compile_leaves_the_text(
    fetched: Path,
    run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    present: bool,
    code: int,
    said: str,
) -> None:
    compiler = _failing_compiler(tmp_path) if present else tmp_path / "missing"
    monkeypatch.setenv("CXX", str(compiler))
    outcome = run("build", "--target", "host")
    assert outcome.code == code
    assert said in outcome.err
    assert (fetched / "generated/kernels/kv_kernels.cpp").is_file()
    assert not (fetched / MODULE).exists()


def test_an_unchanged_project_is_not_compiled_again(fetched: Path, run, snapshot) -> None:
    assert run("build", "--target", "host").code == 0
    before = snapshot()
    assert run("build", "--target", "host").code == 0
    assert snapshot() == before


def test_a_project_without_the_engine_is_told_how_to_get_it(fetched: Path, run) -> None:
    path = fetched / "xiokv.toml"
    path.write_text(path.read_text(encoding="utf-8") + 'emit = ["headers"]\n')
    outcome = run("build", "--target", "host")
    assert outcome.code == 1
    assert 'run xiokv-gen build, with "engine" among emit' in outcome.err
