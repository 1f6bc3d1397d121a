"""Documents of this layer: JSON in, typed values out, and canonical bytes back.

A document says in `schema` which it is and in what version: ``xiokv-plan/1.0``. Fields that
this version does not know are left out when a document is read, so that a newer minor version
can be read here; a newer major version is refused. Canonical bytes are UTF-8 JSON with sorted
names and without spaces; a number without a fraction is written without one, and a field that
has its default is left out, so that fields which are added later change no digest.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
from msgspec import Meta, Struct

from xiokv.runtime.errors import RuntimeFault

_T = TypeVar("_T", bound="Document")
_S = TypeVar("_S", bound=Struct)

#: The largest whole number of a document, which every reader of JSON holds exactly.
INTEGER_MAX = (1 << 53) - 1

Text = Annotated[str, Meta(min_length=1, max_length=1024)]
Count = Annotated[int, Meta(ge=0, le=INTEGER_MAX)]
Positive = Annotated[int, Meta(ge=1, le=INTEGER_MAX)]


def _hex_of(least: int, most: int, said: str) -> Meta:
    """Return what is said of bytes in hex: to msgspec the length, by `hex_problems` the rest.

    A pattern for each of a manifest's many digests takes most of the time of reading it.
    """
    digits = f"{least}" if least == most else f"{least},{most}"
    return Meta(
        min_length=2 * least,
        max_length=2 * most,
        description=f"{said} in hex",
        extra_json_schema={"pattern": f"^([0-9a-f]{{2}}){{{digits}}}$"},
    )


Hex16 = Annotated[str, _hex_of(16, 16, "16 bytes")]
Hex32 = Annotated[str, _hex_of(32, 32, "32 bytes")]
HexDigest = Annotated[str, _hex_of(16, 64, "16 to 64 bytes")]

# Their values have nothing that could be left out.
_PLAIN = (str, int, Text, Count, Positive, Hex16, Hex32, HexDigest)

_SCHEMA = re.compile(r"(xiokv-[a-z]+)/([0-9]{1,6})\.([0-9]{1,6})")
_PLACE = re.compile(r"^(.*) - at `\$?\.?(.*)`$", re.DOTALL)
_SHOWN = 5
_LONGEST = 300


class DocumentFault(RuntimeFault, ValueError):
    """A document that cannot be taken; the message names the field."""


class Range(Struct, frozen=True, array_like=True):
    """Whole numbers from `start` up to and without `end`; ``[start, end]`` in JSON."""

    start: Count
    end: Count

    def __len__(self) -> int:
        return max(0, self.end - self.start)

    def __str__(self) -> str:
        return f"[{self.start}, {self.end})"


class Document(Struct, frozen=True, kw_only=True):
    """A document; a subclass names its kind and version and says what else has to hold."""

    #: What the subclass is: ``xiokv-plan``, and the version that it writes.
    kind: ClassVar[str]
    version: ClassVar[tuple[int, int]]

    schema: str = ""

    def __post_init__(self) -> None:
        if not self.schema:
            msgspec.structs.force_setattr(self, "schema", self.current())

    @classmethod
    def current(cls) -> str:
        """Return the schema that this version of xiokv writes."""
        return f"{cls.kind}/{cls.version[0]}.{cls.version[1]}"

    @classmethod
    def from_json(cls: type[_T], text: bytes | str) -> _T:
        """Read a document.

        Raises:
            DocumentFault: it is none of this kind and major version, or a field is wrong.
        """
        _check_schema(cls, text)
        document = _decoded(text, cls, cls.kind)
        refuse(cls.kind, document.problems())
        return document

    @property
    def canonical(self) -> bytes:
        """The canonical bytes."""
        return canonical(self)

    @property
    def digest(self) -> bytes:
        """BLAKE2b-256 of the canonical bytes."""
        return hashlib.blake2b(self.canonical, digest_size=32).digest()

    def check(self: _T) -> _T:
        """Check all of it, as if it were read: also what was made of wrong types.

        Returns:
            What is read: equal, and of nothing that its maker could change.

        Raises:
            DocumentFault: it does not hold; the message names each field.
        """
        return self.from_json(_encoded(self))

    def problems(self) -> Iterable[str]:
        """Yield what is wrong, a line each, which begins with the field."""
        return ()


def canonical(value: Any) -> bytes:
    """Return the canonical bytes of a value.

    Raises:
        DocumentFault: it holds what no document can, such as half of a surrogate pair.
    """
    return _encoded(_without_defaults(value), order="sorted")


def _encoded(value: Any, **options: Any) -> bytes:
    """Return a value as JSON, or say that it cannot be written."""
    try:
        return msgspec.json.encode(value, **options)
    except (UnicodeError, TypeError, OverflowError) as error:
        raise DocumentFault(f"this cannot be written as JSON: {error}") from error


def _without_defaults(value: Any) -> Any:
    """Return a value without the fields that have their defaults.

    The `omit_defaults` of msgspec goes by identity, so that a text that was read stays.
    """
    if isinstance(value, (tuple, list)):
        return [_without_defaults(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _without_defaults(item) for name, item in value.items()}
    if not isinstance(value, Struct) or (defaults := _defaults(type(value))) is None:
        return value
    config = value.__struct_config__
    found = {config.tag_field: config.tag} if config.tag_field else {}
    for name, default in defaults.items():
        item = getattr(value, name)
        if default is msgspec.NODEFAULT or item != default:
            found[name] = _without_defaults(item)
    return found


@cache
def _defaults(kind: type[Struct]) -> dict[str, Any] | None:
    """Return the default of each field, or None where nothing can be left out."""
    if kind.__struct_config__.array_like:
        return None
    defaults = {
        field.name: field.default
        if field.default_factory is msgspec.NODEFAULT
        else field.default_factory()
        for field in msgspec.structs.fields(kind)
    }
    plain = all(
        field.default is msgspec.NODEFAULT and field.type in _PLAIN
        for field in msgspec.structs.fields(kind)
    )
    return None if plain else defaults


def whole(number: float) -> int | float:
    """Return a number in its one form: without a fraction as an integer."""
    integral = not isinstance(number, int) and math.isfinite(number) and number == int(number)
    return int(number) if integral else number


def hex_problems(texts: Sequence[str], name: Callable[[int], str]) -> Iterator[str]:
    """Yield what is no bytes in hex, a line each.

    Args:
        texts: to look at.
        name: gives the field of one by its number.
    """
    if not _beyond_hex("".join(texts)) and not any(n % 2 for n in set(map(len, texts))):
        return
    for index, text in enumerate(texts):
        if len(text) % 2 or _beyond_hex(text):
            yield f"{name(index)}: {text[:_LONGEST]!r} is seen; allowed are two of 0-9a-f a byte"


def _beyond_hex(text: str) -> bytes:
    """Return what is no digit of a text; this way takes the least time."""
    return text.encode(errors="replace").translate(None, b"0123456789abcdef")


def refuse(kind: str, problems: Iterable[str]) -> None:
    """Raise a DocumentFault where there are problems; it tells the first few."""
    found = list(problems)
    if found:
        more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        raise DocumentFault("\n".join([f"{kind}: {found[0]}", *found[1:_SHOWN], *more]))


class _Head(Struct):
    schema: Any = None


def _check_schema(cls: type[Document], text: bytes | str) -> None:
    schema = _decoded(text, _Head, cls.kind).schema
    parts = _SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if parts is None or parts[1] != cls.kind:
        seen = f"a {type(schema).__name__}" if isinstance(schema, (dict, list)) else repr(schema)
        raise DocumentFault(f"schema: {_short(seen)} is seen; allowed is {cls.current()!r}")
    if int(parts[2]) != cls.version[0]:
        raise DocumentFault(
            f"schema: {schema!r} is of another major version; this xiokv reads {cls.kind}"
            f" {cls.version[0]}.x"
        )


def _decoded(text: bytes | str, kind: type[_S], name: str) -> _S:
    """Return JSON as a typed value, or say what is wrong with it."""
    try:
        return msgspec.json.decode(text, type=kind)
    except RecursionError as error:
        raise DocumentFault(f"{name}: it is nested too deeply") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise DocumentFault(f"{name}: {_named(error)}") from error


def _named(error: Exception) -> str:
    """Return msgspec's message with the field in front."""
    parts = _PLACE.match(str(error))
    return f"{_short(parts[2])}: {_short(parts[1])}" if parts else _short(str(error))


def _short(text: str) -> str:
    """Return what a message can hold of a text that somebody else wrote."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... of {len(text)} characters"
