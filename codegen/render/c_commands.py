"""Views for kv_commands.h: the encoders of each command, expression by expression.

In: a finished spec. Out: signatures, comments and one assignment a dword, which the
template puts around the fixed bodies. Where a value goes is read from the spec's fields;
nothing here knows a bit number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xiokv.codegen.bits import Bits
from xiokv.codegen.render.c_text import Function, alternatives, doc, pack, signature
from xiokv.codegen.render.text import description
from xiokv.codegen.spec.model import (
    SQE_DWORDS,
    Command,
    FieldKind,
    ReservedPlace,
    SemanticField,
    Spec,
    SqeField,
)

_DWORD = Bits(31, 0)
_FREE = (FieldKind.RESERVED, FieldKind.SEMANTIC)

# Parameter -> (type, what the comment says); the order is that of every signature.
_PARAMETERS = {
    "out": ("struct xiokv_sqe *", "The entry; all 64 bytes are written, none when refused."),
    "limits": (
        "const struct xiokv_limits *",
        "What the namespace accepts; null: what the command set does.",
    ),
    "nsid": ("uint32_t ", "Namespace."),
    "packed": ("const struct xiokv_key *", "Packed key."),
    "key": ("const void *", "The key; any bytes, NUL included."),
    "key_length": ("size_t ", "Bytes of the key."),
    "value_size": ("uint64_t ", "Size of the value or buffer in bytes."),
    "options": ("uint32_t ", "Request options, 0 or any of {options}."),
    "reserved": (
        "const struct xiokv_reserved *",
        "Raw bits for the places that the command leaves reserved.",
    ),
}
_LOCALS = ("error", "trimmed")

# Parts of an entry that are a parameter of the raw encoder, of the same name.
_PASSED = (
    FieldKind.NSID,
    FieldKind.VALUE_SIZE,
    FieldKind.OPTIONS,
    FieldKind.INPUT_LENGTH,
    FieldKind.OUTPUT_SIZE,
    FieldKind.OPERATION,
)


@dataclass(frozen=True, slots=True)
class SemanticView:
    """A semantic field: its name, and its parameter, which may have another."""

    name: str
    parameter: str


@dataclass(frozen=True, slots=True)
class EncoderView:
    """One command: three encoders, each a thin layer over the one before.

    Attributes:
        symbol: the opcode's name.
        raw: takes valid input and returns the entry in registers.
        packed: checks the request; takes a packed key.
        plain: takes a key as pointer and length.
        dwords: the 16 assignments of `raw`.
        semantic: the profile's fields of this command.
        rules: assignments of what the command accepts.
        check, call_raw, call_packed: statements that call one layer from the next.
    """

    symbol: str
    raw: Function
    packed: Function
    plain: Function
    dwords: tuple[str, ...]
    semantic: tuple[SemanticView, ...]
    rules: tuple[str, ...]
    check: str
    call_raw: str
    call_packed: str


def encoder_view(command: Command, spec: Spec) -> EncoderView:
    """Return the view of one command."""
    declared = [f for f in spec.profile.fields if command.name in f.commands]
    semantic = tuple(SemanticView(field.name, _free_name(field.name)) for field in declared)
    name = f"xiokv_encode_{command.name}"
    size = ("value_size",) if command.takes_value_size else ()
    tail = (*size, *(("options",) if command.options else ()))
    return EncoderView(
        symbol=command.symbol,
        raw=_raw(command, f"{name}_raw", tail),
        packed=_checked(command, f"{name}_packed", ("packed", *tail), declared),
        plain=_checked(command, name, ("key", "key_length", *tail), declared),
        dwords=dwords(command, spec),
        semantic=semantic,
        rules=_rules(command),
        check=_check(command),
        call_raw=_call_raw(f"{name}_raw", tail),
        call_packed=_call_packed(f"{name}_packed", tail, semantic),
    )


def _free_name(name: str) -> str:
    """Return a parameter name that no other parameter and no local variable has.

    A profile may use any name that its own rules allow; C adds names of its own. An
    upper-case letter cannot stand in a profile's name, so that the result is unique.
    """
    return f"{name}_F" if name in (*_PARAMETERS, *_LOCALS) else name


def _parameters(names: tuple[str, ...]) -> list[str]:
    return [f"{_PARAMETERS[name][0]}{name}" for name in names]


def _says(names: tuple[str, ...], command: Command) -> list[str]:
    symbols = ", ".join(option.symbol for option in command.options)
    return [f"@param {name} {_PARAMETERS[name][1].format(options=symbols)}" for name in names]


def _raw(command: Command, name: str, tail: tuple[str, ...]) -> Function:
    names = ("nsid", "packed", *tail, "reserved")
    parameters = [p.replace("uint64_t", "uint32_t") for p in _parameters(names)]
    comment = doc(
        f"{command.brief} The raw form: it checks nothing.",
        "The request must be one that xiokv_check_request accepts, and the key be zero past its"
        " length, as xiokv_key_set and xiokv_key_trim leave it. CID and data pointer are 0.",
        *_says(names, command),
        "@return The entry.",
    )
    return Function(comment, signature("struct xiokv_sqe", name, parameters))


def _checked(
    command: Command, name: str, own: tuple[str, ...], declared: list[SemanticField]
) -> Function:
    names = ("out", "limits", "nsid", *own)
    parameters = [f"uint64_t {_free_name(field.name)}" for field in declared]
    comment = doc(
        command.brief,
        "CID and data pointer are 0: xiokv_sqe_set_cid and xiokv_sqe_set_prp fill them in.",
        *_says(names, command),
        *(f"@param {_free_name(f.name)} {description(f)}" for f in declared),
        "@return XIOKV_E_OK, or why the request was refused.",
    )
    return Function(comment, signature("int", name, [*_parameters(names), *parameters]))


def dwords(command: Command, spec: Spec) -> tuple[str, ...]:
    """Return the 16 assignments that make a command's entry out of its parameters."""
    places = () if command.key_in_data else spec.reserved_places
    return tuple(_dword(command, places, index) for index in range(SQE_DWORDS))


def _dword(command: Command, places: tuple[ReservedPlace, ...], index: int) -> str:
    fields = command.dword(index)
    terms = [term for field in fields for term in _terms(field, command)]
    for place in places:
        if place.dword == index and _is_free(place, fields):
            terms.append(_bits("keep", f"reserved->cdw{index}", place.bits))
    return alternatives(f"  sqe.dw[{index}] = ", terms or ["0u"], ";")


def _is_free(place: ReservedPlace, fields: tuple[SqeField, ...]) -> bool:
    return all(f.kind in _FREE for f in fields if f.bits.overlaps(place.bits))


def _terms(field: SqeField, command: Command) -> Iterator[str]:
    """Yield what a field adds to its dword; parts that are 0 until submission add nothing."""
    if field.kind is FieldKind.OPCODE:
        yield _bits("put", command.symbol, field.bits)
    elif field.value is not None:
        if field.value:
            yield _bits("put", f"{field.value:#x}u", field.bits)
    elif field.kind is FieldKind.KEY:
        yield f"packed->words[{field.part}]"
    elif field.kind is FieldKind.KEY_LENGTH:
        yield _bits("put", "packed->length", field.bits)
    elif field.kind is FieldKind.PAYLOAD_LENGTH:
        yield _bits("put", "xiokv_exec_payload_bytes(key_length, input_length)", field.bits)
    elif field.kind in _PASSED:
        yield _bits("put", field.name, field.bits)


def _bits(how: str, value: str, bits: Bits) -> str:
    if bits == _DWORD:
        return value
    return f"xiokv_bits_{how}({value}, {bits.msb}, {bits.lsb})"


def _rules(command: Command) -> tuple[str, ...]:
    options = [option.symbol for option in command.options] or ["0u"]
    sends = command.takes_value_size and command.direction == "host_to_device"
    return (
        f"    rules->key_min = {command.key_min}u;",
        f"    rules->key_max = {command.key_max}u;",
        alternatives("    rules->options = ", options, ";"),
        f"    rules->has_size = {int(command.takes_value_size)}u;",
        f"    rules->sends_value = {int(sends)}u;",
    )


def _check(command: Command) -> str:
    size = "value_size" if command.takes_value_size else "0u"
    options = "options" if command.options else "0u"
    arguments = (command.symbol, "limits", "nsid", "packed->length", size, options)
    return pack("  const int error = xiokv_check_request(", arguments, ");")


def _call_raw(name: str, tail: tuple[str, ...]) -> str:
    narrowed = [f"(uint32_t){n}" if n == "value_size" else n for n in tail]
    return pack(f"  *out = {name}(", ("nsid", "&trimmed", *narrowed, "&reserved"), ");")


def _call_packed(name: str, tail: tuple[str, ...], semantic: tuple[SemanticView, ...]) -> str:
    own = ("out", "limits", "nsid", "&packed", *tail)
    return pack(f"  return {name}(", (*own, *(view.parameter for view in semantic)), ");")
