"""What a field of a submission queue entry means, and how it is called in tables."""

from __future__ import annotations

from xiokv.codegen.render.text import description
from xiokv.codegen.spec.model import Command, FieldKind, PublicRecord, SemanticField, Spec, SqeField

_DWORD_BYTES = 4


def label(command: Command, field: SqeField) -> str:
    """Return a field's name, with the bytes of it where it spans dwords."""
    parts = sum(other.name == field.name for other in command.fields)
    if parts == 1:
        return field.name
    first = _DWORD_BYTES * field.part
    return f"{field.name} bytes {first} to {first + _DWORD_BYTES - 1}"


def semantic(spec: Spec, field: SqeField) -> SemanticField | None:
    """Return the profile's declaration of a field, where it is the profile's."""
    if field.kind is not FieldKind.SEMANTIC:
        return None
    return next(declared for declared in spec.profile.fields if declared.name == field.name)


def meaning(spec: Spec, field: SqeField) -> str:
    """Return one sentence, of the profile or of the spec's records."""
    if declared := semantic(spec, field):
        return f"{description(declared)} One value a {declared.scope}.".lstrip()
    if field.kind is FieldKind.RESERVED:
        return "Reserved."
    if field.kind is FieldKind.KEY:
        return "The key's bytes, in memory order; zero past its length."
    return _brief(spec, field.source) or f"{field.kind.value.replace('_', ' ').capitalize()}."


def _brief(spec: Spec, source: str) -> str:
    """Return the sentence of an upstream member path, such as ``spdk_nvme_cmd.cid``.

    A field that is not upstream's, of a vendor command, has none.
    """
    upstream, _, path = source.partition(".")
    record = next((record for record in spec.records if record.upstream == upstream), None)
    if record is None:
        return ""
    while path not in record.briefs:
        member, _, path = path.partition(".")
        record = _record_of(spec, record, member)
    return record.briefs[path]


def _record_of(spec: Spec, record: PublicRecord, member: str) -> PublicRecord:
    """Return the record that is a member's type."""
    types = {path: field.type for path, _, field in record.layout.walk()}
    return next(other for other in spec.records if other.name == types[member].name)
