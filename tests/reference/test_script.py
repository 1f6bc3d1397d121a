"""scripts/docs.sh: what it builds, and with which words and codes it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import NEEDED, ROOT

pytestmark = pytest.mark.xdist_group("reference")


def run(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the script, in whose virtual environment these tests run: it has nothing to install."""
    if Path(sys.prefix) != ROOT / ".venv" or not (ROOT / ".venv/xiokv-installed-dev").exists():
        pytest.skip("these tests do not run by scripts/test.sh")
    for name in NEEDED:
        pytest.importorskip(name, reason=f"no {name}: pip install '.[docs]', Python 3.11")
    return subprocess.run(
        [ROOT / "scripts/docs.sh", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--colour",), "unknown argument '--colour'"),
        (("--out",), "--out needs a folder"),
        (("--project", "/nowhere"), "--project: there is no folder /nowhere"),
    ],
)
def test_what_it_does_not_take_is_said_first(arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"docs.sh: {said}"


@pytest.mark.slow
def test_the_site_lies_where_the_caller_said(tmp_path: Path) -> None:
    done = run("--out", "site", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/site/index.html\n"), done.stderr
    assert (tmp_path / "site/index.html").exists()


@pytest.mark.slow
def test_headers_that_are_not_current_are_not_described(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    generate = [ROOT / ".venv/bin/xiokv-gen", "--project", project]
    subprocess.run([*generate, "init"], check=True, capture_output=True)
    subprocess.run([*generate, "build", "--emit-only"], check=True, capture_output=True)
    header = project / "generated/include/xiokv/nvme_kv.h"
    header.write_text(header.read_text(encoding="utf-8") + "// more\n", encoding="utf-8")
    done = run("--project", project, "--out", tmp_path / "site")
    assert done.returncode == 3
    assert not (tmp_path / "site").exists()
