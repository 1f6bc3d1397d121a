"""check: what it finds, how it says so, and that it leaves everything as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TWIN = "generated/nvme_kv.py"
HEADER = "generated/include/xiokv/nvme_kv.h"
IR = "generated/spec/nvme_kv.json"


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _edit_twin(project: Path) -> None:
    _replace(project / TWIN, "KEY_MAX_LEN = 16", "KEY_MAX_LEN = 99")


def _delete_header(project: Path) -> None:
    (project / HEADER).unlink()


def _render_less(project: Path) -> None:
    _replace(project / "xiokv.toml", "[output]", '[output]\nemit = ["headers", "engine"]')


def _edit_spec_file(project: Path) -> None:
    _replace(project / IR, '    "SPDK_NVME_IDENTIFY_BUFLEN": 4096,\n', "")


def _delete_spec_file(project: Path) -> None:
    (project / IR).unlink()


def _unlist_twin(project: Path) -> None:
    _replace(project / "xiokv.lock", f'    "{TWIN}",\n', "")


FAULTS = [
    (_edit_twin, TWIN, "changed", "xiokv-gen build"),
    (_delete_header, HEADER, "missing", "xiokv-gen build"),
    (_render_less, TWIN, "extra", "xiokv-gen build"),
    (_edit_spec_file, IR, "changed", "xiokv-gen fetch"),
    (_delete_spec_file, IR, "missing", "xiokv-gen fetch"),
    (_unlist_twin, "xiokv.lock", "changed", "xiokv-gen build"),
]


@pytest.mark.parametrize(("spoil", "path", "kind", "command"), FAULTS)
def test_each_fault_is_found_named_and_mended_by_the_command_given(
    built: Path, run, snapshot, spoil, path: str, kind: str, command: str
) -> None:
    spoil(built)
    before = snapshot()
    outcome = run("check", "--json")
    assert snapshot() == before, "check touched the tree"
    assert outcome.code == 3
    found = json.loads(outcome.out)["findings"]
    assert [(f["path"], f["kind"], f["fix"]) for f in found] == [(path, kind, command)]
    assert outcome.err.endswith(f"1 file is stale; run {command}\n")

    assert run(command.removeprefix("xiokv-gen ")).code == 0
    assert run("check").code == 0


def test_a_fresh_build_is_clean(built: Path, run, snapshot) -> None:
    before = snapshot()
    outcome = run("check")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "every generated file is what its inputs render to\n"
    assert snapshot() == before


def test_files_of_others_in_the_folder_are_not_looked_at(built: Path, run) -> None:
    (built / "generated" / "mine.py").write_text("mine = 1\n")
    (built / "generated" / "__pycache__").mkdir()
    assert run("check").code == 0


def test_the_difference_is_shown(built: Path, run) -> None:
    _edit_twin(built)
    lines = run("check").out.splitlines()
    assert lines[0] == f"~ {TWIN}: changed: not what the inputs render to; run xiokv-gen build"
    assert "-KEY_MAX_LEN = 99" in lines
    assert "+KEY_MAX_LEN = 16" in lines


def test_a_long_difference_is_cut(built: Path, run) -> None:
    (built / TWIN).write_text("x\n" * 5000)
    lines = run("check").out.splitlines()
    assert len(lines) < 60
    assert lines[-1].endswith("more lines of difference")


def test_bytes_that_are_no_text_are_a_change(built: Path, run) -> None:
    (built / TWIN).write_bytes(b"\xff\xfe")
    assert run("check").code == 3


def test_a_file_that_cannot_be_read_is_named(built: Path, run) -> None:
    (built / TWIN).unlink()
    (built / TWIN).symlink_to("/proc/self/mem")  # a regular file, of which nothing can be read
    for command in (["check"], ["doctor"]):
        outcome = run(*command)
        assert f"{TWIN}: cannot be read: Input/output error" in outcome.out + outcome.err
        assert outcome.code in (1, 5)


def test_another_generator_is_said_first(built: Path, run) -> None:
    _replace(built / "xiokv.lock", 'generator = "0.', 'generator = "9.')
    _edit_twin(built)
    outcome = run("check")
    assert outcome.err.splitlines()[0].startswith("note: xiokv.lock was written by xiokv 9.")
    assert outcome.code == 3


def test_a_ref_that_was_never_fetched_is_noted(built: Path, run) -> None:
    _replace(built / "xiokv.toml", 'ref = "bundled"', 'ref = "v26.05"')
    outcome = run("check")
    assert outcome.code == 0
    assert outcome.err == (
        "note: xiokv.toml names ref 'v26.05' and xiokv.lock was fetched at 'bundled'; to keep"
        ' bundled, write ref = "bundled" into xiokv.toml; to have v26.05, run xiokv-gen fetch\n'
    )


def test_annotations_name_file_and_line_and_stay_one_line_each(built: Path, run) -> None:
    _replace(built / TWIN, "KEY_MAX_LEN = 16", "KEY_MAX_LEN = 99  # 100%")
    _delete_header(built)
    text = (built / TWIN).read_text(encoding="utf-8").splitlines()
    line = text.index("KEY_MAX_LEN = 99  # 100%") + 1
    missing, changed = sorted(run("check", "--format", "github").out.splitlines())
    assert missing.startswith(f"::error file={HEADER}::missing: ")
    assert changed.startswith(f"::error file={TWIN},line={line}::changed: not what")
    assert "%0A-KEY_MAX_LEN = 99  # 100%25%0A" in changed


def test_annotations_of_a_clean_tree_are_none(built: Path, run) -> None:
    assert run("check", "--format", "github").out == ""


def test_a_strange_path_is_escaped_in_an_annotation(built: Path, run) -> None:
    _replace(built / "xiokv.toml", "[output]", '[output]\npython = "a,b:c%.py"')
    assert "::error file=a%2Cb%3Ac%25.py::missing" in run("check", "--format", "github").out


def test_without_a_lock_it_says_what_to_run(project: Path, run) -> None:
    outcome = run("check")
    assert outcome.code == 1
    assert outcome.err == "xiokv-gen: no xiokv.lock; run xiokv-gen fetch\n"
