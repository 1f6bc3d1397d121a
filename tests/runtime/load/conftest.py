"""Modules in folders, whole and changed, and places to look from."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.errors import ExitCode, RuntimeFault
from xiokv.runtime.module import load

LIBRARY = "xiokv_host.so"


@pytest.fixture(scope="module")
def compiled(recipe: toolchain.Recipe) -> Path:
    """Return the folder of a good host module."""
    return toolchain.build_cached(recipe).parent


@pytest.fixture
def copy(compiled: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies the good module into a new folder."""

    def make(*parts: str) -> Path:
        return Path(shutil.copytree(compiled, tmp_path.joinpath(*(parts or ("module",)))))

    return make


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that belongs to no project."""
    folder = tmp_path / "away"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def in_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder below a project's."""
    (project / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "er")
    return project


def edit(folder: Path, **changes: Any) -> None:
    """Change members of a description; None removes one."""
    path = folder / "module.json"
    document = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))


def describe(folder: Path) -> None:
    """Let the description state the hash of the file as it is."""
    digest = hashlib.sha256((folder / LIBRARY).read_bytes()).hexdigest()
    edit(folder, files={LIBRARY: digest})


def refusal(place: Path) -> str:
    """Return why the module at a place is refused."""
    with pytest.raises(RuntimeFault) as caught:
        load(module=place)
    assert caught.value.exit_code is ExitCode.FAILURE
    return str(caught.value)
