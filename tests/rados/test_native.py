"""The C++ side of the store by itself: it compiles cleanly, and stands being hammered."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.compiling import WARNINGS, needs, run, sanitised
from xiokv.runtime import toolchain
from xiokv.runtime.rados import library

from .cluster import Cluster

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = ROOT / "runtime" / "rados"
UNITS = sorted(SOURCES.glob("*.cpp"))
INCLUDE = ("-I", ROOT / "generated" / "include", "-I", SOURCES)
CONTROLLER = sorted((ROOT / "runtime" / "emulator").glob("*.cpp"))


@pytest.fixture(scope="module", autouse=True)
def librados() -> None:
    """Skip where there is no compiler, or no header of librados."""
    probe = ["g++", "-E", "-x", "c++", "-include", "rados/librados.hpp", "/dev/null"]
    if (
        shutil.which("g++") is None
        or subprocess.run(probe, capture_output=True, check=False).returncode
    ):
        pytest.skip("no librados here: apt-get install g++ libradospp-dev")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_each_unit_compiles_without_a_warning(compiler: str) -> None:
    run(needs(compiler), "-std=c++17", *WARNINGS, "-fsyntax-only", *INCLUDE, *UNITS)


def as_one(*units: Path) -> tuple[str | Path, ...]:
    """Return words for a compiler: units as part of the next, which takes a third of the time."""
    return tuple(word for unit in units for word in ("-include", unit))


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_the_units_compile_as_one_without_a_warning(compiler: str) -> None:
    flags = ("-std=c++17", *WARNINGS, "-fsyntax-only", *INCLUDE)
    run(needs(compiler), *flags, *as_one(*UNITS), "-x", "c++", "/dev/null")


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_interface_is_c_and_c_plus_plus(language: str) -> None:
    standard = "-std=c11" if language == "c" else "-std=c++17"
    include = (*INCLUDE, "-include", "xiokv_rados.h")
    run("g++", standard, *WARNINGS, "-fsyntax-only", *include, "-x", language, "/dev/null")


# What takes a configuration, and memory for what is wrong with it.
TAKING = ("xiokv_rados_open", "xiokv_rados_begin")


def opened(function: str, **members: object) -> tuple[int | None, str]:
    """Return handle and message of a call with a configuration that is allowed, but for members."""
    whole = {"struct_size": ctypes.sizeof(library.Config), "pool": b"p"}
    times = {"timeout_ms": 1000, "connect_timeout_ms": 1000}
    error = ctypes.create_string_buffer(b"untouched", 512)
    config = library.Config(**{**whole, **times, **members})
    functions = library.load()
    handle = getattr(functions, function)(config, error, len(error))
    if handle and function == "xiokv_rados_begin":  # some of it only shows when it is made use of
        handle = functions.xiokv_rados_end(handle, error, len(error))
    return handle, error.value.decode()


@pytest.mark.parametrize("function", TAKING)
@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"struct_size": 4}, "struct_size is 4; this library was compiled for 64"),
        ({"struct_size": 65}, "struct_size is 65; this library was compiled for 64"),
        ({"pool": None}, "no pool is named"),
        ({"pool": b""}, "no pool is named"),
        ({"flags": 2}, "flags has bits that mean nothing here"),
        ({"timeout_ms": 0}, "a timeout is 0 ms; allowed is 1 or more"),
        ({"connect_timeout_ms": 0}, "a timeout is 0 ms; allowed is 1 or more"),
        ({"name_space": b"\1"}, "the namespace stands for all of them; name one"),
        (
            {"conf": b"/nowhere"},
            "cannot read the configuration /nowhere: No such file or directory",
        ),
        ({"user": b"kv"}, "cannot be a client named kv: Invalid argument"),
    ],
)
def test_a_configuration_that_is_not_allowed_is_refused(
    own_surroundings: None, function: str, members: dict[str, object], said: str
) -> None:
    assert opened(function, **members) == (None, said)


@pytest.mark.parametrize("function", TAKING)
def test_a_refusal_needs_no_memory_for_its_reason(own_surroundings: None, function: str) -> None:
    open_ = getattr(library.load(), function)
    error = ctypes.create_string_buffer(b"untouched")
    assert open_(None, None, 0) is None
    assert open_(None, error, 0) is None
    assert error.value == b"untouched"
    assert open_(None, error, len(error)) is None
    assert error.value == b"config is"  # and a zero byte: all that there is room for


def test_a_standard_library_that_is_linked_in_stays_inside(own_surroundings: None) -> None:
    """Else librados would take functions of it, which may be of another version than its own."""
    recipe = toolchain.rados_recipe(version("xiokv"))
    within = replace(recipe, flags=(*recipe.flags, "-static-libstdc++"))
    with toolchain.build_cached(within).open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".dynsym").iter_symbols()
        exported = {
            symbol.name
            for symbol in symbols
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"
        }
    assert exported == {f"xiokv_rados_{name}" for name in library._FUNCTIONS}


# One test a program, so that each is built once, however tests are spread.
@pytest.mark.slow
@pytest.mark.parametrize("sanitiser", ["thread", "address,undefined"])
def test_sessions_that_are_closed_in_flight_do_no_harm(
    sanitiser: str, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """No race, no late access, no leak; librados itself is not instrumented."""
    units = (*INCLUDE, *as_one(*UNITS), HERE / "hammer.cpp", "-lrados")
    hammer = sanitised(tmp_path, sanitiser, *units)
    done = run(
        *(hammer, cluster.conf, cluster.pool, namespace, "60"),
        TSAN_OPTIONS="ignore_noninstrumented_modules=1",
        ASAN_OPTIONS="detect_leaks=1",
    )
    assert min(map(int, done.stdout.split())) > 1000


@pytest.mark.parametrize("sanitiser", ["thread", "address,undefined", "undefined"])
def test_memory_that_is_lent_is_the_hosts_again_when_its_command_ends(
    sanitiser: str, tmp_path: Path
) -> None:
    units = (*INCLUDE, SOURCES / "lending.cpp", SOURCES / "memories.cpp", HERE / "lending.cpp")
    done = run(
        sanitised(tmp_path, sanitiser, *WARNINGS, *units, "-lrados"),
        TSAN_OPTIONS="ignore_noninstrumented_modules=1",
    )
    assert done.stdout == "done\n"


@pytest.mark.slow
@pytest.mark.parametrize("sanitiser", ["thread", "address,undefined"])
def test_openings_that_are_given_up_do_no_harm(
    sanitiser: str, cluster: Cluster, tmp_path: Path
) -> None:
    """No race and no leak, also of those that are under way when the process ends."""
    units = (*INCLUDE, *as_one(*CONTROLLER, *UNITS), HERE / "giving_up.cpp", "-lrados")
    program = sanitised(tmp_path, sanitiser, *units)
    done = run(
        *(program, cluster.conf, cluster.pool, "40"),
        TSAN_OPTIONS="ignore_noninstrumented_modules=1",
        ASAN_OPTIONS="detect_leaks=1",
    )
    assert done.stdout == "done\n"
