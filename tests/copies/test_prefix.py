"""Several projects installed below one prefix, and found there by build systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build_systems.conftest import need, run, well

from .conftest import EXEC, STORE, UNITS, Make, Project, compile_well, printed


def installed(project: Project, prefix: Path) -> str:
    """Install a project; return what is said besides the list of files."""
    ran = run("xiokv-gen", "--project", project.folder, "install", "--prefix", prefix)
    assert ran.code == 0, ran.said
    return ran.err


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def prefix(acme: Project, storage: Project, plain: Project, tmp_path: Path) -> Path:
    """Return a prefix with all three projects."""
    for project in (acme, plain, storage):
        assert installed(project, tmp_path / "a prefix") == ""
    return tmp_path / "a prefix"


def test_projects_with_names_of_their_own_lie_side_by_side(
    acme: Project, plain: Project, prefix: Path, tmp_path: Path
) -> None:
    found = files(prefix)
    for project in (acme, plain):
        alone = tmp_path / project.folder.name
        installed(project, alone)
        assert files(alone).items() <= found.items()
    assert {
        "include/acme/kv/platform/host.h",
        "share/cmake/xiokv-acme-kv/xiokv-acme-kv-config.cmake",
        "share/pkgconfig/xiokv-acme-kv.pc",
        "share/xiokv-acme-kv/kernels/kv_kernels.cpp",
        "share/xiokv-acme-kv/python/nvme_kv.py",
    } <= found.keys()


def test_cmake_finds_each_and_links_them_into_one_program(
    prefix: Path, expected: list[str], tmp_path: Path
) -> None:
    need("cmake", "ninja", "c++")
    out = tmp_path / "out"
    well("cmake", "-G", "Ninja", "-S", UNITS, "-B", out, f"-DCMAKE_PREFIX_PATH={prefix}")
    well("cmake", "--build", out)
    assert printed(out / "together") == expected
    assert {path.name for path in out.glob("*.so")} == {"libacme_module.so", "libstorage_module.so"}


RENDERED = """\
cmake_minimum_required(VERSION 3.20)
project(rendered LANGUAGES C)
find_package(xiokv-acme-kv REQUIRED)
xiokv_generate(TARGET kv PROJECT "{project}")
add_executable(plain_names "{units}/plain_names.c")
target_link_libraries(plain_names PRIVATE kv)
"""


def test_the_build_renders_headers_in_a_namespace(
    prefix: Path, acme: Project, tmp_path: Path
) -> None:
    need("cmake", "ninja", "cc")
    text = RENDERED.format(project=acme.folder, units=UNITS)
    (tmp_path / "CMakeLists.txt").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    well("cmake", "-G", "Ninja", "-S", tmp_path, "-B", out, f"-DCMAKE_PREFIX_PATH={prefix}")
    well("cmake", "--build", out)
    assert printed(out / "plain_names")[1] == acme.encoded(EXEC)
    assert (out / "xiokv/kv/output/include/acme/kv/kv_exec.h").is_file()


def test_pkg_config_finds_one_of_them(prefix: Path, acme: Project, tmp_path: Path) -> None:
    need("pkg-config")
    place = str(prefix / "share/pkgconfig")
    flags = well("pkg-config", "--cflags", "xiokv-acme-kv", PKG_CONFIG_PATH=place).strip()
    words = [flags.replace("\\ ", " ")]
    program = tmp_path / "program"
    compile_well("gcc", "-std=c11", *words, UNITS / "plain_names.c", "-o", program)
    entry = acme.encoded(STORE % ", generation=5, reuse_class=3")
    assert printed(program) == [entry, acme.encoded(EXEC)]


def test_path_gives_the_folder_that_cmake_is_to_be_told(acme: Project) -> None:
    place = well("xiokv-gen", "--project", acme.folder, "path", "cmake")
    assert place == f"{acme.generated}/share/cmake/xiokv-acme-kv\n"


def test_what_takes_the_place_of_another_projects_files_is_told(
    plain: Project, make: Make, tmp_path: Path
) -> None:
    other, prefix = make("", "layers.toml"), tmp_path / "prefix"
    assert installed(plain, prefix) == ""
    assert installed(plain, prefix) == ""
    said = installed(other, prefix)
    assert said.startswith(f"xiokv-gen: note: {prefix} held the files of spec ")
    assert "needs a cpp_namespace in [output] of its xiokv.toml" in said
    assert said.split(" spec ")[1][:64] in (plain.headers / "nvme_kv.h").read_text("utf-8")
    assert installed(other, prefix) == ""


def test_a_list_that_states_no_spec_is_read(plain: Project, tmp_path: Path) -> None:
    installed(plain, tmp_path)
    path = tmp_path / "share/xiokv/installed-files.txt"
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    assert lines.pop(1).startswith("# spec ")
    (tmp_path / "include/xiokv/kv_old.h").write_text("// by `xiokv-gen build`\n")
    path.write_text("".join([*lines, "include/xiokv/kv_old.h\n"]), encoding="utf-8")
    assert installed(plain, tmp_path) == ""
    assert not (tmp_path / "include/xiokv/kv_old.h").exists()
    assert path.read_text(encoding="utf-8") == text
