"""Habits that every file of the repository keeps."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SCRIPTS = [*sorted((ROOT / "scripts").rglob("*.sh")), ROOT / ".ci" / "run"]
SCRIPT_IDS = [str(path.relative_to(ROOT)) for path in SCRIPTS]

# A path of one machine. The pattern is split so that it does not match itself.
LOCAL_PATH = re.compile(rb"(?<![\w.$}~-])/" + rb"(?:work|tmp|home|root)/")


@pytest.mark.parametrize("script", SCRIPTS, ids=SCRIPT_IDS)
def test_a_script_is_executable(script: Path) -> None:
    assert os.access(script, os.X_OK)


@pytest.mark.parametrize("script", SCRIPTS, ids=SCRIPT_IDS)
def test_a_script_stops_at_the_first_fault(script: Path) -> None:
    lines = script.read_text(encoding="utf-8").splitlines()

    assert lines[0] == "#!/usr/bin/env bash"
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands[0] == "set -euo pipefail"


def test_no_file_names_a_path_of_one_machine(tree: list[Path]) -> None:
    found = [
        f"{path}:{number}: {line.decode(errors='replace').strip()}"
        for path in tree
        if (ROOT / path).is_file()
        for number, line in enumerate((ROOT / path).read_bytes().splitlines(), start=1)
        if LOCAL_PATH.search(line)
    ]

    assert found == []


def test_no_file_has_crlf_line_ends(tree: list[Path]) -> None:
    files = [path for path in tree if (ROOT / path).is_file()]

    assert [str(path) for path in files if b"\r\n" in (ROOT / path).read_bytes()] == []
