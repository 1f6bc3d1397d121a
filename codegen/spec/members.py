"""Upstream member paths, such as ``spdk_nvme_cmd.cdw11_bits.kv.kl``, resolved to bits."""

from __future__ import annotations

from math import prod

from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.facts import Facts, Field, Record, RecordRef


def locate(facts: Facts, path: str) -> Bits:
    """Return the bits of a member within its outermost record.

    Members of unnamed structs and unions are found as in C, without a name of their own.
    """
    tag, *members = path.split(".")
    record = facts.record(tag)
    if record is None:
        raise _missing(path, f"no record {tag}")
    offset, width = 0, record.size * 8
    for member in members:
        if record is None:
            raise _missing(path, f"nothing below {member!r}: its parent is no record")
        found = _member(record, member)
        if found is None:
            raise _missing(path, f"no member {member!r}")
        base, field = found
        offset, width = offset + base, field.width * prod(field.dims)
        record = _record_of(facts, field)
    return Bits.at(offset, width)


def _member(record: Record, name: str) -> tuple[int, Field] | None:
    """Return (offset, field) of a direct member, unnamed records entered."""
    for field in record.fields:
        if field.name == name:
            return field.offset, field
        if not field.name and isinstance(field.type, Record):
            inner = _member(field.type, name)
            if inner:
                return field.offset + inner[0], inner[1]
    return None


def _record_of(facts: Facts, field: Field) -> Record | None:
    if isinstance(field.type, RecordRef):
        return facts.record(field.type.name)
    return field.type if isinstance(field.type, Record) else None


def _missing(path: str, what: str) -> XiokvError:
    return XiokvError(
        f"the spec file has no {path}: {what};"
        " this upstream is too old or too new for this version of xiokv"
    )
