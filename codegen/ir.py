"""The spec file (IR): facts to canonical JSON text and back.

In goes `Facts` and a `Banner` that says where they come from; out comes one text for
them, the same on every machine. Reading is strict: an unknown member, a missing one or
a value of the wrong type is an error with its path in the file, and a newer schema is
refused. Object keys are sorted where their order means nothing; enumerators and fields
keep the upstream order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from xiokv.codegen.errors import XiokvError, nesting
from xiokv.codegen.facts import (
    Constant,
    Enum,
    Enumerator,
    EnumRef,
    Facts,
    Field,
    Record,
    RecordRef,
    Scalar,
)
from xiokv.codegen.strict_json import Reader

_SCHEMA = "xiokv-ir"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Banner:
    """What the ``_generated`` member states. `commit` is empty where unpinned."""

    repository: str
    ref: str
    commit: str
    license: str
    command: str = "xiokv-gen fetch"
    notice: str = "Generated; do not edit."


def dump(facts: Facts, *, source: Banner) -> str:
    """Return the canonical text of a spec file."""
    return _text({"_generated": _sorted(asdict(source)), **_facts_to_json(facts)})


def load(text: str, origin: str) -> Facts:
    """Read the facts of a spec file; `origin` names it in errors."""
    root = _open(text, origin)
    _read_banner(root.take("_generated"))
    constants = _by_name(root.take("constants"))
    enums = _by_name(root.take("enums"))
    records = _by_name(root.take("records"))
    root.finish()
    with nesting(origin):
        facts = Facts(
            constants=tuple(Constant(name, value.integer()) for name, value in constants),
            enums=tuple(_read_enum(name, value) for name, value in enums),
            records=tuple(_read_record(name, value) for name, value in records),
        )
    for record in facts.records:
        for path, _, field in record.walk():
            if not _is_known(facts, field.type):
                raise XiokvError(f"{origin}: error: {record.name}.{path} is of no type in the file")
    return facts


def _is_known(facts: Facts, kind: Scalar | RecordRef | EnumRef | Record) -> bool:
    """Tell whether what a reference names is there, as in a file that fetch wrote."""
    if isinstance(kind, RecordRef):
        return facts.record(kind.name) is not None
    return not isinstance(kind, EnumRef) or facts.enum(kind.name) is not None


def load_banner(text: str, origin: str) -> Banner:
    """Read where the facts of a spec file come from."""
    return _read_banner(_open(text, origin).take("_generated"))


def digest(text: str, origin: str = "the spec file") -> str:
    """Return the identity of the facts in a spec file: SHA-256, 64 hexadecimal digits.

    It covers the facts alone: neither the banner nor white space matters, so the same
    definitions at another commit have the same identity.
    """
    return hashlib.sha256(_text(_facts_to_json(load(text, origin))).encode()).hexdigest()


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def _sorted(members: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(members.items()))


def _facts_to_json(facts: Facts) -> dict[str, Any]:
    return {
        "constants": _sorted({c.name: c.value for c in facts.constants}),
        "enums": _sorted({e.name: {n.name: n.value for n in e.enumerators} for e in facts.enums}),
        "records": _sorted({r.name: _record_to_json(r) for r in facts.records}),
        "schema": f"{_SCHEMA}/{_VERSION}",
    }


def _record_to_json(record: Record) -> dict[str, Any]:
    members: dict[str, Any] = {
        "align": record.align,
        "fields": [_field_to_json(field) for field in record.fields],
        "kind": record.kind,
        "size": record.size,
    }
    if record.partial:
        members["partial"] = True
    return _sorted(members)


def _field_to_json(field: Field) -> dict[str, Any]:
    members: dict[str, Any] = {
        "name": field.name,
        "offset": field.offset,
        "type": _type_to_json(field.type),
        "width": field.width,
    }
    if field.dims:
        members["dims"] = list(field.dims)
    if field.bitfield:
        members["bitfield"] = True
    return _sorted(members)


def _type_to_json(kind: Scalar | RecordRef | EnumRef | Record) -> str | dict[str, Any]:
    if isinstance(kind, Scalar):
        return kind.name
    if isinstance(kind, Record):
        return _record_to_json(kind)
    return {"record" if isinstance(kind, RecordRef) else "enum": kind.name}


def _open(text: str, origin: str) -> Reader:
    root = Reader.parse(text, origin)
    schema = root.take("schema")
    name, _, version = schema.string().partition("/")
    if name != _SCHEMA or not version.isdecimal() or int(version) < 1:
        raise schema.error(f"schema {schema.string()!r} is not {_SCHEMA}/{_VERSION}")
    if int(version) > _VERSION:
        raise schema.error(
            f"schema {_SCHEMA}/{version} is newer than {_SCHEMA}/{_VERSION}, the newest that this "
            f"xiokv reads; install an xiokv that reads {_SCHEMA}/{version}"
        )
    return root


def _read_banner(value: Reader) -> Banner:
    banner = Banner(**{field.name: value.take(field.name).string() for field in fields(Banner)})
    value.finish()
    return banner


def _by_name(group: Reader) -> list[tuple[str, Reader]]:
    return sorted(group.members(), key=lambda member: member[0])


def _read_enum(name: str, value: Reader) -> Enum:
    return Enum(name, tuple(Enumerator(n, v.integer()) for n, v in value.members()))


def _read_record(name: str, value: Reader) -> Record:
    kind = value.take("kind")
    if kind.string() not in ("struct", "union"):
        raise kind.error(f"{kind.string()!r} is neither 'struct' nor 'union'")
    record = Record(
        name=name,
        kind="struct" if kind.string() == "struct" else "union",
        size=value.take("size").integer(least=0),
        align=value.take("align").integer(least=1),
        fields=tuple(_read_field(item) for item in value.take("fields").items()),
        partial=value.has("partial") and value.take("partial").boolean(),
    )
    value.finish()
    return record


def _read_field(value: Reader) -> Field:
    field = Field(
        name=value.take("name").string(),
        type=_read_type(value.take("type")),
        offset=value.take("offset").integer(least=0),
        width=value.take("width").integer(least=1),
        dims=_read_dims(value),
        bitfield=value.has("bitfield") and value.take("bitfield").boolean(),
    )
    value.finish()
    return field


def _read_dims(value: Reader) -> tuple[int, ...]:
    if not value.has("dims"):
        return ()
    return tuple(length.integer(least=0) for length in value.take("dims").items())


def _read_type(value: Reader) -> Scalar | RecordRef | EnumRef | Record:
    if value.is_string():
        return _read_scalar(value)
    if value.has("kind"):
        return _read_record("", value)
    reference = EnumRef if value.has("enum") else RecordRef
    tag = value.take("enum" if value.has("enum") else "record").string()
    value.finish()
    return reference(tag)


def _read_scalar(value: Reader) -> Scalar:
    name = value.string()
    for bits in (8, 16, 32, 64):
        if name in (f"uint{bits}_t", f"int{bits}_t"):
            return Scalar(name, bits, signed=name.startswith("int"))
    raise value.error(f"{name!r} is not an integer type of <stdint.h>")
