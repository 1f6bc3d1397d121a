"""init: .gitattributes and workflows beside a project, and nothing of the user's written over."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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


COMMIT = "git+https://example.org/someone/xiokv@" + "0123456789" * 4
WHEEL = "https://example.org/xiokv-0.1.0-py3-none-any.whl#sha256=" + "ab" * 32


def steps(path: Path) -> list[str]:
    """Return what the steps of a workflow run."""
    check_schema(path)
    (job,) = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


def check_schema(path: Path) -> None:
    tool = Path(sys.executable).with_name("check-jsonschema")
    command = (tool, "--builtin-schema", "vendor.github-workflows", path)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("source", [COMMIT, WHEEL])
def test_the_workflows_install_from_the_source_that_was_named(
    empty: Path, run, source: str
) -> None:
    assert notes(run, "--follow-upstream", "--install-from", source) == []
    for name, last in {
        CHECK: "xiokv-gen check --format github",
        OUTDATED: f"bash {SCRIPT}",
    }.items():
        assert steps(empty / name) == [f"python -m pip install '{source}'", last]


def test_a_source_in_the_repository_is_no_name_on_an_index(empty: Path, run) -> None:
    (empty / "tools").mkdir()
    (empty / "tools/xiokv-0.1.0-py3-none-any.whl").touch()
    for source in ("tools/xiokv-0.1.0-py3-none-any.whl", "tools"):
        assert run("init", "--install-from", source).code == 0
        assert steps(empty / CHECK)[0] == f"python -m pip install './{source}'"
        for path in (CHECK, "xiokv.toml", "xiokv.lock", "generated/spec/nvme_kv.json"):
            (empty / path).unlink()


def test_without_a_source_the_workflows_fail_at_the_step_that_has_to_name_one(
    empty: Path, run
) -> None:
    told = notes(run, "--follow-upstream")
    assert [note.partition(" ")[0] for note in told] == [CHECK, OUTDATED]
    for name, note in zip((CHECK, OUTDATED), told, strict=True):
        assert "fails until it says where xiokv is installed from" in note
        first, last = steps(empty / name)
        assert "xiokv-gen" in last or SCRIPT in last
        done = subprocess.run(["bash", "-e", "-c", first], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stdout.startswith(f"::error::{name} does not say where to install xiokv from")


@pytest.mark.parametrize(
    "source",
    [
        "xiokv",  # whatever the index has under that name
        "xiokv==0.1.0",
        COMMIT[:-1],
        COMMIT.replace("0123456789" * 4, "v0.1.0"),  # a tag moves
        COMMIT.replace("https", "http"),
        f"{COMMIT}'; echo '",
        f"{COMMIT}\n",
        WHEEL.partition("#")[0],
        "nowhere.whl",
        "..",
        "../elsewhere",
        ".",
        "",
        "--index-url=https://example.org",
    ],
)
def test_a_source_that_pins_nothing_is_refused(empty: Path, run, snapshot, source: str) -> None:
    (empty.parent / "elsewhere").mkdir()
    outcome = run("init", f"--install-from={source}")
    assert outcome.code == 2, source
    assert "allowed are git+https://HOST/PATH@COMMIT" in outcome.err
    assert snapshot() == {}


def test_upstream_is_followed_on_request_alone(empty: Path, run, snapshot) -> None:
    run("init")
    assert {OUTDATED, SCRIPT} & snapshot().keys() == set()


def test_what_follows_upstream_is_a_workflow_that_runs_a_script(empty: Path, run) -> None:
    assert notes(run, "--follow-upstream", "--install-from", COMMIT) == []
    workflow = (empty / OUTDATED).read_text(encoding="utf-8")
    assert re.findall(r"bash (\S+)", workflow) == [SCRIPT]
    assert "schedule:" in workflow
    assert (empty / SCRIPT).read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
    assert "@" not in workflow.replace("@v4", "").replace("@v5", "").replace(COMMIT, "")


@pytest.mark.parametrize("before", ["*.png binary", "*.png binary\n", "*.png binary\r\n", ""])
def test_lines_are_added_to_attributes_that_are_there(empty: Path, run, before: str) -> None:
    (empty / ATTRIBUTES).write_bytes(before.encode())
    assert notes(run, "--install-from", COMMIT) == []
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
    (note,) = notes(run, "--install-from", COMMIT)
    assert note.startswith(ATTRIBUTES)
    assert all(line in note for line in LINES)


@pytest.mark.parametrize("name", [CHECK, OUTDATED, SCRIPT])
def test_a_file_of_the_users_stays_and_is_told(empty: Path, run, name: str) -> None:
    path = empty / name
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    (note,) = notes(run, "--follow-upstream", "--install-from", COMMIT)
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
