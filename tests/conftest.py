"""What every test relies on: the packages of this checkout, and shared fixtures."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("codegen", "templates", "generated", "runtime")

PROJECT_TOML = """\
[upstream]
ref = "bundled"

[output]
dir = "generated"
"""


def _places(package: str) -> list[Path]:
    """Return where Python finds `package`: its folders, all of them for a namespace."""
    try:
        spec = find_spec(f"xiokv.{package}")
    except ModuleNotFoundError:
        return []
    locations = (spec.submodule_search_locations if spec else None) or []
    return [Path(place).resolve() for place in locations]


def pytest_configure() -> None:
    """Stop unless the packages under test are those of this checkout."""
    strangers = {name: _places(name) for name in PACKAGES if _places(name) != [ROOT / name]}
    if strangers:
        seen = "\n".join(
            f"  xiokv.{name}: {', '.join(map(str, places)) or 'not found'}"
            for name, places in strangers.items()
        )
        raise pytest.UsageError(
            f"the packages under test are not those of {ROOT}:\n{seen}\n"
            "Unset PYTHONPATH, and run scripts/test.sh: it makes this checkout's own .venv."
        )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a user's project, apart from this repository."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "xiokv.toml").write_text(PROJECT_TOML, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def spdk_git() -> Path:
    """Return the bare SPDK git directory that XIOKV_TEST_SPDK names, or skip."""
    place = os.environ.get("XIOKV_TEST_SPDK")
    if not place:
        pytest.skip("XIOKV_TEST_SPDK does not name a bare SPDK git directory")
    return Path(place)
