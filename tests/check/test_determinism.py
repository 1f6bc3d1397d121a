"""The same inputs give the same bytes, whatever the machine is like."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
PLACES = {
    "plain": {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0", "LANG": "C"},
    "elsewhere": {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "4242"},
}


def _tool(*arguments: str, cwd: Path, **environment: str) -> None:
    tool = [sys.executable, "-c", "from xiokv.codegen.cli import main; main()", *arguments]
    subprocess.run(tool, cwd=cwd, env={**os.environ, **environment}, check=True, timeout=60)


def test_builds_in_different_surroundings_are_byte_identical(fetched: Path, tmp_path: Path) -> None:
    trees = {}
    for name, environment in PLACES.items():
        cwd = tmp_path / name / "a folder"
        cwd.mkdir(parents=True)
        out = cwd / "out"
        _tool("--project", str(fetched), "build", "--out", str(out), cwd=cwd, **environment)
        files = (path for path in sorted(out.rglob("*")) if path.is_file())
        trees[name] = {path.relative_to(out).as_posix(): path.read_bytes() for path in files}
    assert trees["plain"] == trees["elsewhere"]
    assert len(trees["plain"]) > 3


def test_no_generated_file_names_a_place_on_this_machine(built: Path) -> None:
    texts = {p: p.read_text(encoding="utf-8") for p in (built / "generated").rglob("*.*")}
    naming = [p.name for p, text in texts.items() if str(built) in text or str(Path.home()) in text]
    assert naming == []


@pytest.mark.parametrize("style", ["file", "WebKit"])
def test_clang_format_leaves_the_output_alone(built: Path, run, style: str) -> None:
    sources = [
        str(path)
        for path in (built / "generated").rglob("*")
        if path.suffix in (".h", ".c", ".cpp", ".hip", ".cu")
    ]
    assert sources
    subprocess.run([CLANG_FORMAT, "-i", f"--style={style}", *sources], check=True, timeout=60)
    outcome = run("check")
    assert outcome.code == 0, outcome.out
