"""Upstream-like headers, types from a snippet, and a C compiler as the oracle."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from xiokv.codegen.parse.chunks import split
from xiokv.codegen.parse.declarations import declare
from xiokv.codegen.parse.preprocess import preprocess
from xiokv.codegen.parse.resolve import Types
from xiokv.codegen.parse.types import Compound

HEADERS = Path(__file__).resolve().parents[1] / "data" / "headers"
SPEC = "include/spdk/nvme_spec.h"

# Prints tag, size and alignment of a record, and for each member its first bit and its
# number of bits, found by filling the member with ones.
ORACLE = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static void record(const char *tag, size_t size, size_t align) {
  printf("%s %zu %zu\n", tag, size, align);
}
static void member(const char *path, const unsigned char *byte, size_t size) {
  size_t first = 0, count = 0;
  for (size_t bit = size * 8; bit-- > 0;)
    if (byte[bit / 8] >> bit % 8 & 1) { first = bit; count++; }
  printf("%s %zu %zu\n", path, first, count);
}
"""

Layouts = dict[str, tuple[int, int]]


def texts() -> dict[str, str]:
    return {
        path.relative_to(HEADERS).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(HEADERS.rglob("*.h"))
    }


@pytest.fixture
def headers() -> dict[str, str]:
    """Return the test headers, to parse or to change first."""
    return texts()


@pytest.fixture
def edited() -> Callable[[str, str], dict[str, str]]:
    """Return the test headers with one passage of nvme_spec.h replaced."""

    def edit(old: str, new: str) -> dict[str, str]:
        given = texts()
        assert given[SPEC].count(old) == 1, f"{old!r} does not occur once in the test header"
        return {**given, SPEC: given[SPEC].replace(old, new)}

    return edit


def types_of(text: str) -> Types:
    """Return the types that one header text defines."""
    return Types(declare(split(preprocess({"h.h": text}).items)))


@pytest.fixture(scope="session")
def parse_types() -> Callable[[str], Types]:
    return types_of


def run_c(folder: Path, source: str) -> str:
    """Compile and run a C program; return what it prints."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (folder / "oracle.c").write_text(source, encoding="utf-8")
    subprocess.run(
        [compiler, "-std=gnu11", "-w", "-o", "oracle", "oracle.c"], cwd=folder, check=True
    )
    return subprocess.run(
        [folder / "oracle"], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(scope="session")
def run_c_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    return lambda source: run_c(tmp_path_factory.mktemp("oracle"), source)


def layouts_by_compiler(folder: Path, sources: Sequence[str]) -> list[Layouts]:
    """Return the layout of ``struct rN`` or ``union rN`` in each source, by one compilation."""
    body = [record_statements(index, source) for index, source in enumerate(sources)]
    program = ORACLE + "\n".join(sources) + "int main(void) {\n" + "\n".join(body) + "}\n"
    found: list[Layouts] = [{} for _ in sources]
    for line in run_c(folder, program).splitlines():
        label, first, second = line.split()
        index, _, path = label.partition(".")
        found[int(index)][path] = (int(first), int(second))
    return found


def record_statements(index: int, source: str) -> str:
    """Return statements that print a record and those members that the parser sees."""
    compound = types_of(source).tagged(f"r{index}")
    assert isinstance(compound, Compound)
    name = f"{compound.kind} r{index}"
    lines = [f'record("{index}.", sizeof({name}), _Alignof({name}));']
    for path, bitfield in member_paths(compound):
        fill = f"r.{path} = -1" if bitfield else f"memset(&r.{path}, 255, sizeof r.{path})"
        lines.append(
            f"{{ {name} r; memset(&r, 0, sizeof r); {fill}; "
            f'member("{index}.{path}", (void *)&r, sizeof r); }}'
        )
    return "\n".join(lines)


def member_paths(compound: Compound, prefix: str = "") -> list[tuple[str, bool]]:
    paths = []
    for member in compound.members:
        path = prefix + member.name
        if member.name and member.width:
            paths.append((path, member.bitfield))
        if isinstance(member.type, Compound):
            paths += member_paths(member.type, f"{path}." if member.name else prefix)
    return paths


def layout_by_parser(compound: Compound) -> Layouts:
    return {"": (compound.size, compound.align), **member_places(compound)}


def member_places(compound: Compound, prefix: str = "", base: int = 0) -> Layouts:
    places: Layouts = {}
    for member in compound.members:
        path, offset = prefix + member.name, base + member.offset
        if member.name and member.width:
            places[path] = (offset, member.width)
        if isinstance(member.type, Compound):
            inner = f"{path}." if member.name else prefix
            places.update(member_places(member.type, inner, offset))
    return places


@pytest.fixture(scope="session")
def compare_layouts(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Mapping[str, str]], dict[str, tuple[Layouts, Layouts]]]:
    """Return, for each named source, its layout by the parser and by the compiler.

    A source defines the record ``TAG``, which is replaced by a name of its own.
    """

    def compare(named: Mapping[str, str]) -> dict[str, tuple[Layouts, Layouts]]:
        sources = [re.sub(r"\bTAG", f"r{n}", text) for n, text in enumerate(named.values())]
        compiled = layouts_by_compiler(tmp_path_factory.mktemp("layout"), sources)
        parsed = []
        for index, source in enumerate(sources):
            compound = types_of(source).tagged(f"r{index}")
            assert isinstance(compound, Compound)
            parsed.append(layout_by_parser(compound))
        return dict(zip(named, zip(parsed, compiled, strict=True), strict=True))

    return compare
