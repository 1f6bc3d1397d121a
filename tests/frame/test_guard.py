"""tests/conftest.py refuses to test the packages of another checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_package_from_elsewhere_stops_the_session(tmp_path: Path) -> None:
    stranger = tmp_path / "xiokv" / "codegen"
    stranger.mkdir(parents=True)
    (stranger / "__init__.py").touch()

    session = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/frame"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert session.returncode == 4, session.stdout
    assert f"xiokv.codegen: {stranger}" in session.stderr
    assert "scripts/test.sh" in session.stderr
