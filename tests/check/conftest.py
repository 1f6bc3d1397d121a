"""A project with the bundled spec, and the tool as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from xiokv.codegen import cli


@dataclass(frozen=True)
class Outcome:
    """What one run of the tool did."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]
Snapshot = Callable[[], dict[str, tuple[bytes, int]]]


@pytest.fixture
def fetched(project: Path, run: Run) -> Path:
    """Return a project with the bundled spec in place and nothing built."""
    outcome = run("fetch")
    assert outcome.code == 0, outcome.err
    return project


@pytest.fixture
def built(fetched: Path, run: Run) -> Path:
    """Return a project whose text is built."""
    outcome = run("build", "--emit-only")
    assert outcome.code == 0, outcome.err
    return fetched


@pytest.fixture
def declare(project: Path) -> Callable[[str], None]:
    """Return a function that gives the project a profile: ``layer``, with the meaning given."""

    def write(meaning: str) -> None:
        (project / "mine.toml").write_text(
            'schema = 1\nname = "mine"\n[[field]]\nname = "layer"\ndword = 12\nbits = [7, 0]\n'
            f'scope = "batch"\ncommands = ["store"]\nunit = "index"\nmeaning = "{meaning}"\n',
            encoding="utf-8",
        )
        with (project / "xiokv.toml").open("a") as config:
            config.write('[semantics]\nprofile = "mine.toml"\n')

    return write


@pytest.fixture
def run(project: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs ``xiokv-gen`` on the project."""

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main(["--project", str(project), *arguments])
        captured = capsys.readouterr()
        return Outcome(int(stopped.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def snapshot(project: Path) -> Snapshot:
    """Return a function that gives content and time of change of the project's files."""

    def take() -> dict[str, tuple[bytes, int]]:
        return {
            path.relative_to(project).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(project.rglob("*"))
            if path.is_file()
        }

    return take
