"""The command line: faults come first on stderr, as exit codes, and never as a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = (sys.executable, "-c", "from xiokv.codegen.cli import main; main()")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "xiokv-gen: Missing command."),
        (["buld"], "xiokv-gen: No such command 'buld'."),
        (["fetch", "--acept"], "xiokv-gen: No such option"),
        (
            ["check", "--project", "."],
            "xiokv-gen: No such option '--project'. It goes before the command: xiokv-gen --project"
            " FOLDER check",
        ),
        (["fetch", "stray"], "xiokv-gen: Got unexpected extra argument (stray)"),
        (["check", "--format", "xml"], "xiokv-gen: Invalid value for '--format'"),
        (["show"], "xiokv-gen: Missing argument 'NAME'."),
        (["build", "--out", "xiokv.toml"], "xiokv-gen: Invalid value for '--out'"),
        (["--project", "", "check"], "xiokv-gen: Invalid value for '--project': it is empty"),
        (["build", "--out", ""], "xiokv-gen: Invalid value for '--out': it is empty"),
        (["build", "--stamp", ""], "xiokv-gen: Invalid value for '--stamp': it is empty"),
        (["fetch", "--from", ""], "xiokv-gen: Invalid value for '--from': it is empty"),
        (["outdated", "--from", ""], "xiokv-gen: Invalid value for '--from': it is empty"),
        (["install", "--prefix", ""], "xiokv-gen: Invalid value for '--prefix': it is empty"),
    ],
)
def test_the_first_line_says_what_is_wrong(
    project: Path, run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], fault: str
) -> None:
    monkeypatch.chdir(project)
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[0].startswith(fault)
    assert "--help" in outcome.err.splitlines()[-1]


@pytest.mark.parametrize("command", ["build", "check", "show store", "fetch --from nowhere"])
def test_with_json_a_fault_is_still_a_line_on_stderr(project: Path, run, command: str) -> None:
    outcome = run(*command.split(), "--json")
    assert outcome.code in (1, 2)
    assert outcome.out == ""
    assert outcome.err.startswith("xiokv-gen: ")


def _run(project: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run the tool as TOOL in a shell command, in the project."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("TOOL", '"$@"'), "bash", *TOOL],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", ["show store", "check", "fetch --json", "--help"])
def test_an_output_that_takes_nothing_is_a_failure_in_one_line(built: Path, command: str) -> None:
    ran = _run(built, f"TOOL {command} > /dev/full")
    assert ran.returncode == 1
    assert ran.stderr == "xiokv-gen: No space left on device\n"


@pytest.mark.parametrize("where", ["| true", ">&-", "<&-", "> /dev/null 2>&-"])
def test_a_stream_that_is_closed_is_no_fault_to_tell(built: Path, where: str) -> None:
    assert _run(built, f"TOOL show xiokv_cmd {where}").stderr == ""


def test_characters_that_a_terminal_lacks_are_escaped(built: Path, declare) -> None:
    declare("層")
    ran = _run(built, "PYTHONIOENCODING=latin-1 TOOL show rsvd_cdw12")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\\u5c64" in ran.stdout


def test_a_place_that_the_system_refuses_is_named(project: Path, run) -> None:
    (project / "xiokv.toml").write_text(f'[output]\ndir = "{"a" * 300}"\n', encoding="utf-8")
    outcome = run("fetch")
    assert outcome.code == 1
    assert "File name too long" in outcome.err.splitlines()[0]
