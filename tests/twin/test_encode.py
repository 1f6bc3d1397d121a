"""encode: against entries of other implementations, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.spec.model import SemanticField

VECTORS = json.loads(
    (Path(__file__).resolve().parents[1] / "data" / "kv_sqe.json").read_text(encoding="utf-8")
)["vectors"]
COMMANDS = ("store", "retrieve", "list", "delete", "exist")

LAYER = SemanticField("layer", 12, Bits(15, 4), "batch", ("store", "retrieve"), "index", "Layer.")
SHARD = SemanticField("shard", 11, Bits(31, 16), "key", ("store",), "index", "Shard.")


def _encode_vector(twin: ModuleType, vector: dict[str, Any]) -> bytes:
    return twin.encode(
        vector["command"],
        nsid=vector["nsid"],
        key=bytes.fromhex(vector["key"]),
        value_size=vector["value_size"],
        options=vector["options"],
    )


def test_entries_are_those_of_other_implementations(twin: ModuleType) -> None:
    differing = [v for v in VECTORS if _encode_vector(twin, v).hex() != v["sqe"]]
    assert len(VECTORS) > 100
    assert differing == []


@pytest.mark.parametrize("name", COMMANDS)
def test_an_opcode_and_a_name_mean_the_same(twin: ModuleType, name: str) -> None:
    by_opcode = twin.encode(twin.Opcode[name.upper()], nsid=1, key=b"k")
    assert by_opcode == twin.encode(name, nsid=1, key=b"k")


def test_a_short_key_leaves_no_stale_bytes_and_nul_counts(twin: ModuleType) -> None:
    plain, nul = (twin.encode("exist", nsid=1, key=key) for key in (b"abcd", b"abcd\0"))
    assert plain[8:16] == b"abcd\0\0\0\0"
    assert plain[56:64] == bytes(8)
    assert (plain[44], nul[44]) == (4, 5)
    assert [i for i in range(64) if plain[i] != nul[i]] == [44]


@pytest.mark.parametrize("key", [b"k", bytearray(b"k"), memoryview(b"k")])
def test_keys_may_be_anything_like_bytes(twin: ModuleType, key: object) -> None:
    assert twin.encode("exist", nsid=1, key=key)[8] == ord("k")


@pytest.mark.parametrize("size", [0, 1, 2**32 - 1])
def test_value_sizes(twin: ModuleType, size: int) -> None:
    entry = twin.encode("store", nsid=1, key=b"k", value_size=size)
    assert int.from_bytes(entry[40:44], "little") == size


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("length", [0, 1, 16, 17, 300])
def test_key_lengths(twin: ModuleType, name: str, length: int) -> None:
    if length in (1, 16) or (length == 0 and name == "list"):
        assert twin.encode(name, nsid=1, key=bytes(length))[44] == length
    else:
        allowed = "0 to 16" if name == "list" else "1 to 16"
        with pytest.raises(ValueError, match=f"key of {length} bytes: {name} takes {allowed}"):
            twin.encode(name, nsid=1, key=bytes(length))


@pytest.mark.parametrize(
    ("name", "changed", "error", "message"),
    [
        ("store", {"nsid": 0}, ValueError, "nsid = 0x0 is not allowed; 0x1 to 0xfffffffe are"),
        ("store", {"nsid": 2**32 - 1}, ValueError, "nsid = 0xffffffff is not allowed"),
        ("store", {"nsid": 1.0}, TypeError, "nsid must be an integer, not float"),
        ("store", {"key": "abc"}, TypeError, "key must be bytes, not str"),
        ("store", {"key": 7}, TypeError, "key must be bytes, not int"),
        ("store", {"value_size": 2**32}, ValueError, "value_size = 0x100000000 is not allowed"),
        ("store", {"value_size": -1}, ValueError, "value_size = -0x1 is not allowed"),
        ("delete", {"value_size": 8}, ValueError, "value_size = 8: delete takes none"),
        ("store", {"options": 8}, ValueError, "options = 0x8: store has dont_store_if_key_not_"),
        ("store", {"options": 0x100}, ValueError, "options = 0x100 is not allowed"),
        ("retrieve", {"options": 2}, ValueError, r"options = 0x2: retrieve has raw \(0x1\)"),
        ("list", {"options": 1}, ValueError, "options = 0x1: list has no options"),
        ("store", {"layer": 1}, ValueError, "'layer' is no semantic field of store; .* none"),
        ("append", {}, ValueError, r"'append' is no Key-Value command; there are store \(0x01\)"),
        (0x83, {}, ValueError, "0x83 is no Key-Value command"),
    ],
)
def test_refused(
    twin: ModuleType,
    name: int | str,
    changed: dict[str, object],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        twin.encode(name, **{"nsid": 1, "key": b"k", **changed})


def test_semantic_fields_land_in_their_bits(import_twin) -> None:
    twin = import_twin(LAYER, SHARD)
    entry = twin.encode("store", nsid=1, key=b"k", layer=0xABC, shard=0xBEEF)
    assert int.from_bytes(entry[48:52], "little") == 0xABC << 4
    assert int.from_bytes(entry[44:48], "little") == 0xBEEF << 16 | 1


def test_semantic_fields_are_zero_by_default(import_twin, twin: ModuleType) -> None:
    plain = twin.encode("store", nsid=1, key=b"k")
    assert import_twin(LAYER, SHARD).encode("store", nsid=1, key=b"k") == plain


@pytest.mark.parametrize(
    ("name", "field", "message"),
    [
        ("store", {"layer": 0x1000}, "layer = 0x1000 is not allowed; 0x0 to 0xfff are"),
        ("store", {"layer": -1}, "layer = -0x1 is not allowed"),
        ("retrieve", {"shard": 0}, "'shard' is no semantic field of retrieve; .* layer"),
        ("store", {"lyer": 0}, "'lyer' is no semantic field of store; .* layer, shard"),
    ],
)
def test_refused_semantic_fields(
    import_twin, name: str, field: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        import_twin(LAYER, SHARD).encode(name, nsid=1, key=b"k", **field)
