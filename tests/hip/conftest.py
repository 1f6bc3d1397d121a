"""The stand-in for AMD's runtime library, for tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hip.standin_process import NAME, Standin, build


@pytest.fixture(scope="session")
def standin_library() -> Path:
    """Return the stand-in library."""
    return build()


@pytest.fixture
def standin(standin_library: Path, tmp_path: Path) -> Standin:
    """Return the stand-in, offered under the name that hip-python asks for."""
    pytest.importorskip("hip", reason="hip-python is not installed: pip install hip-python")
    made = Standin(standin_library, tmp_path / "rocm")
    made.offer(NAME)
    return made
