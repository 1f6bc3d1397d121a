"""xiokv_generate: the build renders or checks the headers, when it has to and not else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Ran, Run, need, run, well

CONSUMER = Path(__file__).parent / "consumer"
HEADER = "generated/include/xiokv/nvme_kv.h"
GENERATORS = ("Ninja", "Unix Makefiles")
PROFILE = (
    'schema = 1\nname = "mine"\n[[field]]\nname = "layer"\ndword = 12\nbits = [7, 0]\n'
    'scope = "batch"\ncommands = ["store"]\nunit = "index"\nmeaning = "{}"\n'
)

Build = Callable[[], Ran]


@pytest.fixture(params=GENERATORS)
def generator(request: pytest.FixtureRequest) -> str:
    """Return a build tool that is there."""
    need("cmake", "ninja" if request.param == "Ninja" else "make", "cc", "c++")
    return str(request.param)


@pytest.fixture
def configure(built: Path, generator: str, tmp_path: Path) -> Callable[[str], Build]:
    """Return a function that configures the consumer in a mode, and returns how to build it.

    The project has a profile, and there is a space in the path of the build.
    """
    (built / "mine.toml").write_text(PROFILE.format("Layer."), encoding="utf-8")
    with (built / "xiokv.toml").open("a", encoding="utf-8") as config:
        config.write('[semantics]\nprofile = "mine.toml"\n')
    well("xiokv-gen", "--project", built, "build", "--emit-only")
    package = well("xiokv-gen", "--project", built, "path", "cmake").strip()
    out = tmp_path / "the build"

    def start(mode: str) -> Build:
        settings = (f"-Dxiokv_DIR={package}", f"-DPROJECT={built}", f"-DMODE={mode}")
        well("cmake", "-G", generator, "-S", CONSUMER, "-B", out, *settings)
        return lambda: run("cmake", "--build", out, LC_ALL="C")

    return start


def _ran(built: Ran) -> bool:
    """Tell whether a build that went well ran the generator."""
    assert built.code == 0, built.said
    said = re.findall(r"xiokv-gen .*", built.said)
    assert all(re.fullmatch(r"xiokv-gen (build|check): kv", line) for line in said), said
    return bool(said)


def _touch(path: Path) -> None:
    """Make a file newer than all that was built."""
    os.utime(path)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["", "CHECK"])
def test_it_runs_when_an_input_changes_and_not_else(
    configure: Callable[[str], Build], built: Path, mode: str
) -> None:
    build = configure(mode)
    assert _ran(build())
    assert not _ran(build())
    for name in ("xiokv.toml", "xiokv.lock", "generated/spec/nvme_kv.json", "mine.toml"):
        _touch(built / name)
        assert _ran(build()), name
        assert not _ran(build()), name
    (built / "README").write_text("nothing that is read\n", encoding="utf-8")
    assert not _ran(build())


@pytest.mark.slow
def test_a_change_of_the_profile_reaches_the_programs_in_one_build(
    configure: Callable[[str], Build], built: Path, tmp_path: Path
) -> None:
    build = configure("")
    assert build().code == 0
    committed = (built / HEADER).read_bytes()
    (built / "mine.toml").write_text(PROFILE.format("Other."), encoding="utf-8")
    ran = build()
    assert _ran(ran)
    assert "encode.c" in ran.out
    made = tmp_path / "the build/xiokv/kv/output/include/xiokv/kv_commands.h"
    assert "Other." in made.read_text(encoding="utf-8")
    assert (built / HEADER).read_bytes() == committed
    assert not _ran(build())


def _tamper(built: Path) -> None:
    with (built / HEADER).open("a", encoding="utf-8") as header:
        header.write("// mine\n")


def _remove(built: Path) -> None:
    (built / "generated/nvme_kv.py").unlink()


def _outdate(built: Path) -> None:
    (built / "mine.toml").write_text(PROFILE.format("Other."), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [_tamper, _remove, _outdate])
def test_check_fails_the_build_of_stale_files_until_they_are_built(
    configure: Callable[[str], Build], built: Path, gen: Run, spoil: Callable[[Path], None]
) -> None:
    build = configure("CHECK")
    assert build().code == 0
    spoil(built)
    for _ in range(2):
        ran = build()
        assert ran.code != 0
        assert "stale; run xiokv-gen build" in ran.said
    assert gen("build", "--emit-only").code == 0
    assert _ran(build())


@pytest.mark.slow
def test_headers_that_were_cleaned_away_are_rendered_again(
    configure: Callable[[str], Build], built: Path, tmp_path: Path
) -> None:
    build = configure("")
    assert build().code == 0
    well("cmake", "--build", tmp_path / "the build", "--target", "clean")
    assert _ran(build())
    assert (built / HEADER).is_file()


@pytest.mark.parametrize(
    ("call", "linked", "code"),
    [
        ("xiokv_generate(TARGET kv PROJECT ${PROJECT})", "$<BUILD_INTERFACE:kv>", 0),
        ("xiokv_generate(TARGET kv PROJECT ${PROJECT} CHECK)", "$<BUILD_INTERFACE:kv>", 0),
        ("", "$<BUILD_INTERFACE:xiokv::xiokv>", 0),
        ("xiokv_generate(TARGET kv PROJECT ${PROJECT})", "kv", 1),  # what the documents warn of
    ],
)
def test_a_library_that_is_exported_links_with_it_in_its_build(
    built: Path, gen: Run, tmp_path: Path, call: str, linked: str, code: int
) -> None:
    need("cmake", "cc")
    package = gen("path", "cmake").out.strip()
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(lib LANGUAGES C)\n"
        f"find_package(xiokv REQUIRED)\n{call}\nadd_library(lib {CONSUMER}/encode.c)\n"
        f"target_link_libraries(lib PUBLIC {linked})\n"
        "install(TARGETS lib EXPORT lib-targets)\n"
        "install(EXPORT lib-targets FILE lib-config.cmake DESTINATION lib/cmake/lib)\n",
        encoding="utf-8",
    )
    out, prefix = tmp_path / "out", tmp_path / "prefix"
    settings = (f"-Dxiokv_DIR={package}", f"-DPROJECT={built}", f"-DCMAKE_INSTALL_PREFIX={prefix}")
    ran = run("cmake", "-S", tmp_path, "-B", out, *settings)
    assert ran.code == code, ran.said
    if code:
        assert "that is not in any export set" in " ".join(ran.said.split())
        return
    well("cmake", "--build", out, "--target", "install")
    exported = (prefix / "lib/cmake/lib/lib-config.cmake").read_text(encoding="utf-8")
    assert "kv" not in exported


@pytest.mark.slow
def test_the_target_gives_the_drop_in_too(built: Path, gen: Run, tmp_path: Path) -> None:
    need("cmake", "c++")
    config = built / "xiokv.toml"
    text = config.read_text(encoding="utf-8").replace('"pkgconfig"]', '"pkgconfig", "rocm-xio"]')
    config.write_text(text, encoding="utf-8")
    assert gen("build", "--emit-only").code == 0
    package = gen("path", "cmake").out.strip()
    drop_in = CONSUMER.parents[1] / "rocm_xio/consumer"
    for mode in ("", "CHECK"):
        (tmp_path / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX)\n"
            f"find_package(xiokv REQUIRED)\nxiokv_generate(TARGET kv PROJECT {built} {mode})\n"
            f"add_library(p {drop_in}/calls.cpp)\ntarget_include_directories(p PRIVATE {drop_in})\n"
            "target_link_libraries(p PRIVATE kv)\n",
            encoding="utf-8",
        )
        well("cmake", "-S", tmp_path, "-B", tmp_path / f"out{mode}", f"-Dxiokv_DIR={package}")
        well("cmake", "--build", tmp_path / f"out{mode}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "write: xiokv_generate(TARGET <name> [PROJECT <folder>] [CHECK])"),
        ("TARGET kv CHEKC", "write: xiokv_generate(TARGET <name> [PROJECT <folder>] [CHECK])"),
        ("TARGET kv PROJECT nowhere", "nowhere; run xiokv-gen init there"),
    ],
)
def test_a_wrong_call_says_what_is_right(
    built: Path, gen: Run, tmp_path: Path, arguments: str, said: str
) -> None:
    assert said in " ".join(_configured(tmp_path, gen, arguments).said.split())


def test_no_generator_is_told_with_what_to_install(built: Path, gen: Run, tmp_path: Path) -> None:
    ran = _configured(tmp_path, gen, f"TARGET kv PROJECT {built}", "-DXIOKV_GEN=XIOKV_GEN-NOTFOUND")
    said = " ".join(ran.said.split())
    assert "no xiokv-gen on the PATH. Install the Python package xiokv" in said


def _configured(folder: Path, gen: Run, arguments: str, *settings: str) -> Ran:
    """Configure a project that only calls the function, and fails."""
    need("cmake")
    package = gen("path", "cmake").out.strip()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nfind_package(xiokv REQUIRED)\n"
        f"set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH ${{SEARCH}})\nxiokv_generate({arguments})\n",
        encoding="utf-8",
    )
    search = f"-DSEARCH={'OFF' if settings else 'ON'}"
    command = ("cmake", "-S", folder, "-B", folder / "out", f"-Dxiokv_DIR={package}", search)
    ran = run(*command, *settings)
    assert ran.code != 0
    return ran
