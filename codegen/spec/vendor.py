"""The vendor command Exec as a part of the spec: its command, its opcode, its constants.

In: the facts, the rules of the Key-Value commands and those of Exec. Out: what `merge` adds
where a project asks for Exec. The opcode must be the vendor's to give and nobody else's.
"""

from __future__ import annotations

from dataclasses import replace

from xiokv.codegen.errors import SourceError
from xiokv.codegen.facts import Facts
from xiokv.codegen.semantics.commands import CommandSet
from xiokv.codegen.semantics.exec import ExecRules
from xiokv.codegen.spec.model import (
    Command,
    PublicConstant,
    PublicEnum,
    PublicEnumerator,
    SqeField,
)
from xiokv.codegen.spec.placement import shared_fields, with_semantics

# Opcodes of I/O commands that the specifications leave to vendors.
_VENDOR_OPCODES = range(0x80, 0x100)
_SYMBOL = "XIOKV_OPC_EXEC"
_OPCODES = "Opcode"


def exec_command(facts: Facts, rules: CommandSet, own: ExecRules, length: str) -> Command:
    """Return the command; `length` is what the profile chose."""
    shared = shared_fields(facts, rules, own.shared, own.opcode)
    used: tuple[SqeField, ...] = (*shared, *own.fields, own.lengths[length])
    return Command(
        name=own.name,
        opcode=own.opcode,
        symbol=_SYMBOL,
        upstream="",
        direction=own.direction,
        key_min=own.key_min,
        key_max=own.key_max,
        takes_value_size=False,
        options=(),
        fields=with_semantics(used, own.name, (), ()),
        brief=own.docs[own.name],
    )


def exec_constants(own: ExecRules) -> tuple[PublicConstant, ...]:
    """Return the limits of its key."""
    limits = {"XIOKV_EXEC_KEY_MIN_LEN": own.key_min, "XIOKV_EXEC_KEY_MAX_LEN": own.key_max}
    return tuple(PublicConstant(name, value, "", own.docs[name]) for name, value in limits.items())


def with_exec(enums: tuple[PublicEnum, ...], own: ExecRules) -> tuple[PublicEnum, ...]:
    """Add its opcode to the enum of opcodes.

    Raises:
        SourceError: a command set has that opcode, or may get it.
    """
    opcodes = next(enum for enum in enums if enum.python == _OPCODES)
    for other in opcodes.enumerators:
        if own.opcode == other.value or other.name == _SYMBOL:
            raise SourceError(
                own.origin,
                f"{own.name} has opcode {own.opcode:#04x} ({_SYMBOL}), and {other.upstream}, a"
                f" standard command, {other.value:#04x} ({other.name}); a vendor's command may"
                " not shadow it: set exec = false",
            )
    if own.opcode not in _VENDOR_OPCODES:
        raise SourceError(
            own.origin,
            f"{own.name} has opcode {own.opcode:#04x}; vendors' are"
            f" {_VENDOR_OPCODES[0]:#04x} to {_VENDOR_OPCODES[-1]:#04x}",
        )
    added = PublicEnumerator(_SYMBOL, own.name.upper(), own.opcode, "", own.docs[_SYMBOL])
    whole = replace(opcodes, enumerators=(*opcodes.enumerators, added))
    return tuple(whole if enum is opcodes else enum for enum in enums)
