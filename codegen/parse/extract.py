"""Laid out types and macros to `Facts`: the wanted names and all they refer to."""

from __future__ import annotations

from collections.abc import Mapping

from xiokv.codegen.errors import Problems, XiokvError
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
from xiokv.codegen.parse import wanted
from xiokv.codegen.parse.resolve import Types
from xiokv.codegen.parse.types import Array, Compound, CType, EnumType, Integer, Member


def refuse_old_trees(types: Types) -> None:
    """Raise an error for a tree from before NVMe-KV, or from before its first release."""
    if not types.is_defined(wanted.KV_MARK):
        raise XiokvError(
            f"this SPDK has no NVMe-KV definitions (first in {wanted.FIRST_RELEASE}); "
            f"fetch {wanted.FIRST_RELEASE} or later"
        )
    found = _old_members(types)
    if found:
        raise XiokvError(
            f"this SPDK is too old: its NVMe-KV definitions are those of before "
            f"{wanted.FIRST_RELEASE} (seen: {', '.join(found)}); "
            f"fetch {wanted.FIRST_RELEASE} or later"
        )


def extract(types: Types, constants: Mapping[str, int]) -> Facts:
    """Take the wanted facts; report every one that is missing or not understood."""
    problems = Problems()
    for name in wanted.CONSTANTS:
        if name not in constants:
            problems.add(_missing("macro", name))
    for keyword, tags in (("enum", wanted.ENUMS), ("struct", wanted.RECORDS)):
        for tag in tags:
            if not types.is_defined(tag):
                problems.add(_missing(keyword, tag))
    problems.raise_if_any()
    collector = _Collector(types)
    for kind, tags in ((EnumType, wanted.ENUMS), (Compound, wanted.RECORDS)):
        for tag in tags:
            with problems.collect():
                collector.take(tag, kind)
    problems.raise_if_any()
    return Facts(
        constants=tuple(Constant(name, constants[name]) for name in sorted(wanted.CONSTANTS)),
        enums=tuple(collector.enums[tag] for tag in sorted(collector.enums)),
        records=tuple(collector.records[tag] for tag in sorted(collector.records)),
    )


def _missing(kind: str, name: str) -> XiokvError:
    return XiokvError(
        f"{kind} {name} is not defined in the given files; this xiokv knows the definitions of "
        f"SPDK {wanted.FIRST_RELEASE} and later: fetch such a commit, or a newer xiokv if upstream "
        "has renamed it"
    )


def _old_members(types: Types) -> list[str]:
    return [
        f"struct {tag} member {name}"
        for tag, names in wanted.OLD_MEMBERS.items()
        if types.is_defined(tag)
        for name in names
        if isinstance(record := types.tagged(tag), Compound) and record.find(name)
    ]


class _Collector:
    """Takes types by tag, and with each one the types that it refers to."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self.enums: dict[str, Enum] = {}
        self.records: dict[str, Record] = {}

    def take(self, tag: str, expected: type[EnumType | Compound]) -> None:
        """Take the type of a tag, which must be an enum or a record as expected."""
        kind = self._types.tagged(tag)
        if not isinstance(kind, expected):
            raise XiokvError(f"{tag} is not the kind of type that it was in {wanted.FIRST_RELEASE}")
        self._reference(kind)

    def _reference(self, kind: Compound | EnumType) -> RecordRef | EnumRef:
        if isinstance(kind, EnumType):
            values = self._types.enumerators(kind.tag)
            self.enums[kind.tag] = Enum(
                kind.tag, tuple(Enumerator(name, value.number) for name, value in values.items())
            )
            return EnumRef(kind.tag)
        if kind.tag not in self.records:
            self.records[kind.tag] = self._record(kind)
        return RecordRef(kind.tag)

    def _record(self, compound: Compound) -> Record:
        names = wanted.PARTIAL.get(compound.tag)
        members = compound.members
        if names is not None:
            members = tuple(member for member in members if member.name in names)
            absent = sorted(set(names) - {member.name for member in members})
            if absent:
                raise compound.token.error(
                    f"{compound.kind} {compound.tag} has no member {absent[0]!r}"
                )
        return Record(
            name=compound.tag,
            kind=compound.kind,
            size=compound.size,
            align=compound.align,
            fields=tuple(self._field(member) for member in members),
            partial=names is not None,
        )

    def _field(self, member: Member) -> Field:
        element, dims = member.type, []
        while isinstance(element, Array):
            dims.append(element.length)
            element = element.element
        return Field(
            name=member.name,
            type=self._field_type(element, member),
            offset=member.offset,
            width=member.width if member.bitfield else element.size * 8,
            dims=tuple(dims),
            bitfield=member.bitfield,
        )

    def _field_type(self, kind: CType, member: Member) -> Scalar | RecordRef | EnumRef | Record:
        if isinstance(kind, Integer):
            sign = "int" if kind.signed else "uint"
            return Scalar(f"{sign}{kind.bits}_t", kind.bits, kind.signed)
        if isinstance(kind, Compound) and not kind.tag:
            return self._record(kind)
        if isinstance(kind, Compound) or (isinstance(kind, EnumType) and kind.tag):
            return self._reference(kind)
        raise member.token.error(
            f"member {member.name!r} is neither an integer, an enum nor a record; "
            "nothing else can be taken from upstream"
        )
