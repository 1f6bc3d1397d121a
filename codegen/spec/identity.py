"""Identities: hashes that tell one spec from another.

`facts` is the SHA-256 of the spec file. `spec` covers facts, commands and profile, as far
as they reach the wire or the names in use: neither texts nor places in files count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from enum import Enum
from typing import Any

from xiokv.codegen.spec.model import Command, Identity, Profile

# What a profile chooses of Exec is in the command.
_NOT_COUNTED = {"brief", "meaning", "unit", "source", "exec_length"}


def identify(facts_sha256: str, commands: Iterable[Command], profile: Profile) -> Identity:
    """Return the identity of a spec."""
    content = {
        "facts": facts_sha256,
        "commands": [_counted(asdict(command)) for command in commands],
        "profile": _counted(asdict(profile)),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return Identity(facts_sha256, hashlib.sha256(text.encode()).hexdigest())


def _counted(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _counted(v) for k, v in value.items() if k not in _NOT_COUNTED}
    if isinstance(value, (list, tuple)):
        return [_counted(item) for item in value]
    return value.value if isinstance(value, Enum) else value
