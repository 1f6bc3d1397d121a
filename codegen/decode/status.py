"""Names of statuses: a status code type and a code to what the spec calls them."""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.spec.model import PublicEnum, PublicEnumerator, Spec

# The Python names of the enums that hold the codes of a type. The spec has no others.
_CODES = {"GENERIC": "Status", "COMMAND_SPECIFIC": "CommandStatus"}
# Codes that some controllers report with the type COMMAND_SPECIFIC, the first and the last.
_EITHER_TYPE = ("INVALID_VALUE_SIZE", "KEY_EXISTS")


@dataclass(frozen=True, slots=True)
class StatusName:
    """The name of a status, and a sentence about it."""

    name: str
    brief: str = ""


def status_type(spec: Spec, sct: int) -> str:
    """Return the name of a status code type, "unknown" where the spec has none."""
    found = _by_value(spec.enum("StatusType"), sct)
    return found.short if found else "unknown"


def status_name(spec: Spec, sct: int, sc: int) -> StatusName:
    """Return the name of a status."""
    kind = status_type(spec, sct)
    found = _by_value(spec.enum(_CODES[kind]), sc) if kind in _CODES else None
    if found:
        return StatusName(found.short, found.brief)
    generic = spec.enum("Status")
    if kind == "COMMAND_SPECIFIC" and sc in _either_type(generic):
        found = _by_value(generic, sc)
        if found:
            return StatusName(found.short, f"{found.brief} NVMe gives it the type GENERIC.")
    return StatusName("unknown", f"The spec has no name for code {sc:#04x} of type {kind}.")


def _by_value(enum: PublicEnum, value: int) -> PublicEnumerator | None:
    return next((e for e in enum.enumerators if e.value == value), None)


def _either_type(generic: PublicEnum) -> range:
    ends = [e.value for e in generic.enumerators if e.short in _EITHER_TYPE]
    return range(min(ends), max(ends) + 1) if ends else range(0)
