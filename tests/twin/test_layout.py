"""The ctypes layouts, against the facts and against what a C compiler makes of the header."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from xiokv.codegen.facts import Field, Record
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.spec.model import Spec


@pytest.fixture(scope="session")
def layouts(make_spec) -> dict[str, Record]:
    """Return the records of the facts under their public names."""
    spec: Spec = make_spec()
    return {record.name: record.layout for record in spec.records}


def _set_all(target: Any, path: str, field: Field) -> int:
    """Set every bit of a member through ctypes; return the record as an integer."""
    *parents, last = path.split(".")
    holder = target
    for name in parents:
        holder = getattr(holder, name)
    if field.bitfield:
        setattr(holder, last, (1 << field.width) - 1)
    else:
        member = getattr(type(holder), last)
        place = ctypes.addressof(holder) + member.offset
        ctypes.memset(place, 0xFF, member.size)
    return int.from_bytes(bytes(target), "little")


def _members(layouts: dict[str, Record]) -> Iterator[tuple[str, str, int, Field]]:
    for name, layout in layouts.items():
        for path, offset, field in layout.walk():
            yield name, path, offset, field


def _masks(twin: ModuleType, layouts: dict[str, Record]) -> dict[str, int]:
    return {
        f"{name}.{path}": _set_all(getattr(twin, name)(), path, field)
        for name, path, _, field in _members(layouts)
    }


def test_sizes_are_those_of_the_facts(twin: ModuleType, layouts: dict[str, Record]) -> None:
    found = {name: ctypes.sizeof(getattr(twin, name)) for name in layouts}
    assert found == {name: layout.size for name, layout in layouts.items()}


def test_every_member_is_where_the_facts_put_it(
    twin: ModuleType, layouts: dict[str, Record]
) -> None:
    expected = {
        f"{name}.{path}": ((1 << field.width * prod(field.dims)) - 1) << offset
        for name, path, offset, field in _members(layouts)
    }
    assert _masks(twin, layouts) == expected


_PROGRAM = """\
#include <stdio.h>
#include <string.h>
#include <xiokv/nvme_kv.h>
static void show(const char *name, const void *record, size_t size) {{
  const unsigned char *bytes = record;
  printf("%s ", name);
  while (size-- > 0)
    printf("%02x", bytes[size]);
  puts("");
}}
int main(void) {{
{body}
}}
"""


def _statement(name: str, path: str, layout: Record, field: Field) -> str:
    set_all = (
        f"r.{path} = ({field.type.name})-1;"
        if field.bitfield
        else f"memset(&r.{path}, 0xff, sizeof r.{path});"
    )
    return (
        f"  {{ {layout.kind} {name} r; memset(&r, 0, sizeof r); {set_all}"
        f' show("{name}.{path}", &r, sizeof r); }}'
    )


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_every_member_is_where_a_c_compiler_puts_it(
    twin: ModuleType, make_spec, layouts: dict[str, Record], tmp_path: Path
) -> None:
    for path, text in render_headers(make_spec()).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    body = "\n".join(_statement(n, p, layouts[n], f) for n, p, _, f in _members(layouts))
    (tmp_path / "show.c").write_text(_PROGRAM.format(body=body), encoding="utf-8")
    compile_ = ["gcc", "-std=c11", "-Iinclude", "show.c", "-o", "show"]
    subprocess.run(compile_, cwd=tmp_path, check=True)
    output = subprocess.run(["./show"], cwd=tmp_path, check=True, capture_output=True, text=True)
    in_c = dict(line.split() for line in output.stdout.splitlines())
    assert {n: int(h, 16) for n, h in in_c.items()} == _masks(twin, layouts)
