"""The command line of xiokv: faults come first on stderr, as exit codes, never as a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tool import TOOL, Tool, in_this_process
from xiokv.runtime import emulator
from xiokv.runtime.cli import main

QUICK = ("verify", "--sizes", "4KiB,511", "--count", "8", "--no-faults")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Tool:
    """Return what runs the tool in this process."""
    return in_this_process(capsys)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "Missing command."),
        (["verfy"], "No such command 'verfy'."),
        (["verify", "--dept", "3"], "No such option"),
        (["verify", "stray"], "Got unexpected extra argument (stray)"),
        (["verify", "--depth", "1"], "Invalid value for '--depth': 1 is not in the range"),
        (["verify", "--queues", "65"], "Invalid value for '--queues': 65 is not in the range"),
        (["verify", "--count", "0"], "Invalid value for '--count': 0 is not in the range"),
        (["verify", "--seed", "-1"], "Invalid value for '--seed': -1 is not in the range"),
        (["verify", "--sizes", "4KB"], "Invalid value for '--sizes': '4KB' is no size; such are"),
        (["verify", "--sizes", "1,,2"], "Invalid value for '--sizes': '' is no size; such are"),
        (["verify", "--sizes", "-1"], "Invalid value for '--sizes': '-1' is no size; such are"),
        (["verify", "--sizes", "33MiB"], "Invalid value for '--sizes': 33MiB is too large; 0 to"),
        (["verify", "--target", "tpu"], "target 'tpu': this version of xiokv has a driver for"),
    ],
)
def test_a_usage_error_is_said_in_the_first_line(
    run: Tool, arguments: list[str], fault: str
) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[0].startswith(f"xiokv: {fault}")


def test_only_commands_that_exist_are_listed(run: Tool) -> None:
    outcome = run("--help")
    commands = outcome.out.partition("Commands:\n")[2]
    assert [line.split()[0] for line in commands.splitlines()] == [
        *("bench", "breakeven", "probe", "replay", "verify"),
    ]


def test_nothing_wrong_ends_with_one_plain_line(run: Tool) -> None:
    outcome = run(*QUICK)
    assert (outcome.code, outcome.err) == (0, "")
    head, *rows, last = outcome.out.splitlines()
    assert head.split()[:3] == ["size", "case", "blocks"]
    assert [row.split()[2] for row in rows] == ["plain", "edges"] * 2
    assert [row.split()[-1] for row in rows] == ["right"] * 4
    # In edges one block is missing, and one gets half its value.
    moved = 8 * 4096 + 6 * 4096 + 2048 + 8 * 511 + 6 * 511 + 255
    assert last == f"verified 30 blocks, {moved} bytes: all right"


def test_json_is_one_object(run: Tool) -> None:
    outcome = run(*QUICK, "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0
    assert (found["ok"], found["wrong"], found["verified_blocks"]) == (True, None, 30)
    assert [(row["size"], row["case"]) for row in found["rows"]] == [
        (size, case) for size in (4096, 511) for case in ("plain", "edges")
    ]
    assert found["rows"][1]["outcomes"] == {"OK": 6, "TRUNCATED": 1, "MISSING": 1}


class Failing(emulator.Emulator):
    """A controller that fails the third Retrieve."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "threads": 1})
        self.fault("status", opcode=2, nth=3, sc=0x88, qid=1)


@pytest.mark.parametrize("json_too", [False, True])
def test_something_wrong_is_named_and_the_exit_code_is_1(
    run: Tool, monkeypatch: pytest.MonkeyPatch, json_too: bool
) -> None:
    monkeypatch.setattr(emulator, "Emulator", Failing)
    outcome = run(*QUICK, "--queues", "1", *["--json"] * json_too)
    assert outcome.code == 1
    assert outcome.err == (
        "xiokv: wrong at value size 4 KiB, case plain: key 2 (020000000000), Retrieve: expected"
        " OK, got ERROR: UNRECOVERED_ERROR (SCT 0h, SC 88h, DNR 0)\n"
    )
    if json_too:
        found = json.loads(outcome.out)
        assert found["ok"] is False
        assert found["wrong"] == {
            "size": 4096,
            "case": "plain",
            "index": 2,
            "key": "020000000000",
            "place": "Retrieve",
            "offset": None,
            "expected": "OK",
            "got": "ERROR",
            "meaning": "UNRECOVERED_ERROR (SCT 0h, SC 88h, DNR 0)",
        }
    else:
        assert outcome.out.splitlines()[-1].endswith("WRONG")


def test_a_fault_of_the_runtime_has_its_exit_code(
    run: Tool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XIOKV_MODULE", str(tmp_path / "none"))
    outcome = run(*QUICK)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("xiokv: ")


def test_no_compiler_is_5(
    run: Tool, monkeypatch: pytest.MonkeyPatch, module: Any, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = run(*QUICK)
    assert (outcome.code, outcome.out) == (5, "")
    assert "install one: apt-get install g++" in outcome.err.splitlines()[0]


def _shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run the tool as TOOL in a shell command."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("TOOL", '"$@"'), "bash", *TOOL],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", ["--help", " ".join(QUICK), " ".join((*QUICK, "--json"))])
def test_an_output_that_takes_nothing_is_a_failure_in_one_line(command: str) -> None:
    ran = _shell(f"TOOL {command} > /dev/full")
    assert (ran.returncode, ran.stderr) == (1, "xiokv: No space left on device\n")


@pytest.mark.parametrize("where", ["| true", ">&-", "<&-"])
def test_a_stream_that_is_closed_is_no_fault_to_tell(where: str) -> None:
    assert _shell(f"TOOL {' '.join(QUICK)} {where}").stderr == ""


@pytest.mark.parametrize("how", ["plain", "cause", "context", "numpy", "loader"])
def test_a_lack_of_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, run: Tool, how: str) -> None:
    def fail(*_: object, **__: object) -> None:
        if how == "numpy":
            np.empty(1 << 60, np.uint8)
        if how == "loader":
            raise ImportError("libx.so: failed to map segment from shared object")
        if how == "plain":
            raise MemoryError
        try:
            raise MemoryError("so much")
        except MemoryError as error:
            raise ImportError("numpy") from (error if how == "cause" else None)

    monkeypatch.setattr("xiokv.runtime.kv.KV.retrieve", fail)
    outcome = run(*QUICK)
    assert outcome.code == 1
    (line,) = outcome.err.splitlines()
    assert line.startswith("xiokv: not enough memory: ")


def test_a_process_that_may_have_little_memory_ends_without_a_traceback() -> None:
    ran = _shell("ulimit -v 60000; TOOL replay --generate 1 --storage memory")
    assert ran.returncode != 0
    assert "Traceback" not in ran.stderr
    assert ran.stderr.startswith("xiokv: not enough memory: ")


def test_any_other_fault_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("unforeseen")

    monkeypatch.setattr("xiokv.runtime.kv.KV.retrieve", fail)
    with pytest.raises(ValueError, match="unforeseen"):
        main(list(QUICK))


def test_an_interrupt_while_modules_are_imported_is_one_line() -> None:
    program = """
import builtins, sys
from xiokv.runtime.cli import main
real = builtins.__import__
def interrupted(name, *rest):
    if name == "click":
        raise KeyboardInterrupt
    return real(name, *rest)
builtins.__import__ = interrupted
main(["--help"])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (-2, b"", b"xiokv: interrupted\n")


def test_little_is_imported_before_main() -> None:
    program = "import sys, xiokv.runtime.cli; sys.exit('click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_command_line_costs_no_numpy_until_it_is_needed() -> None:
    program = "import sys, xiokv.runtime.commands.verify; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
