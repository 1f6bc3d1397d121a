"""The output ``rocm-xio``: headers that take the place of hand-kept ones in that library.

In: a finished spec. Out: ``rocm-xio/nvme-kv.h``, which fills the library's own
``struct nvme_sqe``, ``rocm-xio/spdk-nvme-kv.h``, the upstream names for code that still
uses them, and ``rocm-xio/nvme-kv.cmake``, a target for the folder. Key placement, sizes,
values and semantic fields are the spec's; Exec, which SPDK does not define, is written in
the template, and what its length counts is the profile's choice.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.render.c_text import COLUMNS
from xiokv.codegen.render.env import render
from xiokv.codegen.render.static import static_cmake
from xiokv.codegen.render.text import c_comment
from xiokv.codegen.spec.identity import identify
from xiokv.codegen.spec.model import (
    SQE_BYTES,
    SQE_DWORDS,
    Command,
    FieldKind,
    Operation,
    Profile,
    PublicEnum,
    PublicEnumerator,
    SemanticField,
    Spec,
    SqeField,
)

ROCM_XIO_DIR = "rocm-xio"
_EXEC = "exec"
_EXEC_COUNTS = {
    "payload": "Bytes of the request: 2, the key and the input.",
    "input": "Bytes of the input alone, as the profile chose.",
}
_STATUSES = ("INVALID_VALUE_SIZE", "INVALID_KEY_SIZE", "KEY_DOES_NOT_EXIST", "KEY_EXISTS")

# Dwords whose members have names of their own in nvme_sqe; all others are cdw2, cdw3, ...
_NAMED = (
    FieldKind.OPCODE,
    FieldKind.NSID,
    FieldKind.METADATA_POINTER,
    FieldKind.DATA_POINTER,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A member of nvme_sqe, and its offset in bytes."""

    member: str
    offset: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of C and the comment above it."""

    doc: str
    text: str


@dataclass(frozen=True, slots=True)
class Accessors:
    """The functions that place and read one semantic field.

    Attributes:
        name: the field's, as it ends the names of the functions.
        set_doc: comment of the one that places a value.
        get_doc: comment of the one that reads it.
        member: the member of nvme_sqe that holds it.
        max: its largest value, as C writes it.
        mask: its bits in the member.
        up: the shift of a value into place; empty where there is none.
        read: the value, above which other bits may be left.
        opcodes: those of the commands that carry it.
    """

    name: str
    set_doc: str
    get_doc: str
    member: str
    max: str
    mask: str
    up: str
    read: str
    opcodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UpstreamEnum:
    """An enum under its upstream names."""

    doc: str
    name: str
    enumerators: tuple[Line, ...]


def render_rocm_xio(spec: Spec) -> dict[str, str]:
    """Return the files of the ``rocm-xio`` output, relative to the output folder."""
    return {**rocm_xio_headers(spec), **static_cmake(ROCM_XIO_DIR, "nvme-kv.cmake")}


def rocm_xio_headers(spec: Spec) -> dict[str, str]:
    """Return its headers."""
    return {
        f"{ROCM_XIO_DIR}/nvme-kv.h": _nvme_kv(spec),
        f"{ROCM_XIO_DIR}/spdk-nvme-kv.h": render(
            "rocm-xio/spdk-nvme-kv.h.j2",
            spec=spec,
            identity=f"facts {spec.identity.facts}",
            enums=[_upstream(spec.enum(name)) for name in ("Opcode", "Status")],
        ),
    }


def _nvme_kv(spec: Spec) -> str:
    command = spec.command("store")  # the others lay out the same fields, or fewer
    opcodes = _from_upstream(spec.enum("Opcode"))
    vendor = next(operation for operation in spec.operations if operation.name == _EXEC)
    _refuse_a_clash(opcodes, vendor)
    exec_length = spec.profile.exec_length
    return render(
        "rocm-xio/nvme-kv.h.j2",
        spec=spec,
        identity=f"inputs {_inputs(spec)}",
        sqe_bytes=SQE_BYTES,
        places=_places(command),
        opcodes=[_enumerator(f"nvme_kv_cmd_{e.short.lower()}", e) for e in opcodes],
        exec_opcode=f"{vendor.opcode:#04x}",
        exec_length=exec_length,
        exec_counts=_EXEC_COUNTS[exec_length],
        fields=_accessors(spec.profile.fields),
        key_max=command.key_max,
        key_words=len(command.of_kind(FieldKind.KEY)),
        statuses=[_define(_status(spec, short)) for short in _STATUSES],
        assignments=[f"sqe->cdw{index} = {_value(command, index)};" for index in _plain(command)],
    )


def _inputs(spec: Spec) -> str:
    """Return the hash of what the header depends on.

    Of the profile these are the fields and what the length of Exec counts, but not its name;
    whether the project encodes Exec otherwise changes nothing here.
    """
    counted = Profile(spec.profile.exec_length, spec.profile.fields)
    return identify(spec.identity.facts, spec.standard_commands, counted).spec


def _accessors(fields: tuple[SemanticField, ...]) -> list[Accessors]:
    """Return the accessors of all fields; refuse fields that get one name."""
    named: dict[str, SemanticField] = {}
    for field in fields:
        other = named.setdefault(_camel(field.name), field)
        if other is not field:
            raise XiokvError(
                f"rocm-xio: {field.source or field.name}: fields {other.name!r} and"
                f" {field.name!r} would both be placed by kvSqeSet{_camel(field.name)}; rename"
                " one of them in the profile"
            )
    return [_accessor(name, field) for name, field in named.items()]


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _accessor(name: str, field: SemanticField) -> Accessors:
    bits, member = field.bits, f"cdw{field.dword}"
    place = f"{field.name}, CDW{field.dword}{bits} of {', '.join(field.commands)}"
    return Accessors(
        name=name,
        set_doc=_block(
            f"@brief Place semantic field {place}.",
            "",
            f"{c_comment(field.meaning)} Unit: {c_comment(field.unit)}. To be called after"
            " kvSqeSetup, which makes the field 0.",
            "",
            "@param sqe Entry; its other bits stay as they are.",
            "@param value The value.",
            f"@return Whether it fits; a value above {bits.max} changes nothing.",
        ),
        get_doc=_block(
            f"@brief Read semantic field {place}.",
            "",
            "@param sqe Entry, with its opcode.",
            "@return The value; 0 for an entry of another command.",
        ),
        member=member,
        max=f"{bits.max:#x}",
        mask=f"{bits.mask:#010x}",
        up=f" << {bits.lsb}" if bits.lsb else "",
        read=f"(sqe->{member} >> {bits.lsb})" if bits.lsb else f"sqe->{member}",
        opcodes=tuple(f"nvme_kv_cmd_{command}" for command in field.commands),
    )


def _from_upstream(enum: PublicEnum) -> tuple[PublicEnumerator, ...]:
    """Return the enumerators that SPDK defines; a project may have added the vendor's Exec."""
    return tuple(enumerator for enumerator in enum.enumerators if enumerator.upstream)


def _refuse_a_clash(opcodes: tuple[PublicEnumerator, ...], vendor: Operation) -> None:
    for opcode in opcodes:
        if opcode.value == vendor.opcode or opcode.short.lower() == vendor.name:
            raise XiokvError(
                f"rocm-xio: the vendor's nvme_kv_cmd_exec, {vendor.opcode:#04x}, has opcode or name"
                f" of {opcode.upstream}, {opcode.value:#04x}; take 'rocm-xio' out of emit in"
                f" xiokv.toml, or fetch an SPDK without {opcode.upstream}"
            )


def _status(spec: Spec, short: str) -> PublicEnumerator:
    for enumerator in spec.enum("Status").enumerators:
        if enumerator.short == short:
            return enumerator
    raise XiokvError(
        f"rocm-xio: the spec file has no status code SPDK_NVME_SC_{short}, which nvme-kv.h"
        " offers; fetch an SPDK that has the Key-Value definitions (first in v26.05)"
    )


def _plain(command: Command) -> Iterator[int]:
    """Yield the dwords that nvme_sqe calls by their number."""
    for index in range(SQE_DWORDS):
        if all(field.kind not in _NAMED for field in command.dword(index)):
            yield index


def _places(command: Command) -> list[Place]:
    metadata = command.of_kind(FieldKind.METADATA_POINTER)[0]
    named = [Place("flags", 1), Place("metadata", metadata.dword * 4)]
    return [*named, *(Place(f"cdw{index}", index * 4) for index in _plain(command))]


def _value(command: Command, index: int) -> str:
    """Return what a dword is set to; what no caller gives is 0."""
    return " | ".join(filter(None, map(_term, command.dword(index)))) or "0"


def _term(field: SqeField) -> str:
    if field.kind is FieldKind.KEY:
        return f"kvKeyWord(key, length, {field.part})"
    given = {FieldKind.KEY_LENGTH: "length", FieldKind.VALUE_SIZE: "value_len"}.get(field.kind)
    if given and field.bits.lsb:
        return f"{given} << {field.bits.lsb}"
    return given or ""


def _upstream(enum: PublicEnum) -> UpstreamEnum:
    return UpstreamEnum(
        _comment(enum.brief),
        enum.upstream,
        tuple(_enumerator(e.upstream, e) for e in _from_upstream(enum)),
    )


def _enumerator(name: str, enumerator: PublicEnumerator) -> Line:
    return Line(_comment(enumerator.brief, indent=2), f"{name} = {enumerator.value:#04x}")


def _define(status: PublicEnumerator) -> Line:
    return Line(_comment(status.brief), f"#define NVME_KV_SC_{status.short} {status.value:#04x}")


def _comment(brief: str, indent: int = 0) -> str:
    """Return a Doxygen comment in the library's form, on one line where it fits."""
    lead = " " * indent
    text = f"@brief {c_comment(brief)}"
    one = f"{lead}/** {text} */"
    if len(one) <= COLUMNS:
        return one
    return _block(text, lead=lead)


def _block(*paragraphs: str, lead: str = "") -> str:
    """Return a Doxygen comment of several lines; its texts have passed `c_comment`."""
    inner = f"{lead} * "
    body = "\n".join(
        textwrap.fill(
            text, COLUMNS, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False
        )
        or f"{lead} *"
        for text in paragraphs
    )
    return f"{lead}/**\n{body}\n{lead} */"
