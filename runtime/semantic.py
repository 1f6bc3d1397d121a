"""Semantic fields of a call: named values in, bits of CDW11[31:16], CDW12 and CDW13 out.

Which fields there are, and where, the module's profile says; the default one has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.arguments import integer, integers
from xiokv.runtime.description import SemanticField
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.operation import Operation

#: The dwords that may carry semantic fields, in the order of `abi.Batch.semantic`.
DWORDS = (11, 12, 13)


@dataclass(frozen=True, slots=True)
class SemanticBits:
    """Bits for one of the dwords, in place.

    Attributes:
        mask: bits that may be set.
        value: bits of every key.
        per_key: further bits of each key, or None.
    """

    mask: int = 0
    value: int = 0
    per_key: npt.NDArray[np.uint32] | None = None


NO_SEMANTIC = (SemanticBits(),) * len(DWORDS)


def per_key_dwords(fields: Sequence[SemanticField]) -> tuple[int, ...]:
    """Return the dwords that a field may give another value for each key."""
    return tuple(sorted({field.dword for field in fields if field.scope == "key"}))


def pack_semantic(
    fields: Sequence[SemanticField], command: Operation, given: Mapping[str, Any], count: int
) -> tuple[SemanticBits, ...]:
    """Pack the values of named fields.

    Args:
        fields: what the profile declares.
        command: only fields of this command are taken.
        given: an integer a field; where its scope is the key, also one a key.
        count: number of keys.

    Raises:
        ArgumentFault: there is no such field, or a value does not fit it.
    """
    if not given:
        return NO_SEMANTIC
    known = {field.name: field for field in fields if command in field.commands}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ArgumentFault(
            f"{command} has no argument or semantic field {unknown[0]!r}; the module's profile"
            f" declares {', '.join(sorted(known)) or 'none'} for it"
        )
    chosen = [(known[name], value) for name, value in given.items()]
    return tuple(
        _pack_dword([pair for pair in chosen if pair[0].dword == dword], count) for dword in DWORDS
    )


def _pack_dword(chosen: list[tuple[SemanticField, Any]], count: int) -> SemanticBits:
    mask = value = 0
    per_key: npt.NDArray[np.int64] | None = None
    for field, given in chosen:
        mask |= _max(field) << field.lsb
        if field.scope == "batch" or isinstance(given, int) or getattr(given, "ndim", None) == 0:
            value |= _one(field, given) << field.lsb
        else:
            bits = _checked(field, given, count) << field.lsb
            per_key = bits if per_key is None else per_key | bits
    return SemanticBits(mask, value, None if per_key is None else per_key.astype(np.uint32))


def _one(field: SemanticField, given: Any) -> int:
    try:
        value = integer(field.name, given)
    except ArgumentFault:
        raise ArgumentFault(
            f"{field.name} is a {type(given).__name__}; its scope is the {field.scope}: allowed is"
            f" one integer{' for all keys' if field.scope == 'batch' else ', or one a key'}"
        ) from None
    _check(field, value)
    return value


def _checked(field: SemanticField, given: Any, count: int) -> npt.NDArray[np.int64]:
    try:
        values = integers(field.name, given, count)
    except ArgumentFault as fault:
        raise ArgumentFault(f"{fault}; {_allowed(field)}") from fault
    wrong = (values < 0) | (values > _max(field))
    if wrong.any():
        _check(field, int(values[wrong.argmax()]))
    return values


def _check(field: SemanticField, value: int) -> None:
    if not 0 <= value <= _max(field):
        raise ArgumentFault(f"{field.name} = {value:#x}: {_allowed(field)}")


def _allowed(field: SemanticField) -> str:
    return f"0 to {_max(field):#x} fit its bits, CDW{field.dword}[{field.msb}:{field.lsb}]"


def _max(field: SemanticField) -> int:
    return (1 << (field.msb - field.lsb + 1)) - 1
