"""Records under their public names, in an order in which each comes after what it uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from graphlib import TopologicalSorter

from xiokv.codegen.facts import EnumRef, Field, Record, RecordRef, Scalar
from xiokv.codegen.spec import names


def rename(record: Record) -> Record:
    """Return the record with every tag in it replaced by the public one."""
    return replace(
        record,
        name=names.tag(record.name) if record.name else "",
        fields=tuple(replace(field, type=_rename_type(field)) for field in record.fields),
    )


def dependency_order(records: tuple[Record, ...]) -> list[Record]:
    """Return the records so that each follows the ones it holds; otherwise by name."""
    by_name = {record.name: record for record in records}
    sorter = TopologicalSorter({name: sorted(_uses(by_name[name])) for name in sorted(by_name)})
    sorter.prepare()
    ordered: list[Record] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        ordered += [by_name[name] for name in ready if name in by_name]
        sorter.done(*ready)
    return ordered


def _rename_type(field: Field) -> Scalar | RecordRef | EnumRef | Record:
    kind = field.type
    if isinstance(kind, RecordRef):
        return RecordRef(names.tag(kind.name))
    if isinstance(kind, EnumRef):
        return EnumRef(names.tag(kind.name))
    return rename(kind) if isinstance(kind, Record) else kind


def _uses(record: Record) -> Iterator[str]:
    for field in record.fields:
        if isinstance(field.type, RecordRef):
            yield field.type.name
        elif isinstance(field.type, Record):
            yield from _uses(field.type)
