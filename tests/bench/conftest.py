"""What the tests of xiokv bench share: the tool in this process, and one quick run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime.cli import main

ROOT = Path(__file__).resolve().parents[2]
TOOL = (sys.executable, "-c", "from xiokv.runtime.cli import main; main()")
MOST_SECONDS = 300


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Tool = Callable[..., Outcome]


@pytest.fixture
def tool(capsys: pytest.CaptureFixture[str]) -> Tool:
    """Return what runs xiokv bench in this process."""

    def call(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(["bench", *map(str, arguments)])
        captured = capsys.readouterr()
        return Outcome(int(left.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """Return what a quick run of all tables on the host prints as JSON."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XIOKV_")}
    done = subprocess.run(
        [*TOOL, "bench", "--quick", "--json", "--target", "host"],
        env=kept | {"XDG_CACHE_HOME": str(ROOT / "build" / "cache")},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    # No progress where there is no terminal; the machine of the tests may be busy.
    assert all(line.startswith("warning: load ") for line in done.stderr.splitlines())
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture
def saved(document: dict[str, Any], tmp_path: Path) -> Path:
    """Return a file that holds the quick run."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
