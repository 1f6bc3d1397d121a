"""Consumers that find the headers by CMake, pkg-config and -I print the twin's bytes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from .conftest import Run, need, run, well

CONSUMER = Path(__file__).parent / "consumer"
STRICT = ("-Wall", "-Wextra", "-Werror")


def _built_with_cmake(folder: Path, *settings: str, generator: str = "Ninja") -> Path:
    """Configure and build the consumer; return the folder of its programs."""
    need("cmake", "ninja" if generator == "Ninja" else "make", "cc", "c++")
    well("cmake", "-G", generator, "-S", CONSUMER, "-B", folder, *settings)
    well("cmake", "--build", folder)
    return folder


def _printed(folder: Path) -> list[str]:
    return [well(folder / name) for name in ("in_c", "in_cpp")]


@pytest.fixture
def prefix(built: Path, gen: Run, tmp_path: Path) -> Path:
    """Return a prefix into which the project is installed; a space is in its path."""
    ran = gen("install", "--prefix", tmp_path / "a prefix")
    assert ran.code == 0, ran.said
    return tmp_path / "a prefix"


@pytest.mark.parametrize("setting", ["xiokv_DIR", "CMAKE_PREFIX_PATH"])
def test_the_projects_own_output_is_a_package(
    built: Path, gen: Run, tmp_path: Path, expected: str, setting: str
) -> None:
    place = gen("path", "cmake").out.strip()
    folder = _built_with_cmake(tmp_path / "out", f"-D{setting}={place}")
    assert _printed(folder) == [expected, expected]


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_an_installed_package_is_found_with_the_kernels(
    prefix: Path, tmp_path: Path, expected: str, generator: str
) -> None:
    settings = (f"-DCMAKE_PREFIX_PATH={prefix}", "-DKERNELS=ON")
    folder = _built_with_cmake(tmp_path / "out", *settings, generator=generator)
    assert _printed(folder) == [expected, expected]
    assert (folder / "libkernels.so").is_file()


def test_a_prefix_that_was_moved_is_still_found(
    prefix: Path, tmp_path: Path, expected: str
) -> None:
    moved = prefix.rename(tmp_path / "moved")
    folder = _built_with_cmake(tmp_path / "out", f"-DCMAKE_PREFIX_PATH={moved}")
    assert _printed(folder) == [expected, expected]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("0.1", True),
        ("0.1.0", True),
        ("0.1.7", True),  # the same series generates the same
        ("0.1;EXACT", True),
        ("0.1...0.3", True),
        ("0.0...<0.1", False),
        ("0.0...0.1", True),
        ("0.0", False),
        ("0.2", False),
        ("1.0", False),
    ],
)
def test_the_version_is_that_of_the_series(
    built: Path, gen: Run, tmp_path: Path, wanted: str, found: bool
) -> None:
    need("cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nfind_package(xiokv ${WANTED})\n"
        'message("found ${xiokv_FOUND}")\n',
        encoding="utf-8",
    )
    place = gen("path", "cmake").out.strip()
    settings = (f"-Dxiokv_DIR={place}", f"-DWANTED={wanted}")
    ran = run("cmake", "-S", tmp_path, "-B", tmp_path / "out", *settings)
    assert f"found {int(found)}" in ran.said


def test_a_package_without_its_headers_says_what_to_run(
    built: Path, gen: Run, tmp_path: Path
) -> None:
    need("cmake", "cc")
    place = gen("path", "cmake").out.strip()
    (built / "generated/include/xiokv/nvme_kv.h").unlink()
    ran = run("cmake", "-S", CONSUMER, "-B", tmp_path / "out", f"-Dxiokv_DIR={place}")
    assert ran.code != 0
    assert "run xiokv-gen build" in " ".join(ran.said.split())


@pytest.mark.parametrize(("compiler", "source"), [("cc", "encode.c"), ("c++", "encode.cpp")])
@pytest.mark.parametrize("installed", [False, True], ids=["in place", "installed"])
def test_pkg_config_knows_the_headers(
    prefix: Path, gen: Run, tmp_path: Path, expected: str, compiler: str, source: str, installed
) -> None:
    need("pkg-config", compiler)
    place = prefix / "share/pkgconfig" if installed else gen("path", "pkgconfig").out.strip()
    asked = ("pkg-config", "--cflags", "xiokv >= 0.1.0")
    flags = shlex.split(well(*asked, PKG_CONFIG_PATH=str(place)))
    standard = "-std=c11" if compiler == "cc" else "-std=c++17"
    program = tmp_path / "program"
    well(compiler, standard, *STRICT, *flags, CONSUMER / source, "-o", program)
    assert well(program) == expected


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_the_include_folder_alone_is_enough(
    built: Path, gen: Run, tmp_path: Path, expected: str, compiler: str
) -> None:
    need(compiler)
    printed = gen("path", "include").out
    assert printed == f"{built}/generated/include\n"
    program = tmp_path / "program"
    include = f"-I{printed.strip()}"
    well(compiler, "-std=c11", *STRICT, include, CONSUMER / "encode.c", "-o", program)
    assert well(program) == expected
