"""The library for programs in C: installed, found, linked with, and its module found by it."""

from __future__ import annotations

import shlex
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from xiokv.runtime import toolchain

from .conftest import EMIT, Run, need, run, well

PROGRAM = """
#include <stdio.h>
#include <xiokv.h>
#include <xiokv_emulator.h>

int main(void) {
  struct xiokv_emu_config config = {.struct_size = sizeof config};
  struct xiokv_key key = {.bytes = "nobody", .length = 6};
  struct xiokv_request request = {.struct_size = sizeof request, .keys = &key, .count = 1};
  struct xiokv_controller controller;
  struct xiokv_module *module;
  struct xiokv_ctx *ctx;
  char line[4096];
  xiokv_emu *emu = xiokv_emu_create(&config, NULL, 0);
  if (xiokv_emu_start(emu) || xiokv_emu_controller(emu, &controller) ||
      xiokv_load(NULL, &module) || xiokv_attach(module, &controller, NULL, &ctx))
    return puts(xiokv_last_error()), 1;
  xiokv_module_describe(module, line, sizeof line);
  printf("%d missing\\n%s\\n", xiokv_exist(ctx, &request, NULL), line);
  return xiokv_detach(ctx);
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(asks LANGUAGES C)
find_package(xiokv 0.1 REQUIRED COMPONENTS host)
add_executable(asks asks.c)
target_link_libraries(asks PRIVATE xiokv::host)
"""


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile the library once, for as long as it takes; commands then find it in the cache."""
    need("c++")
    toolchain.build_cached(toolchain.capi_recipe(version("xiokv")))


@pytest.fixture
def consumer(tmp_path: Path) -> Path:
    folder = tmp_path / "consumer"
    (folder / "empty").mkdir(parents=True)
    (folder / "asks.c").write_text(PROGRAM, encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    return folder


@pytest.fixture
def prefix(built: Path, gen: Run, tmp_path: Path) -> Path:
    """Return a prefix with the library; a space is in its path."""
    ran = gen("install", "--prefix", tmp_path / "a prefix", "--host")
    assert ran.code == 0, ran.said
    return tmp_path / "a prefix"


def asked(program: Path, consumer: Path) -> str:
    """Run the program where no project and no cache has a module; return where it found one."""
    empty = consumer / "empty"
    said = well(program, cwd=empty, XDG_CACHE_HOME=str(empty), XIOKV_MODULE="")
    assert said.startswith("1 missing\n")
    return said


def with_cmake(consumer: Path, *settings: str) -> Path:
    need("cmake", "ninja", "cc")
    well("cmake", "-G", "Ninja", "-S", consumer, "-B", consumer / "out", *settings)
    well("cmake", "--build", consumer / "out")
    return consumer / "out" / "asks"


def test_cmake_finds_the_installed_library_which_finds_its_module(
    prefix: Path, consumer: Path, tmp_path: Path
) -> None:
    moved = prefix.rename(tmp_path / "moved")
    program = with_cmake(consumer, f"-DCMAKE_PREFIX_PATH={moved}")
    assert f"{moved}/lib/xiokv/host/xiokv_host.so: host module" in asked(program, consumer)


def test_pkg_config_finds_the_installed_library(prefix: Path, consumer: Path) -> None:
    need("pkg-config", "cc")
    place = str(prefix / "share/pkgconfig")
    flags = shlex.split(
        well("pkg-config", "--cflags", "--libs", "xiokv-host", PKG_CONFIG_PATH=place)
    )
    well("cc", "-std=c11", "-Wall", "-Werror", "asks.c", *flags, "-o", "asks", cwd=consumer)
    assert "found by this library's folder" in asked(consumer / "asks", consumer)


def test_cmake_lets_a_project_compile_the_library(built: Path, gen: Run, consumer: Path) -> None:
    package = gen("path", "cmake").out.strip()
    program = with_cmake(consumer, f"-Dxiokv_DIR={package}")
    assert gen("build", "--target", "host").code == 0
    assert "found by the nearest xiokv.toml" in well(program, cwd=built, XIOKV_MODULE="")


def test_a_library_that_is_nowhere_is_told(built: Path, gen: Run, consumer: Path) -> None:
    need("cmake", "ninja", "cc")
    shutil.copytree(built / "generated", consumer / "copied")
    settings = (f"-Dxiokv_DIR={consumer}/copied/share/cmake/xiokv", "-DXIOKV_GEN=/bin/false")
    ran = run("cmake", "-G", "Ninja", "-S", consumer, "-B", consumer / "out", *settings)
    assert ran.code != 0
    assert "component host: no libxiokv in" in ran.err.replace("\n ", "")


def test_a_module_that_is_nowhere_is_told(built: Path, gen: Run, consumer: Path) -> None:
    library = gen("path", "library").out.strip()
    include = gen("path", "include").out.strip()
    words = ("-I", include, "-L", library, f"-Wl,-rpath,{library}", "-lxiokv")
    well("cc", "-std=c11", "asks.c", *words, "-o", "asks", cwd=consumer)
    empty = consumer / "empty"
    ran = run(consumer / "asks", cwd=empty, XDG_CACHE_HOME=str(empty), XIOKV_MODULE="")
    assert ran.code == 1
    assert "no host module: name one, or run xiokv-gen build --target host" in ran.out
    assert f"nothing at {library}/host" in ran.out


def test_a_later_installation_keeps_the_library(prefix: Path, gen: Run) -> None:
    kept = {path for path in prefix.rglob("*") if "lib" in path.parts}
    again = gen("install", "--prefix", prefix)
    assert again.out == f"what is installed in {prefix} is up to date\n"
    assert {path for path in prefix.rglob("*") if "lib" in path.parts} == kept
    again = gen("install", "--prefix", prefix, "--host")
    assert again.out == f"what is installed in {prefix} is up to date\n"


def test_a_library_of_somebody_else_is_left_alone(built: Path, gen: Run, tmp_path: Path) -> None:
    other = tmp_path / "p/lib/xiokv/libxiokv.so.1"
    other.parent.mkdir(parents=True)
    other.write_text("mine")
    ran = gen("install", "--prefix", tmp_path / "p", "--host")
    assert ran.code == 1
    assert "libxiokv.so.1: in the way is something that xiokv-gen did not write" in ran.err
    assert other.read_text() == "mine"
    assert not (tmp_path / "p/include").exists()


def test_a_project_without_the_engine_has_no_library(built: Path, gen: Run, tmp_path: Path) -> None:
    path = built / "xiokv.toml"
    path.write_text(path.read_text().replace(EMIT, 'emit = ["headers"]\n'))
    ran = gen("install", "--prefix", tmp_path / "p", "--host")
    assert ran.code == 2
    assert 'add "engine" to emit' in ran.err


def test_a_project_with_a_namespace_has_no_library(built: Path, gen: Run, tmp_path: Path) -> None:
    path = built / "xiokv.toml"
    path.write_text(f'{path.read_text()}cpp_namespace = "acme"\n')
    for ran in (gen("install", "--host", "--prefix", tmp_path / "p"), gen("path", "library")):
        assert ran.code == 2
        assert "libxiokv has one interface" in ran.err
    assert not (tmp_path / "p").exists()


def test_an_installed_library_is_taken_away_with_the_rest(
    built: Path, gen: Run, tmp_path: Path
) -> None:
    prefix = tmp_path / "p"
    assert gen("install", "--host", "--prefix", prefix).code == 0
    (prefix / "lib/xiokv/mine.txt").write_text("mine")
    told = gen("uninstall", "--prefix", prefix).out.splitlines()
    assert f"removed {prefix / 'lib/xiokv/libxiokv.so.1'}" in told
    mine = prefix / "lib/xiokv/mine.txt"
    assert [path for path in prefix.rglob("*") if path.is_file()] == [mine]
    mine.unlink()
    assert gen("install", "--host", "--prefix", prefix).code == 0
    assert gen("uninstall", "--prefix", prefix).code == 0
    assert list(prefix.iterdir()) == []


@pytest.mark.parametrize("what", ["file", "link"])
def test_a_library_of_another_is_in_the_way_and_stays(
    built: Path, gen: Run, tmp_path: Path, what: str
) -> None:
    folder = tmp_path / "p/lib/xiokv"
    folder.mkdir(parents=True)
    (folder / "libxiokv.so.0").write_text("other")
    if what == "link":
        (folder / "libxiokv.so").symlink_to("libxiokv.so.0")
    else:
        (folder / "libxiokv.so").write_text("other")
    ran = gen("install", "--host", "--prefix", tmp_path / "p")
    assert ran.code == 1
    assert f"{folder / 'libxiokv.so'}: in the way" in ran.err
    assert {path.name for path in (tmp_path / "p").rglob("*")} == {
        *("lib", "xiokv", "libxiokv.so", "libxiokv.so.0")
    }


def test_pkg_config_needs_no_other_package(built: Path, gen: Run, tmp_path: Path) -> None:
    path = built / "xiokv.toml"
    path.write_text(path.read_text().replace(EMIT, 'emit = ["headers", "engine"]\n'))
    assert gen("install", "--host", "--prefix", tmp_path / "p").code == 0
    need("pkg-config")
    folder = tmp_path / "p/share/pkgconfig"
    said = well("pkg-config", "--cflags", "xiokv-host", PKG_CONFIG_PATH=folder)
    assert said.strip() == f"-I{tmp_path / 'p/share/pkgconfig/../..'}/include"
