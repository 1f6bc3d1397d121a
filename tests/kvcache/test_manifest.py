"""The manifest as a document: what is read, what is refused, and how its bytes are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from xiokv.runtime.kvcache.documents import DocumentFault
from xiokv.runtime.kvcache.keyspace import layout_id
from xiokv.runtime.kvcache.manifest import Manifest
from xiokv.runtime.kvcache.memory_storage import MemoryStorage

from .donors import TENANT, layout, publish


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return publish(MemoryStorage(TENANT), rows=2, shape=layout(100, 200)).manifest


@pytest.fixture
def document(manifest: Manifest) -> Any:
    """The manifest as JSON has it, to be spoilt."""
    return json.loads(manifest.canonical)


def set_at(document: Any, path: str, value: Any) -> Any:
    """Set a field that is named as messages name it, and return the document."""
    *parents, last = path.replace("[", ".[").split(".")
    place = document
    for name in parents:
        place = place[int(name[1:-1])] if name.startswith("[") else place.setdefault(name, {})
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document


def test_bytes_are_canonical(manifest: Manifest, document: Any) -> None:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert manifest.canonical == text.encode()
    assert manifest.digest == hashlib.blake2b(text.encode(), digest_size=32).digest()


SAME: dict[str, Callable[[Any], Any]] = {
    "other order and spaces": lambda given: dict(reversed(given.items())),
    "a number with a fraction of 0": lambda given: set_at(given, "layout.rope.base", 500000.0),
    "a default written out": lambda given: set_at(given, "layout.parallel.shard", "contiguous"),
    "an unknown field": lambda given: set_at(given, "colour", {"of": "another version"}),
    "an unknown field of a block": lambda given: set_at(given, "blocks[0].colour", 1),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_the_same_content_has_the_same_bytes(
    manifest: Manifest, document: Any, change: Callable[[Any], Any]
) -> None:
    read = Manifest.from_json(json.dumps(change(document), indent=1))
    assert read.canonical == manifest.canonical


def test_a_newer_minor_version_is_read(document: Any) -> None:
    document["schema"] = "xiokv-manifest/1.7"
    assert Manifest.from_json(json.dumps(document)).schema == "xiokv-manifest/1.7"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("xiokv-manifest/2.0", "another major version; this xiokv reads xiokv-manifest 1.x"),
        ("xiokv-manifest/0.9", "another major version"),
        ("xiokv-plan/1.0", "allowed is 'xiokv-manifest/1.0'"),
        ("xiokv-manifest/1", "allowed is 'xiokv-manifest/1.0'"),
        (7, "schema: 7 is seen"),
        (None, "schema: None is seen"),
    ],
)
def test_another_schema_is_refused(document: Any, schema: Any, said: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        Manifest.from_json(json.dumps(set_at(document, "schema", schema)))
    assert said in str(fault.value)


WRONG = {
    "donor": "",
    "tenant": 5,
    "generation": -1,
    "source": [0],
    "checksum": "md5",
    "layout.block_tokens": 0,
    "layout.dtype": None,
    "layout.model": None,
    "layout.model.tokenizer_hash": "",
    "layout.rope.base": "10000",
    "layout.heads.kv_heads": 1.5,
    "layout.parallel.tp_rank": 2,
    "layout.shards": [],
    "layout.shards[1].tensors": "q",
    "layout.shards[1].layers": [4, 4],
    "layout.shards[1].bytes": 0,
    "blocks[2].key": "00" * 16,
    "blocks[2].digest": "0" * 63,
    "blocks[2].checksum": "00" * 15 + "0\n",
    "blocks[2].content": "zz" * 16,
    "blocks[2].bytes": 300,
    "storage": [{"kind": "nvme-kv"}],
    "part_bytes": 6,
}


@pytest.mark.parametrize(("path", "value"), WRONG.items(), ids=WRONG)
def test_a_wrong_field_is_named(document: Any, path: str, value: Any) -> None:
    with pytest.raises(DocumentFault) as fault:
        Manifest.from_json(json.dumps(set_at(document, path, value)))
    first = str(fault.value).splitlines()[0]
    assert path in first or path.rpartition(".")[2] in first, first


CONTRADICTIONS = {
    "source of no whole blocks": ("source", [0, 40], "source: [0, 40) is not made of whole blocks"),
    "source that ends first": ("source", [64, 32], "source: [64, 32) ends before it begins"),
    "more tokens than blocks": ("source", [0, 48], "blocks: 4 are there; source [0, 48)"),
    "a target of another length": ("target", [0, 16], "target: [0, 16) is not as long"),
    "a layer in two shards": ("layout.shards[1].layers", [0, 2], "layout.shards[1]: k of layer 0"),
}


@pytest.mark.parametrize(("path", "value", "said"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_what_contradicts_itself_is_told(document: Any, path: str, value: Any, said: str) -> None:
    with pytest.raises(DocumentFault) as fault:
        Manifest.from_json(json.dumps(set_at(document, path, value)))
    assert said in str(fault.value)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'{"schema": "xiokv-manifest/1.0"}'])
def test_what_is_no_manifest_is_refused(text: bytes) -> None:
    with pytest.raises(DocumentFault, match=r"xiokv-manifest|schema"):
        Manifest.from_json(text)


def test_only_the_first_of_many_faults_are_told(document: Any) -> None:
    for block in document["blocks"]:
        block["bytes"] = 1
        block["key"] = "11" * 16
    with pytest.raises(DocumentFault) as fault:
        Manifest.from_json(json.dumps(document))
    assert str(fault.value).splitlines()[-1] == "and 3 more"


class TestLayoutId:
    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("model.id", "another"),
            ("model.tokenizer_hash", "another"),
            ("model.chat_template_hash", "another"),
            ("rope.base", 10000),
            ("rope.scaling", {"type": "yarn", "factor": 4}),
            ("dtype", "float16"),
            ("order", "another"),
            ("block_tokens", 8),
            ("heads.kv_heads", 4),
            ("parallel.tp_rank", 1),
            ("parallel.tp_size", 4),
        ],
    )
    def test_every_field_counts(self, document: Any, path: str, value: Any) -> None:
        ids = {layout_id_of(document["layout"])}
        set_at(document["layout"], path, value)
        ids.add(layout_id_of(document["layout"]))
        assert len(ids) == 2

    def test_shards_have_ids_of_their_own(self) -> None:
        shape = layout(100, 100)
        assert layout_id(shape, shape.shards[0]) != layout_id(shape, shape.shards[1])

    def test_other_shards_do_not_count(self) -> None:
        alone, beside = layout(100), layout(100, 200)
        assert layout_id(alone, alone.shards[0]) == layout_id(beside, beside.shards[0])


def layout_id_of(values: Any) -> bytes:
    from msgspec import convert

    from xiokv.runtime.kvcache.manifest import KvLayout

    read = convert(values, KvLayout)
    return layout_id(read, read.shards[0])


HOSTILE = {
    "nested without end": '{"schema":' + "[" * 200_000,
    "nested in an unknown field": '{"schema":"xiokv-manifest/1.0","x":' + "[" * 200_000,
    "half of a surrogate pair": '{"schema":"xiokv-manifest/1.0","x":"\ud800"}',
    "half of a pair, escaped": r'{"schema":"xiokv-manifest/1.0","donor":"\ud800"}',
    "no UTF-8": b'{"schema":"xiokv-manifest/1.0","donor":"\xff"}',
    "NUL": b"\0",
    "NaN": '{"schema":"xiokv-manifest/1.0","generation":NaN}',
    "a number of many digits": '{"schema":"xiokv-manifest/1.0","generation":' + "9" * 5000 + "}",
    "a long schema": '{"schema":"' + "x" * 10_000_000 + '"}',
    "a long algorithm": '{"schema":"xiokv-manifest/1.0","checksum":"' + "x" * 10_000_000 + '"}',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_refused_in_few_words(text: Any) -> None:
    with pytest.raises(DocumentFault) as fault:
        Manifest.from_json(text)
    assert len(str(fault.value)) < 1000


@pytest.mark.parametrize("factor", [1e20, 1e300, 10**30, -0.0, 0.5])
def test_numbers_of_any_size_have_one_form(document: Any, factor: float) -> None:
    set_at(document, "layout.rope.scaling", {"factor": factor})
    read = Manifest.from_json(json.dumps(document))
    assert Manifest.from_json(read.canonical).canonical == read.canonical
