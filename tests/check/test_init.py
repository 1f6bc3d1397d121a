"""init: a project that builds at once, and never one in place of another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WRITTEN = ["generated/spec/nvme_kv.json", "xiokv.lock", "xiokv.toml"]
BESIDE = [".gitattributes", ".github/workflows/xiokv.yml"]


@pytest.fixture
def empty(project: Path) -> Path:
    """Return a folder that is no project yet."""
    (project / "xiokv.toml").unlink()
    return project


def test_what_init_writes_builds_and_is_current(empty: Path, run) -> None:
    assert run("init").code == 0
    assert run("build").code == 0
    assert run("check").code == 0
    assert (empty / "generated/include/xiokv/kv_commands.h").is_file()
    assert (empty / "generated/kernels/kv_kernels.cpp").is_file()
    assert (empty / "generated/nvme_kv.py").is_file()


def test_a_project_for_rocm_xio_builds_its_headers_alone(empty: Path, run) -> None:
    assert run("init", "--rocm-xio").code == 0
    assert run("build").code == 0
    assert run("check").code == 0
    written = [path.name for path in sorted(empty.joinpath("generated").rglob("*.*"))]
    assert written == ["nvme-kv.cmake", "nvme-kv.h", "spdk-nvme-kv.h", "nvme_kv.json"]


def test_the_lock_is_the_one_that_fetch_leaves(empty: Path, run, snapshot) -> None:
    run("init")
    before = snapshot()
    assert run("fetch").out.endswith("nothing to write\n")
    assert snapshot() == before


def test_json_lists_what_was_written(empty: Path, run, snapshot) -> None:
    source = "git+https://example.org/xiokv@" + "0" * 40
    outcome = run("init", "--json", "--install-from", source)
    told = json.loads(outcome.out)
    assert told == {"root": str(empty), "written": [*WRITTEN, *BESIDE], "notes": []}
    assert sorted(snapshot()) == sorted([*WRITTEN, *BESIDE])


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("dangling", [False, True])
def test_a_file_of_a_project_is_not_written_over(
    empty: Path, run, snapshot, name: str, dangling: bool
) -> None:
    path = empty / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if dangling:
        path.symlink_to("nowhere")
    else:
        path.write_text("mine", encoding="utf-8")
    before = snapshot()
    outcome = run("init")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"xiokv-gen: {name} in {empty}: a project is here already" in outcome.err
    assert snapshot() == before


def test_an_output_folder_that_leads_out_is_refused_and_nothing_is_written(
    empty: Path, run, snapshot, tmp_path: Path
) -> None:
    (empty / "generated").symlink_to(tmp_path)
    assert run("init").code == 2
    assert snapshot() == {}


def test_a_file_in_the_place_of_the_output_folder_is_named_and_kept(
    empty: Path, run, snapshot
) -> None:
    (empty / "generated").write_text("mine", encoding="utf-8")
    before = snapshot()
    outcome = run("init")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"xiokv-gen: cannot write {empty}/generated/spec/nvme_kv.json: ")
    assert snapshot() == before


def test_a_folder_that_is_not_there_is_named(empty: Path, run) -> None:
    empty.joinpath(".git").rmdir()
    empty.rmdir()
    outcome = run("init")
    assert outcome.code == 2
    assert "there is no such folder; make it" in outcome.err
