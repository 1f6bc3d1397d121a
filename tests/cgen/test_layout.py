"""The C records: bit-fields lie where upstream has them, and a moved member is caught."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.facts import Facts, Record
from xiokv.codegen.spec.model import Spec

CHECK = """\
#include <stdio.h>
#include <string.h>
#include "xiokv/nvme_kv.h"
static int failures;
static void check(const char *name, const void *record, unsigned size, unsigned lsb,
                  unsigned width) {
  const unsigned char *bytes = (const unsigned char *)record;
  unsigned bit;
  for (bit = 0; bit < size * 8u; bit++) {
    const unsigned expected = bit >= lsb && bit < lsb + width;
    if (((unsigned)bytes[bit / 8u] >> (bit % 8u) & 1u) != expected) {
      printf("%s: bit %u is not %u\\n", name, bit, expected);
      failures++;
    }
  }
}
"""


def bit_fields(record: Record) -> Iterator[tuple[str, int, int]]:
    """Yield (path, first bit, width) of every named bit-field."""
    for path, offset, field in record.walk():
        if field.bitfield:
            yield path, offset, field.width


def probe(spec: Spec) -> str:
    """Return a program that sets each bit-field alone and looks at the bytes."""
    lines = [CHECK, "int main(void) {"]
    for record in spec.records:
        tag = f"{record.layout.kind} {record.layout.name}"
        for path, lsb, width in bit_fields(record.layout):
            lines += [
                f"  {{ {tag} record;",
                "    memset(&record, 0, sizeof record);",
                f"    record.{path} = {(1 << width) - 1:#x}u;",
                f'    check("{tag}.{path}", &record, sizeof record, {lsb}u, {width}u); }}',
            ]
    return "\n".join([*lines, "  return failures != 0;", "}", ""])


def test_every_bit_field_lies_where_upstream_has_it(
    compiler: Any, spec: Spec, include: Path, tmp_path: Path
) -> None:
    source = tmp_path / "probe.c"
    source.write_text(probe(spec), encoding="utf-8")
    compiler.build(include, source, "-o", tmp_path / "probe")
    done = subprocess.run([tmp_path / "probe"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def moved(facts: Facts, tag: str, member: str) -> Facts:
    """Return the facts with one member of one record said to lie 8 bytes further on."""
    records = []
    for record in facts.records:
        if record.name == tag:
            fields = tuple(
                replace(field, offset=field.offset + 64) if field.name == member else field
                for field in record.fields
            )
            record = replace(record, fields=fields)
        records.append(record)
    return replace(facts, records=tuple(records))


@pytest.mark.parametrize(
    ("tag", "member"), [("spdk_nvme_kv_format", "kvvml"), ("spdk_nvme_kv_ns_data", "kvf")]
)
def test_a_member_that_lies_elsewhere_stops_the_compiler(
    compiler: Any, facts: Facts, make_spec: Any, write: Any, tag: str, member: str
) -> None:
    include = write(make_spec(of=moved(facts, tag, member)))
    done = compiler.run(include, "-fsyntax-only", include / "xiokv/nvme_kv.h")
    public = tag.replace("spdk_nvme_kv", "xiokv")
    assert done.returncode != 0
    assert re.search(rf"{public}\W+{member}\W+lies elsewhere", done.stderr), done.stderr
