"""What the tests of xiokv bench share: the tool in this process, and one quick run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.tool import TOOL, Tool, in_this_process, own_environment

HERE = Path(__file__).parent
MOST_SECONDS = 300


def pytest_configure(config: pytest.Config) -> None:
    """Know the marker of pytest-xdist also where that is not there."""
    config.addinivalue_line("markers", "xdist_group(name): run in one process")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that share the quick run in one process."""
    for item in items:
        if HERE in item.path.parents and "document" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("bench"))


@pytest.fixture
def tool(capsys: pytest.CaptureFixture[str]) -> Tool:
    """Return what runs xiokv bench in this process."""
    return in_this_process(capsys, "bench")


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """Return what a quick run of all tables on the host prints as JSON."""
    done = subprocess.run(
        [*TOOL, "bench", "--quick", "--json", "--target", "host"],
        env=own_environment(),
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
