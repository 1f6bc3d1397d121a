"""The output ``rocm-xio``: headers that take the place of hand-kept ones in that library.

In: a finished spec. Out: ``rocm-xio/nvme-kv.h``, which fills the library's own
``struct nvme_sqe``, and ``rocm-xio/spdk-nvme-kv.h``, the upstream names for code that
still uses them. Key placement, sizes and values are the spec's; Exec, which SPDK does not
define, is written in the template.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.render.c_text import COLUMNS
from xiokv.codegen.render.env import render
from xiokv.codegen.render.text import c_comment
from xiokv.codegen.spec.model import (
    SQE_BYTES,
    SQE_DWORDS,
    Command,
    FieldKind,
    Operation,
    PublicEnum,
    PublicEnumerator,
    Spec,
    SqeField,
)

_EXEC = "exec"
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
class UpstreamEnum:
    """An enum under its upstream names."""

    doc: str
    name: str
    enumerators: tuple[Line, ...]


def rocm_xio_headers(spec: Spec) -> dict[str, str]:
    """Return the headers of the ``rocm-xio`` output, relative to the output folder."""
    return {
        "rocm-xio/nvme-kv.h": _nvme_kv(spec),
        "rocm-xio/spdk-nvme-kv.h": render(
            "rocm-xio/spdk-nvme-kv.h.j2",
            spec=spec,
            enums=[_upstream(spec.enum(name)) for name in ("Opcode", "Status")],
        ),
    }


def _nvme_kv(spec: Spec) -> str:
    command = spec.command("store")  # the others lay out the same fields, or fewer
    opcodes = _from_upstream(spec.enum("Opcode"))
    vendor = next(operation for operation in spec.operations if operation.name == _EXEC)
    _refuse_a_clash(opcodes, vendor)
    return render(
        "rocm-xio/nvme-kv.h.j2",
        spec=spec,
        sqe_bytes=SQE_BYTES,
        places=_places(command),
        opcodes=[_enumerator(f"nvme_kv_cmd_{e.short.lower()}", e) for e in opcodes],
        exec_opcode=f"{vendor.opcode:#04x}",
        key_max=command.key_max,
        key_words=len(command.of_kind(FieldKind.KEY)),
        statuses=[_define(_status(spec, short)) for short in _STATUSES],
        assignments=[f"sqe->cdw{index} = {_value(command, index)};" for index in _plain(command)],
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
    inner = f"{lead} * "
    body = textwrap.fill(
        text, COLUMNS, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False
    )
    return f"{lead}/**\n{body}\n{lead} */"
