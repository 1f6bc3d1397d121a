"""init: .gitattributes and workflows beside a project, and nothing of the user's written over."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from xiokv.codegen.version import VERSION

ATTRIBUTES = ".gitattributes"
CHECK = ".github/workflows/xiokv.yml"
OUTDATED = ".github/workflows/xiokv-outdated.yml"
SCRIPT = ".github/xiokv-outdated.sh"
LINES = [
    "/generated/** linguist-generated=true text eol=lf",
    "/xiokv.lock linguist-generated=true text eol=lf",
]


@pytest.fixture
def empty(project: Path) -> Path:
    """Return the root of a repository that is no project yet."""
    (project / "xiokv.toml").unlink()
    return project


def notes(run, *arguments: str, project: Path | None = None) -> list[str]:
    before = ("--project", str(project)) if project else ()
    outcome = run(*before, "init", "--json", *arguments)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["notes"]


def test_git_knows_generated_files_by_the_attributes(empty: Path, run) -> None:
    run("init")
    empty.joinpath(".git").rmdir()
    subprocess.run(["git", "init", "--quiet"], cwd=empty, check=True)
    ask = ["git", "check-attr", "linguist-generated", "eol", "--"]
    names = ["generated/include/xiokv/nvme_kv.h", "xiokv.lock", "xiokv.toml"]
    told = subprocess.run([*ask, *names], cwd=empty, capture_output=True, text=True, check=True)
    assert [line.partition(": ")[2] for line in told.stdout.splitlines()] == [
        *("linguist-generated: true", "eol: lf"),
        *("linguist-generated: true", "eol: lf"),
        *("linguist-generated: unspecified", "eol: unspecified"),
    ]


def test_the_workflow_installs_the_versions_that_the_project_allows(empty: Path, run) -> None:
    run("init")
    major, minor = VERSION.split(".")[:2]
    wanted = f"pip install 'xiokv>={major}.{minor},<{major}.{int(minor) + 1}'"
    text = (empty / CHECK).read_text(encoding="utf-8")
    assert wanted in text
    assert "xiokv-gen check --format github" in text
    assert wanted.partition("'")[2][5:-1] in (empty / "xiokv.toml").read_text(encoding="utf-8")


def test_upstream_is_followed_on_request_alone(empty: Path, run, snapshot) -> None:
    run("init")
    assert {OUTDATED, SCRIPT} & snapshot().keys() == set()


def test_what_follows_upstream_is_a_workflow_that_runs_a_script(empty: Path, run) -> None:
    assert notes(run, "--follow-upstream") == []
    workflow = (empty / OUTDATED).read_text(encoding="utf-8")
    assert re.findall(r"bash (\S+)", workflow) == [SCRIPT]
    assert "schedule:" in workflow
    assert (empty / SCRIPT).read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
    assert "@XIOKV@" not in workflow


@pytest.mark.parametrize("before", ["*.png binary", "*.png binary\n", "*.png binary\r\n", ""])
def test_lines_are_added_to_attributes_that_are_there(empty: Path, run, before: str) -> None:
    (empty / ATTRIBUTES).write_bytes(before.encode())
    assert notes(run) == []
    after = (empty / ATTRIBUTES).read_bytes().decode()
    assert after.startswith(before)
    assert [line for line in after.splitlines() if not line.startswith("#")][-2:] == LINES


def test_attributes_that_have_the_lines_stay_as_they_are(empty: Path, run, snapshot) -> None:
    (empty / ATTRIBUTES).write_text("\n".join(LINES), encoding="utf-8")
    before = snapshot()[ATTRIBUTES]
    run("init")
    assert snapshot()[ATTRIBUTES] == before


def _link(path: Path) -> None:
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "make",
    [Path.mkdir, _link, lambda path: path.write_bytes(b"\xff\xfe")],
    ids=["a folder", "a link", "no text"],
)
def test_attributes_that_cannot_be_added_to_are_told(empty: Path, run, make) -> None:
    make(empty / ATTRIBUTES)
    (note,) = notes(run)
    assert note.startswith(ATTRIBUTES)
    assert all(line in note for line in LINES)


@pytest.mark.parametrize("name", [CHECK, OUTDATED, SCRIPT])
def test_a_file_of_the_users_stays_and_is_told(empty: Path, run, name: str) -> None:
    path = empty / name
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    (note,) = notes(run, "--follow-upstream")
    assert note.startswith(f"{name} is there and stays as it is; ")
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_folder_that_cannot_hold_a_workflow_is_told(
    empty: Path, run, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "away").mkdir()
    if kind == "file":
        (empty / ".github").write_text("mine", encoding="utf-8")
    else:
        (empty / ".github").symlink_to(tmp_path / "away")
    (note,) = notes(run)
    assert note.startswith(f"{CHECK} cannot be made")
    assert list((tmp_path / "away").iterdir()) == []


def test_below_the_root_of_a_repository_a_step_is_named_and_no_workflow_written(
    empty: Path, run
) -> None:
    (empty / ".git").rmdir()
    (empty.parent / ".git").mkdir()
    inner = empty / "gpu's io"
    inner.mkdir()
    (note,) = notes(run, project=inner)
    assert note.endswith("""xiokv-gen --project 'project/gpu'"'"'s io' check --format github""")
    assert not (inner / ".github").exists()
    assert (inner / ATTRIBUTES).is_file()
