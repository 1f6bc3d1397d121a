"""Runtime and engine lay out what they share in the same way, or the runtime notices.

The oracle is the C++ compiler on kv_abi.h itself; pycparser reads which members it has.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest
from pycparser import c_ast, c_parser

from xiokv.runtime import abi

HEADERS = Path(__file__).resolve().parents[2] / "templates" / "static" / "xiokv"
KINDS = {1: "char", 2: "short", 4: "int", 8: "long long"}


def c_name(structure: type[ctypes.Structure]) -> str:
    """Return the tag of a structure's C twin: QueueReport is xiokv_queue_report."""
    return "xiokv" + re.sub("([A-Z])", r"_\1", structure.__name__).lower()


def members(structure: type[ctypes.Structure]) -> list[str]:
    return [field[0] for field in structure._fields_]


def values_of(expressions: list[str], run_gxx, *flags: str) -> list[int]:
    """Return the values that a program with kv_abi.h prints for integer expressions."""
    lines = "".join(f'std::printf("%llu\\n", (unsigned long long)({e}));\n' for e in expressions)
    includes = '#include <cstddef>\n#include <cstdio>\n#include "xiokv/kv_abi_hash.h"\n'
    program = run_gxx(f"{includes}int main() {{\n{lines}}}\n", *flags)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [int(line) for line in printed.split()]


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the members of each structure of kv_abi.h, as pycparser reads them."""
    folder = tmp_path_factory.mktemp("stub")
    kinds = (f"typedef unsigned {KINDS[size]} uint{size * 8}_t;\n" for size in KINDS)
    (folder / "stdint.h").write_text("".join(kinds))
    command = ["g++", "-E", "-P", "-nostdinc", "-I", folder, HEADERS / "kv_abi.h"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    structs = (item.type for item in c_parser.CParser().parse(text).ext)
    return {
        struct.name: [member.name for member in struct.decls]
        for struct in structs
        if isinstance(struct, c_ast.Struct)
    }


def test_the_runtime_declares_every_structure_of_the_header(declared) -> None:
    assert {c_name(structure) for structure in abi.STRUCTURES} == set(declared)


@pytest.mark.parametrize("structure", abi.STRUCTURES, ids=c_name)
def test_members_come_in_the_order_of_the_header(structure, declared) -> None:
    assert members(structure) == declared[c_name(structure)]


def test_the_hash_covers_every_member_in_order() -> None:
    text = (HEADERS / "kv_abi_hash.h").read_text(encoding="utf-8")
    hashed = re.findall(r"sizeof\(struct (\w+)\)|XIOKV_AT\((\w+), (\w+)\),", text)
    expected = []
    for structure in abi.STRUCTURES:
        name = c_name(structure)
        expected += [(name, "", ""), *(("", name, member) for member in members(structure))]
    assert hashed == expected


def test_sizes_and_offsets_are_those_of_the_compiler(run_gxx) -> None:
    expressions, expected = [], []
    for structure in abi.STRUCTURES:
        expressions.append(f"sizeof({c_name(structure)})")
        expected.append(ctypes.sizeof(structure))
        for member in members(structure):
            expressions += [
                f"offsetof({c_name(structure)}, {member})",
                f"sizeof({c_name(structure)}::{member})",
            ]
            expected += [getattr(structure, member).offset, getattr(structure, member).size]
    found = dict(zip(expressions, values_of(expressions, run_gxx), strict=True))
    assert dict(zip(expressions, expected, strict=True)) == found


def test_constants_are_those_of_the_header(run_gxx) -> None:
    expected = {
        "XIOKV_ABI_VERSION": abi.VERSION,
        "XIOKV_PAGE_BYTES": abi.PAGE_BYTES,
        "XIOKV_WINDOW_MAX": abi.WINDOW_MAX,
        "XIOKV_RING_STEP": abi.RING_STEP,
        "XIOKV_NO_STATUS": abi.NO_STATUS,
        "XIOKV_SEMANTIC_PLACES": abi.PLACES,
        **{f"XIOKV_OUTCOME_{outcome.name}": outcome.value for outcome in abi.Outcome},
        **{f"XIOKV_QUEUE_{state.name}": state.value for state in abi.QueueState},
        **{
            f"XIOKV_TABLE_BYTES({w})": abi.table_bytes(w)
            for w in (1, 7, 8, 9, 1023, 1024, 1025, 65535)
        },
    }
    assert dict(zip(expected, values_of(list(expected), run_gxx), strict=True)) == expected


def test_a_compiled_module_carries_the_hash_that_the_runtime_computes(module) -> None:
    assert module.driver.module_abi() == (abi.VERSION, abi.layout_hash())


@pytest.mark.parametrize(
    "edits",
    [
        [("uint16_t status;", "uint32_t status;")],
        [("uint64_t sq; ", "uint64_t added; uint64_t sq; ")],
        [(" sq; ", " held; "), (" cq; ", " sq; "), (" held; ", " cq; ")],
        [("XIOKV_ABI_VERSION 1u", "XIOKV_ABI_VERSION 2u")],
    ],
    ids=["wider", "inserted", "swapped", "version"],
)
def test_another_header_has_another_hash(run_gxx, tmp_path: Path, edits) -> None:
    text = (HEADERS / "kv_abi.h").read_text(encoding="utf-8")
    for seen, changed in edits:
        assert seen in text
        text = text.replace(seen, changed, 1)
    (tmp_path / "xiokv").mkdir()
    (tmp_path / "xiokv" / "kv_abi.h").write_text(text, encoding="utf-8")
    assert values_of(["xiokv_abi_hash()"], run_gxx, f"-I{tmp_path}") != [abi.layout_hash()]


def test_a_member_moved_in_python_gives_another_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    before = abi.layout_hash()
    fields = abi.Semantic._fields_
    moved = type("Semantic", (ctypes.Structure,), {"_fields_": (fields[1], fields[2], fields[0])})
    changed = tuple(moved if s is abi.Semantic else s for s in abi.STRUCTURES)
    monkeypatch.setattr(abi, "STRUCTURES", changed)
    assert abi.layout_hash() != before
