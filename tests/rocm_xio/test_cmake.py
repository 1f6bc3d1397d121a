"""nvme-kv.cmake in a library that exports its target, and is installed and found by another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import CONSUMER

LIBRARY = CONSUMER.parent / "library"
GEN = Path(sys.executable).with_name("xiokv-gen")
PRINTED = "02 636f6c62 8\n"
PROFILE = (
    'schema = 1\nname = "mine"\n[[field]]\nname = "layer"\ndword = 12\nbits = [7, 0]\n'
    'scope = "batch"\ncommands = ["store"]\nunit = "index"\nmeaning = "{}"\n'
)


def run(*command: str | Path, code: int | None = 0) -> str:
    """Run a command without xiokv-gen on the PATH; return all that it prints."""
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if Path(p) != GEN.parent)
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "PATH": path, "LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert code is None or done.returncode == code, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(params=["Ninja", "Unix Makefiles"])
def generator(request: pytest.FixtureRequest) -> str:
    """Return a build tool that is there."""
    for tool in ("cmake", "ninja" if request.param == "Ninja" else "make", "c++"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the library's repository, with generated headers; a space is in its path."""
    folder = tmp_path / "the library"
    shutil.copytree(LIBRARY, folder)
    run(GEN, "--project", folder, "init", "--rocm-xio")
    run(GEN, "--project", folder, "build")
    return folder


def configure(project: Path, out: Path, generator: str, *settings: str) -> str:
    """Configure the library; return what CMake said."""
    given = (f"-DCONSUMER={CONSUMER}", "-DKV=generated", *settings)
    return run("cmake", "-G", generator, "-S", project, "-B", out, *given)


def test_the_library_is_installed_and_found_with_the_header(
    project: Path, tmp_path: Path, generator: str
) -> None:
    out, prefix, user = tmp_path / "out", tmp_path / "prefix", tmp_path / "user"
    configure(project, out, generator, f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run("cmake", "--build", out)
    assert run(out / "inside") == PRINTED
    run("cmake", "--install", out)
    project.rename(tmp_path / "gone")  # what is installed needs no source
    found = f"-DCMAKE_PREFIX_PATH={prefix}"
    run("cmake", "-G", generator, "-S", LIBRARY / "user", "-B", user, found)
    run("cmake", "--build", user)
    assert run(user / "outside") == PRINTED


def test_the_test_of_the_build_finds_a_header_that_was_changed(
    project: Path, tmp_path: Path
) -> None:
    configure(project, tmp_path / "out", "Unix Makefiles", f"-DXIOKV_GEN={GEN}")
    tests = ("ctest", "--test-dir", tmp_path / "out", "-R", "nvme-kv-is-current")
    assert "100% tests passed" in run(*tests)
    with (project / "generated/rocm-xio/nvme-kv.h").open("a", encoding="utf-8") as header:
        header.write("// mine\n")
    assert "nvme-kv-is-current (Failed)" in run(*tests, code=8)


def test_a_change_of_the_profile_reaches_the_objects_in_one_build(
    project: Path, tmp_path: Path, generator: str
) -> None:
    (project / "mine.toml").write_text(PROFILE.format("Layer."), encoding="utf-8")
    config = project / "xiokv.toml"
    text = config.read_text(encoding="utf-8").replace(
        'profile = "default"', 'profile = "mine.toml"'
    )
    config.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    configure(project, out, generator, f"-DXIOKV_GEN={GEN}", "-DKV_HEADERS_GENERATE=ON")
    run("cmake", "--build", out)
    assert "endpoint.cpp" not in run("cmake", "--build", out)
    (project / "mine.toml").write_text(PROFILE.format("Other."), encoding="utf-8")
    assert "endpoint.cpp" in run("cmake", "--build", out)
    assert "Other." in (project / "generated/rocm-xio/nvme-kv.h").read_text(encoding="utf-8")
    assert "endpoint.cpp" not in run("cmake", "--build", out)


@pytest.mark.parametrize(("installed", "settings"), [(False, ()), (True, (f"-DXIOKV_GEN={GEN}",))])
def test_generating_without_xiokv_or_project_says_what_it_needs(
    project: Path, tmp_path: Path, installed: bool, settings: tuple[str, ...]
) -> None:
    headers = "generated"
    if installed:
        run(GEN, "--project", project, "install", "--prefix", tmp_path / "prefix")
        headers = f"{tmp_path}/prefix/share/xiokv"
    asked = (f"-DCONSUMER={CONSUMER}", f"-DKV={headers}", "-DKV_HEADERS_GENERATE=ON", *settings)
    said = run("cmake", "-S", project, "-B", tmp_path / "out", *asked, code=1)
    assert "KV_HEADERS_GENERATE needs the project's xiokv.toml above" in " ".join(said.split())


@pytest.mark.parametrize("installed", [False, True], ids=["in place", "installed"])
def test_the_package_has_a_target_for_the_drop_in(
    project: Path, tmp_path: Path, installed: bool, generator: str
) -> None:
    config = project / "xiokv.toml"
    emit = 'emit = ["headers", "cmake", "rocm-xio"]'
    text = config.read_text(encoding="utf-8").replace('emit = ["rocm-xio"]', emit)
    config.write_text(text, encoding="utf-8")
    run(GEN, "--project", project, "build")
    place = run(GEN, "--project", project, "path", "cmake").strip()
    if installed:
        run(GEN, "--project", project, "install", "--prefix", tmp_path / "prefix")
        place = f"{tmp_path}/prefix/share/cmake/xiokv"
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX)\n"
        f'find_package(xiokv REQUIRED)\nadd_library(p "{LIBRARY}/endpoint.cpp")\n'
        f'target_include_directories(p PRIVATE "{CONSUMER}")\n'
        "target_link_libraries(p PRIVATE xiokv::rocm-xio)\n",
        encoding="utf-8",
    )
    run("cmake", "-G", generator, "-S", tmp_path, "-B", tmp_path / "out", f"-Dxiokv_DIR={place}")
    run("cmake", "--build", tmp_path / "out")


def test_path_prints_the_folder_of_the_header(project: Path) -> None:
    printed = run(GEN, "--project", project, "path", "rocm-xio").rstrip("\n")
    assert printed == f"{project}/generated/rocm-xio"
    assert (Path(printed) / "nvme-kv.h").is_file()
