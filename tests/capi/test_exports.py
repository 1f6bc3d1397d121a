"""What the library exports is what its headers declare, name by name."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from xiokv.runtime import toolchain
from xiokv.runtime.drivers import host_library

ROOT = Path(__file__).resolve().parents[2]
LISTED = ROOT / "tests/data/host_symbols.txt"
HEADERS = ("xiokv.h", "xiokv_emulator.h", "xiokv/host_streams.h")


@pytest.fixture(scope="module")
def library(own_surroundings: None) -> Path:
    return toolchain.build_cached(toolchain.capi_recipe(version("xiokv")))


def exported(path: Path) -> set[str]:
    with path.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".dynsym").iter_symbols()
        return {
            symbol.name
            for symbol in symbols
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
        }


def test_the_exported_symbols_are_the_listed_ones(library: Path) -> None:
    """A change to the list is a line of the changelog; a removal is another XIOKV_HOST_VERSION."""
    assert sorted(exported(library)) == LISTED.read_text(encoding="utf-8").splitlines()


def test_every_function_of_the_headers_is_exported_and_no_other(library: Path) -> None:
    declared: set[str] = set()
    for name in HEADERS:
        text = (ROOT / "generated/include" / name).read_text(encoding="utf-8")
        text = re.sub(r"//[^\n]*", "", text)
        text = re.sub(r"typedef [^;]*;|struct \w+ \{.*?\n\};", "", text, flags=re.DOTALL)
        declared |= set(re.findall(r"\b(xio(?:kv)?_\w+)\(", text))
    assert exported(library) - {"XIOKV_1"} == declared


def test_the_librarys_name_has_the_version_of_the_header(library: Path) -> None:
    text = (ROOT / "generated/include/xiokv/host_streams.h").read_text(encoding="utf-8")
    (number,) = re.findall(r"#define XIOKV_HOST_VERSION (\d+)u", text)
    with library.open("rb") as stream:
        (soname,) = [
            tag.soname
            for tag in ELFFile(stream).get_section_by_name(".dynamic").iter_tags("DT_SONAME")
        ]
    assert soname == toolchain.SONAME == f"libxiokv.so.{number}"
    assert host_library.load().xiokv_version() == host_library.HOST_VERSION == int(number)
