"""JSON Schemas of the documents: types in, the files below `schemas/` out.

``python -m xiokv.runtime.kvcache.schema`` writes the files of a checkout anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from xiokv.runtime.kvcache.documents import Document
from xiokv.runtime.kvcache.manifest import Manifest
from xiokv.runtime.kvcache.plan import Plan

FOLDER = Path(__file__).parent / "schemas"
DOCUMENTS: tuple[type[Document], ...] = (Manifest, Plan)

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTES = "\n\nAttributes:\n"


def file_of(document: type[Document]) -> Path:
    """Return where the schema of a document's major version is."""
    return FOLDER / f"{document.kind}-{document.version[0]}.json"


def schema_of(document: type[Document]) -> dict[str, Any]:
    """Return the JSON Schema of a document.

    Fields that are not named may be there; what the types alone do not say, `check` does.
    """
    schema = msgspec.json.schema(document)
    for definition in schema["$defs"].values():
        _describe(definition)
    major = document.version[0]
    root = schema["$defs"][document.__name__]
    root["properties"]["schema"] = {
        "type": "string",
        "pattern": rf"^{document.kind}/{major}\.[0-9]+$",
        "description": "Kind and version of the document.",
    }
    root["required"] = sorted({"schema", *root["required"]})
    return {"$schema": _DRAFT, "$id": f"urn:{document.kind}:{major}", **schema}


def text_of(document: type[Document]) -> str:
    """Return a schema as it is written to its file."""
    return json.dumps(schema_of(document), indent=2, sort_keys=True) + "\n"


def _describe(definition: dict[str, Any]) -> None:
    """Give each field the words that the docstring of its type has for it."""
    summary, _, attributes = definition.get("description", "").partition(_ATTRIBUTES)
    definition["description"] = summary
    properties = definition.get("properties", {})
    for name, words in _attributes(attributes):
        if name in properties:
            properties[name] = {**properties[name], "description": words}


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"\n(?=    \w)", text):
        name, _, words = part.strip().partition(": ")
        yield name, " ".join(words.split())


if __name__ == "__main__":
    for each in DOCUMENTS:
        file_of(each).write_text(text_of(each), encoding="utf-8")
