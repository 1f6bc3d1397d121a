"""The repository's own files, for the tests of its frame."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tree() -> list[Path]:
    """Return the files of the repository, relative to it: tracked, or new and not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    files = sorted({Path(name) for name in listing.stdout.split("\0") if name})
    return [path for path in files if (ROOT / path).exists()]
