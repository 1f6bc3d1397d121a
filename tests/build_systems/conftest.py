"""A project with every output, and the tools that a consumer of its headers builds with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
PROJECT_TOML = '[upstream]\nref = "bundled"\n[output]\ndir = "generated"\n'
EMIT = 'emit = ["headers", "engine", "python", "cmake", "pkgconfig"]\n'


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


Run = Callable[..., Ran]


def need(*tools: str) -> None:
    """Skip the test where a program is missing."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(
    *command: str | Path, cwd: Path | None = None, seconds: float = 120, **environment: str
) -> Ran:
    """Run a command as a user whose PATH has this checkout's tools."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**kept, "PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def well(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command that must succeed; return what it prints."""
    ran = run(*command, cwd=cwd, **environment)
    assert ran.code == 0, f"{command}\n{ran.said}"
    return ran.out


@pytest.fixture
def gen(project: Path) -> Run:
    """Return a function that runs the tool on the project."""

    def call(*arguments: str | Path) -> Ran:
        return run(BIN / "xiokv-gen", "--project", project, *arguments)

    return call


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a built project with every output, for tests to take copies of."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "xiokv.toml").write_text(PROJECT_TOML + EMIT, encoding="utf-8")
    for arguments in (("fetch",), ("build", "--emit-only")):
        well(BIN / "xiokv-gen", "--project", folder, *arguments)
    return folder


@pytest.fixture
def built(project: Path, made: Path) -> Path:
    """Return a project with every output, built."""
    shutil.copytree(made, project, dirs_exist_ok=True)
    return project


@pytest.fixture
def expected(built: Path) -> str:
    """Return what a consumer has to print, by the project's Python twin."""
    code = (
        "import nvme_kv\n"
        "print(nvme_kv.encode('retrieve', nsid=7, key=b'block-17', value_size=4096).hex())"
    )
    return well(sys.executable, "-c", code, cwd=built / "generated")
