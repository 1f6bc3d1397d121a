"""The wheel holds what the four packages hold, and works away from this repository.

It is built through the source distribution, from a copy of the repository's own files:
what an ignored build folder holds must not leak into it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("codegen", "templates", "generated", "runtime")

# One worker builds the wheel for all tests of this file.
pytestmark = pytest.mark.xdist_group("wheel")


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command and return its standard output; a failure shows both outputs."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tree: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built without a network."""
    source = tmp_path_factory.mktemp("source")
    for path in tree:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path, follow_symlinks=False)
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, cwd=source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which the wheel is installed."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run(*pip, "--target", target, wheel, cwd=target)
    return target


def run_installed(installed: Path, *arguments: str | Path, cwd: Path, **environment: str) -> str:
    """Run Python on the installed packages.

    Dependencies come from the running environment by PYTHONPATH, and with -S: so the link
    from there to this repository, which only site reads, is not followed.
    """
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib")])
    return run(sys.executable, "-S", *arguments, cwd=cwd, PYTHONPATH=path, **environment)


def test_the_wheel_holds_exactly_the_files_of_the_packages(wheel: Path, tree: list[Path]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert held == {f"xiokv/{path.as_posix()}" for path in tree if path.parts[0] in PACKAGES}


def test_the_wheel_is_for_every_platform(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_carries_the_licence_and_the_notice(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {Path(name).name for name in archive.namelist() if "/licenses/" in name}

    assert held == {"LICENSE", "NOTICE"}


def test_the_installed_packages_are_the_ones_that_run(installed: Path, tmp_path: Path) -> None:
    program = "import xiokv.codegen as c; print(c.__file__)"

    place = run_installed(installed, "-c", program, cwd=tmp_path).strip()

    assert place == str(installed / "xiokv" / "codegen" / "__init__.py")


@pytest.mark.parametrize("tool", ["xiokv-gen", "xiokv"])
def test_an_installed_tool_tells_its_version(installed: Path, tmp_path: Path, tool: str) -> None:
    told = run_installed(installed, installed / "bin" / tool, "--version", cwd=tmp_path)

    assert told.split()[-1] == "0.1.0"


def test_the_installed_tool_serves_a_project_elsewhere(installed: Path, project: Path) -> None:
    tool = installed / "bin" / "xiokv-gen"

    for command in (["fetch"], ["build", "--emit-only"], ["check"]):
        run_installed(installed, tool, *command, cwd=project)

    assert any((project / "generated").rglob("nvme_kv.h"))


def test_the_installed_runtime_compiles_what_it_carries_and_runs(
    installed: Path, tmp_path: Path
) -> None:
    tool = installed / "bin" / "xiokv"
    few = ["verify", "--sizes", "4KiB", "--count", "8", "--no-faults"]
    # Folders in the cache are named by what they hold: another session's may serve.
    cache = str(ROOT / "build" / "cache")

    told = run_installed(installed, tool, *few, cwd=tmp_path, XDG_CACHE_HOME=cache)

    assert told.splitlines()[-1].endswith(": all right")
