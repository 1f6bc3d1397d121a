"""The C++ side alone: it compiles cleanly, and stands being hammered under sanitisers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compiling import WARNINGS, needs, run, sanitised

HERE = Path(__file__).parent
SOURCES = Path(__file__).resolve().parents[2] / "runtime" / "emulator"
UNITS = sorted(SOURCES.glob("*.cpp"))
# All units as one take a third of the time.
AS_ONE = tuple(word for unit in UNITS for word in ("-include", unit))
PROGRAM = ("-include", HERE / "late_store.cpp", HERE / "hammer.cpp")


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_the_units_compile_as_one_without_a_warning(compiler: str) -> None:
    check_syntax(compiler, *AS_ONE, "-x", "c++", "/dev/null")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_each_unit_compiles_alone_without_a_warning(compiler: str) -> None:
    check_syntax(compiler, *UNITS)


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_interface_is_c_and_c_plus_plus(language: str) -> None:
    standard = "-std=c11" if language == "c" else "-std=c++17"
    header = ("-include", SOURCES / "emulator.h")
    run("g++", standard, *WARNINGS, "-fsyntax-only", *header, "-x", language, "/dev/null")


def check_syntax(compiler: str, *arguments: str | Path) -> None:
    run(needs(compiler), "-std=c++17", *WARNINGS, "-fsyntax-only", *arguments)


def test_no_definition_of_the_wire_is_included() -> None:
    """Of the project's headers only its own interface, which has none."""
    interface = "../../generated/include/xiokv_emulator.h"
    text = (SOURCES / interface).read_text(encoding="utf-8")
    assert set(re.findall(r"#include (.*)", text)) == {"<stddef.h>", "<stdint.h>"}
    included = {
        line
        for path in SOURCES.iterdir()
        if path.suffix in {".h", ".cpp"}
        for line in re.findall(r'#include "(.*)"', path.read_text(encoding="utf-8"))
    }

    assert included <= {path.name for path in SOURCES.glob("*.h")} | {interface}


# One test a program, so that each is built once, however tests are spread.
@pytest.mark.slow
@pytest.mark.parametrize("sanitiser", ["thread", "address,undefined"])
def test_hosts_disturbances_and_late_stores_do_no_harm(sanitiser: str, tmp_path: Path) -> None:
    hammer = sanitised(tmp_path, sanitiser, "-I", SOURCES, *AS_ONE, *PROGRAM)

    for mode in ("faults", "resets"):
        assert int(run(hammer, mode, "200").stdout) > 0
    run(hammer, "late", "1")
