"""What changed between two versions of the facts, for a reader and for a script.

Breaking is any removal or rename, and any change of a value, place, width, size or
sign; an addition is not. What disappears while another name takes its exact place is
told as a rename, since code that still compiles may then mean something else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from xiokv.codegen.facts import Enum, EnumRef, Facts, Field, Record, RecordRef, Scalar

_T = TypeVar("_T")
_SENSE = "its sense may have changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One change: of what, in words, and whether it breaks users."""

    subject: str
    text: str
    breaking: bool

    def __str__(self) -> str:
        """Return a line for a reader."""
        return f"{'BREAKING' if self.breaking else 'compatible'}: {self.subject}: {self.text}"


@dataclass(frozen=True, slots=True)
class Changes:
    """All changes, in the order of the facts."""

    found: tuple[Change, ...]

    @property
    def breaking(self) -> bool:
        """Whether any of them breaks users."""
        return any(change.breaking for change in self.found)

    def lines(self) -> list[str]:
        """Return a line for each change, the breaking ones first."""
        return [str(change) for change in sorted(self.found, key=lambda c: not c.breaking)]

    def as_json(self) -> dict[str, Any]:
        """Return the changes as JSON values."""
        return {"breaking": self.breaking, "changes": [asdict(change) for change in self.found]}


def compare(old: Facts, new: Facts) -> Changes:
    """Compare two versions of the facts."""
    return Changes(
        (
            *_named("constant", _by_name(old.constants), _by_name(new.constants), _constants),
            *_named("enum", _by_name(old.enums), _by_name(new.enums), _enums),
            *_named("record", _by_name(old.records), _by_name(new.records), _records),
        )
    )


def _by_name(group: tuple[Any, ...]) -> dict[str, Any]:
    return {item.name: item for item in group}


def _named(
    kind: str,
    old: Mapping[str, _T],
    new: Mapping[str, _T],
    inner: Callable[[str, _T, _T], Iterator[Change]],
) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        subject = f"{kind} {name}"
        if name not in new:
            yield Change(subject, "removed", breaking=True)
        elif name not in old:
            yield Change(subject, "added", breaking=False)
        elif old[name] != new[name]:
            yield from inner(subject, old[name], new[name])


def _constants(subject: str, old: Any, new: Any) -> Iterator[Change]:
    yield Change(subject, f"value {old.value} is now {new.value}", breaking=True)


def _enums(subject: str, old: Enum, new: Enum) -> Iterator[Change]:
    before = {e.name: e.value for e in old.enumerators}
    after = {e.name: e.value for e in new.enumerators}
    changes = [
        *_moves(subject, before, after, lambda value: value, lambda value: f"value {value:#x}"),
        *(
            Change(subject, f"{name}: value {value:#x} is now {after[name]:#x}", breaking=True)
            for name, value in before.items()
            if name in after and after[name] != value
        ),
    ]
    yield from changes or [Change(subject, "the order of the names changed", breaking=False)]


def _records(subject: str, old: Record, new: Record) -> Iterator[Change]:
    before = {path: _Place(offset, field) for path, offset, field in old.walk()}
    after = {path: _Place(offset, field) for path, offset, field in new.walk()}
    changes = [
        *_differences(subject, _record_traits(old), _record_traits(new)),
        *_moves(subject, before, after, _Place.slot, str),
    ]
    for path, place in before.items():
        if path in after:
            changes += _differences(f"{subject}, {path}", place.traits(), after[path].traits())
    yield from changes or [Change(subject, "unnamed members changed", breaking=False)]


def _moves(
    subject: str,
    before: Mapping[str, _T],
    after: Mapping[str, _T],
    slot: Callable[[_T], Hashable],
    describe: Callable[[_T], str],
) -> Iterator[Change]:
    """Yield what was removed, added, or renamed: a new name in the slot of an old one."""
    added = [name for name in after if name not in before]
    for name in (name for name in before if name not in after):
        heir = next((n for n in added if slot(after[n]) == slot(before[name])), None)
        place = describe(before[name])
        if heir is None:
            yield Change(subject, f"{name} removed ({place})", breaking=True)
        else:
            added.remove(heir)
            text = f"{name} renamed to {heir} ({place}); {_SENSE}"
            yield Change(subject, text, breaking=True)
    for name in added:
        yield Change(subject, f"{name} added ({describe(after[name])})", breaking=False)


def _differences(
    subject: str, old: Mapping[str, object], new: Mapping[str, object]
) -> list[Change]:
    return [
        Change(subject, f"{trait} {old[trait]} is now {new[trait]}", breaking=True)
        for trait in old
        if old[trait] != new[trait]
    ]


def _record_traits(record: Record) -> dict[str, object]:
    return {
        "kind": record.kind,
        "size": f"{record.size} bytes",
        "alignment": f"{record.align} bytes",
    }


@dataclass(frozen=True, slots=True)
class _Place:
    """A member within the whole record."""

    offset: int
    field: Field

    def slot(self) -> Hashable:
        """What a renamed member keeps."""
        return self.offset, self.field.width, self.field.dims

    def traits(self) -> dict[str, object]:
        """What breaks users when it changes."""
        return {
            "type": _type_name(self.field.type),
            "place": f"byte {self.offset // 8}, bit {self.offset % 8}",
            "width": f"{self.field.width} bits",
            "array": list(self.field.dims) or "none",
            "form": "bit-field" if self.field.bitfield else "plain member",
        }

    def __str__(self) -> str:
        traits = self.traits()
        return f"{traits['type']} at {traits['place']}, {traits['width']}"


def _type_name(kind: Scalar | RecordRef | EnumRef | Record) -> str:
    if isinstance(kind, Record):
        return f"{kind.kind} of {kind.size} bytes"
    return kind.name
