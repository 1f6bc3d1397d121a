"""Another [output] dir: the spec file and what is generated move there, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

OLD, NEW = "generated/spec/nvme_kv.json", "src/io/generated/spec/nvme_kv.json"


@pytest.fixture
def moved(built: Path) -> Path:
    """Return a built project whose xiokv.toml was given another folder."""
    config = built / "xiokv.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace('dir = "generated"', 'dir = "src/io/generated"'), "utf-8")
    assert "src/io/generated" in config.read_text(encoding="utf-8")
    return built


def test_build_moves_the_spec_file_and_the_output(moved: Path, run, snapshot) -> None:
    before = {
        name.replace("generated/", "src/io/generated/", 1): body
        for name, (body, _) in snapshot().items()
        if name.startswith("generated/")
    }
    outcome = run("build", "--emit-only")
    assert outcome.code == 0, outcome.err
    first, note = outcome.out.splitlines()[:2]
    assert first == f"moved {OLD} to {NEW}"
    assert note.endswith("names generated/, write src/io/generated/")
    after = {name: body for name, (body, _) in snapshot().items()}
    assert {name: body for name, body in after.items() if "generated/" in name} == before
    assert run("check").code == 0
    assert run("build", "--emit-only").out == "every generated file is up to date\n"


def test_json_tells_where_the_spec_file_was(moved: Path, run) -> None:
    told = json.loads(run("build", "--emit-only", "--json").out)
    assert told["moved_spec_from"] == OLD
    assert json.loads(run("build", "--emit-only", "--json").out)["moved_spec_from"] is None


@pytest.mark.parametrize(
    "command", [("check",), ("show", "store"), ("build", "--out", "../o-moved")]
)
def test_what_does_not_move_it_says_where_it_is(
    moved: Path, run, snapshot, command: tuple[str, ...]
) -> None:
    before = snapshot()
    outcome = run(*command)
    assert outcome.code == (3 if command == ("check",) else 1)
    said = outcome.out + outcome.err
    assert f"the locked one is still {OLD}, and a build moves it" in said
    assert "run xiokv-gen build" in said
    assert snapshot() == before


def test_a_spec_file_that_is_not_the_locked_one_stays(moved: Path, run) -> None:
    path = moved / OLD
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("SPDK_NVME_OPC_KV_EXIST", "SPDK_NVME_OPC_KV_FIND"), "utf-8")
    assert path.read_text(encoding="utf-8") != text
    outcome = run("build")
    assert (outcome.code, "run xiokv-gen fetch" in outcome.err) == (1, True)
    assert path.is_file()
    assert not (moved / NEW).exists()


def test_init_begins_with_another_folder(project: Path, run) -> None:
    (project / "xiokv.toml").unlink()
    assert run("init", "--dir", "src/nvme io").code == 0
    assert (project / "src/nvme io/spec/nvme_kv.json").is_file()
    assert "/src/nvme io/**" in (project / ".gitattributes").read_text(encoding="utf-8")
    assert run("build").code == 0
    assert run("check").code == 0


@pytest.mark.parametrize("folder", ["../out", "/out", "a/../../b"])
def test_init_keeps_the_folder_within_the_project(project: Path, run, folder: str) -> None:
    (project / "xiokv.toml").unlink()
    outcome = run("init", "--dir", folder)
    assert (outcome.code, "no path within the project's folder" in outcome.err) == (2, True)
    assert not (project / "xiokv.toml").exists()
