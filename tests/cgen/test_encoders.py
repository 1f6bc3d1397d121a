"""The C encoders: the golden vectors, what they refuse, and what they never write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

_DATA = Path(__file__).parents[1] / "data" / "kv_sqe.json"
VECTORS = json.loads(_DATA.read_text(encoding="utf-8"))["vectors"]
COMMANDS = ("store", "retrieve", "list", "delete", "exist")
SIZED = ("store", "retrieve", "list")
POISON = b"\xa5" * 64


def arguments(vector: dict[str, Any]) -> dict[str, Any]:
    """Return a vector's inputs as an encoder of the shim takes them."""
    given = {name: vector[name] for name in ("nsid", "value_size", "options")}
    return {**given, "key": bytes.fromhex(vector["key"])}


def test_the_encoders_agree_with_the_golden_vectors(shim: Any) -> None:
    for vector in VECTORS:
        error, entry = shim.encode(vector["command"], **arguments(vector))
        assert (error, entry.hex()) == ("OK", vector["sqe"]), vector


def test_the_packed_encoders_agree_with_the_golden_vectors(shim: Any) -> None:
    for vector in VECTORS:
        error, entry = shim.packed(vector["command"], **arguments(vector))
        assert (error, entry.hex()) == ("OK", vector["sqe"]), vector


def test_the_raw_encoders_agree_with_the_golden_vectors(shim: Any) -> None:
    for vector in VECTORS:
        entry = shim.raw(vector["command"], **arguments(vector))
        assert entry.hex() == vector["sqe"], vector


@pytest.mark.parametrize("command", COMMANDS)
def test_every_key_length_of_a_queue_entry_is_accepted(shim: Any, command: str) -> None:
    for length in range(1, 17):
        key = bytes(range(200, 200 + length))
        error, entry = shim.encode(command, key=key)
        assert (error, entry[44]) == ("OK", length)
        assert entry[8:16] + entry[56:64] == key.ljust(16, b"\0"), length


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    *((command, {"key": b""}, "KEY_LENGTH") for command in COMMANDS if command != "list"),
    *((command, {"key": bytes(17)}, "KEY_LENGTH") for command in COMMANDS),
    # 300 is 44 in eight bits; 2^32 + 4 is 4 in 32.
    *((command, {"key": bytes(300)}, "KEY_LENGTH") for command in COMMANDS),
    *((command, {"key_length": 2**32 + 4}, "KEY_LENGTH") for command in COMMANDS),
    *((command, {"nsid": nsid}, "NSID") for command in COMMANDS for nsid in (0, 0xFFFFFFFF)),
    *((command, {"value_size": 2**32}, "VALUE_SIZE") for command in SIZED),
    ("store", {"options": 8}, "OPTIONS"),
    ("store", {"options": 0x100}, "OPTIONS"),
    ("retrieve", {"options": 2}, "OPTIONS"),
    ("store", {"value_size": 1001, "limits": (16, 1000, 0)}, "VALUE_SIZE"),
    ("store", {"value_size": 2**32 + 5, "limits": (16, 1000, 0)}, "VALUE_SIZE"),
    ("store", {"value_size": 8193, "limits": (16, 2**32, 8192)}, "VALUE_SIZE"),
    ("retrieve", {"value_size": 8193, "limits": (16, 1000, 8192)}, "VALUE_SIZE"),
    ("exist", {"key": bytes(9), "limits": (8, 1000, 0)}, "KEY_LENGTH"),
]


@pytest.mark.parametrize(("command", "given", "expected"), REFUSED)
def test_a_refused_request_leaves_the_entry_alone(
    shim: Any, command: str, given: dict[str, Any], expected: str
) -> None:
    assert shim.encode(command, **given) == (expected, POISON)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("list", {"key": b""}),
        *((command, {"value_size": size}) for command in SIZED for size in (0, 2**32 - 1)),
        ("store", {"options": 7}),
        ("retrieve", {"options": 1}),
        ("store", {"nsid": 0xFFFFFFFE}),
        ("store", {"value_size": 1000, "limits": (16, 1000, 1000)}),
        # A buffer may be larger than any value; only the transfer limits it.
        ("retrieve", {"value_size": 8192, "limits": (16, 1000, 8192)}),
    ],
)
def test_what_lies_at_a_limit_is_accepted(shim: Any, command: str, given: dict[str, Any]) -> None:
    error, entry = shim.encode(command, **given)
    size = int.from_bytes(entry[40:44], "little")
    assert (error, size) == ("OK", given.get("value_size", 0))


def test_keys_that_differ_by_a_trailing_nul_differ_in_length(shim: Any) -> None:
    shorter = shim.encode("retrieve", key=b"abcd")[1]
    longer = shim.encode("retrieve", key=b"abcd\0")[1]
    pairs = enumerate(zip(shorter, longer, strict=True))
    assert [(i, *pair) for i, pair in pairs if pair[0] != pair[1]] == [(44, 4, 5)]
