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


# As the specifications state them, written down by hand.
VALUES = {
    "XIOKV_OPC_STORE": 0x01,
    "XIOKV_OPC_RETRIEVE": 0x02,
    "XIOKV_OPC_LIST": 0x06,
    "XIOKV_OPC_DELETE": 0x10,
    "XIOKV_OPC_EXIST": 0x14,
    "XIOKV_STORE_DONT_STORE_IF_KEY_NOT_EXISTS": 1,
    "XIOKV_STORE_DONT_STORE_IF_KEY_EXISTS": 2,
    "XIOKV_STORE_DONT_COMPRESS": 4,
    "XIOKV_RETRIEVE_RAW": 1,
    "XIOKV_SC_SUCCESS": 0x00,
    "XIOKV_SC_INVALID_FIELD": 0x02,
    "XIOKV_SC_CAPACITY_EXCEEDED": 0x81,
    "XIOKV_SC_NAMESPACE_NOT_READY": 0x82,
    "XIOKV_SC_RESERVATION_CONFLICT": 0x83,
    "XIOKV_SC_FORMAT_IN_PROGRESS": 0x84,
    "XIOKV_SC_INVALID_VALUE_SIZE": 0x85,
    "XIOKV_SC_INVALID_KEY_SIZE": 0x86,
    "XIOKV_SC_KEY_DOES_NOT_EXIST": 0x87,
    "XIOKV_SC_UNRECOVERED_ERROR": 0x88,
    "XIOKV_SC_KEY_EXISTS": 0x89,
    "XIOKV_KEY_MIN_LEN": 1,
    "XIOKV_KEY_MAX_LEN": 16,
    "XIOKV_SPEC_VER": 0x00010300,
    "sizeof(struct xiokv_cmd)": 64,
    "offsetof(struct xiokv_cmd, cid)": 2,
    "offsetof(struct xiokv_cmd, nsid)": 4,
    "offsetof(struct xiokv_cmd, cdw2)": 8,
    "offsetof(struct xiokv_cmd, mptr)": 16,
    "offsetof(struct xiokv_cmd, dptr.prp.prp1)": 24,
    "offsetof(struct xiokv_cmd, dptr.prp.prp2)": 32,
    "offsetof(struct xiokv_cmd, cdw10)": 40,
    "offsetof(struct xiokv_cmd, cdw15)": 60,
    "sizeof(struct xiokv_cpl)": 16,
    "offsetof(struct xiokv_cpl, sqhd)": 8,
    "offsetof(struct xiokv_cpl, sqid)": 10,
    "offsetof(struct xiokv_cpl, cid)": 12,
    "offsetof(struct xiokv_cpl, status)": 14,
    "sizeof(struct xiokv_ns_data)": 4096,
    "offsetof(struct xiokv_ns_data, nuse)": 16,
    "offsetof(struct xiokv_ns_data, nsfeat)": 24,
    "offsetof(struct xiokv_ns_data, nkvf)": 25,
    "offsetof(struct xiokv_ns_data, nmic)": 26,
    "offsetof(struct xiokv_ns_data, rescap)": 27,
    "offsetof(struct xiokv_ns_data, fpi)": 28,
    "offsetof(struct xiokv_ns_data, kvfc)": 29,
    "offsetof(struct xiokv_ns_data, novg)": 32,
    "offsetof(struct xiokv_ns_data, anagrpid)": 36,
    "offsetof(struct xiokv_ns_data, nsattr)": 43,
    "offsetof(struct xiokv_ns_data, nvmsetid)": 44,
    "offsetof(struct xiokv_ns_data, endgid)": 46,
    "offsetof(struct xiokv_ns_data, nguid)": 48,
    "offsetof(struct xiokv_ns_data, eui64)": 64,
    "offsetof(struct xiokv_ns_data, kvf)": 72,
    "offsetof(struct xiokv_ns_data, vendor_specific)": 3840,
    "sizeof(struct xiokv_format)": 16,
    "offsetof(struct xiokv_format, afo)": 3,
    "offsetof(struct xiokv_format, kvvml)": 4,
    "offsetof(struct xiokv_format, mnks)": 8,
}


def test_values_and_places_are_those_of_the_specifications(
    compiler: Any, include: Path, tmp_path: Path
) -> None:
    source = tmp_path / "values.c"
    asserts = [
        f'XIOKV_STATIC_ASSERT({name} == {value}, "{name}");' for name, value in VALUES.items()
    ]
    text = "\n".join(['#include "xiokv/nvme_kv.h"', *asserts, ""])
    source.write_text(text, encoding="utf-8")
    compiler.build(include, "-fsyntax-only", source)


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
