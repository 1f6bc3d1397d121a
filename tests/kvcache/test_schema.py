"""The published JSON Schemas, by another library's reading of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from xiokv.runtime.kvcache.documents import Document
from xiokv.runtime.kvcache.memory_storage import MemoryStorage
from xiokv.runtime.kvcache.plan import Plan
from xiokv.runtime.kvcache.schema import DOCUMENTS, file_of, text_of

from .donors import TENANT, layout, publish
from .test_manifest import WRONG as WRONG_MANIFEST
from .test_manifest import set_at
from .test_plan import FITTING, UNFITTING, plan

# What a schema cannot say, and `check` does.
BEYOND = {
    "layout.parallel.tp_rank",
    "layout.shards[1].layers",
    "blocks[2].key",
    "blocks[2].bytes",
    "part_bytes",
}


def validator(document: type[Document]) -> Draft202012Validator:
    schema = json.loads(file_of(document).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.kind)
def test_the_files_are_current(document: type[Document]) -> None:
    there = file_of(document).read_text(encoding="utf-8")
    assert there == text_of(document), "run: .venv/bin/python -m xiokv.runtime.kvcache.schema"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.kind)
def test_every_field_is_described(document: type[Document]) -> None:
    schema = json.loads(file_of(document).read_text(encoding="utf-8"))
    for name, definition in schema["$defs"].items():
        for field, value in definition.get("properties", {}).items():
            assert "description" in value or field == "kind", f"{name}.{field}"


@pytest.fixture
def manifest() -> Any:
    given = publish(MemoryStorage(TENANT), rows=2, shape=layout(100, 200), target_start=16)
    return json.loads(given.manifest.canonical)


def test_a_manifest_is_valid(manifest: Any) -> None:
    document = next(each for each in DOCUMENTS if each.kind == "xiokv-manifest")
    validator(document).validate(manifest)
    validator(document).validate({**manifest, "of a newer version": 1})
    validator(document).validate({**manifest, "schema": "xiokv-manifest/1.3"})


@pytest.mark.parametrize("path", sorted(WRONG_MANIFEST.keys() - BEYOND))
def test_a_wrong_manifest_is_not_valid(manifest: Any, path: str) -> None:
    document = next(each for each in DOCUMENTS if each.kind == "xiokv-manifest")
    wrong = set_at(manifest, path, WRONG_MANIFEST[path])
    assert not validator(document).is_valid(wrong)


def test_another_major_version_is_not_valid(manifest: Any) -> None:
    document = next(each for each in DOCUMENTS if each.kind == "xiokv-manifest")
    assert not validator(document).is_valid({**manifest, "schema": "xiokv-manifest/2.0"})


@pytest.mark.parametrize("spans", FITTING.values(), ids=FITTING)
def test_a_plan_is_valid(spans: list[Any]) -> None:
    validator(Plan).validate(json.loads(plan(*spans)))


BY_TYPE = [
    "no span",
    "a key that is none",
    "a negative position",
    "another kind",
    "no kind",
    "no donor",
    "a position too few",
]


@pytest.mark.parametrize("case", BY_TYPE)
def test_a_plan_of_wrong_types_is_not_valid(case: str) -> None:
    spans, _ = UNFITTING[case]
    assert not validator(Plan).is_valid(json.loads(plan(*spans)))
