"""docs.toml: one sentence, in our own words, about every public symbol.

In: the packaged file. Out: symbol -> sentence. A record's member is written
``xiokv_cpl.cid``, a command by its bare name. A symbol that is not there gets a sentence
computed from its place (`xiokv.codegen.spec.briefs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xiokv.codegen.tomlfile import Document

_PATH = Path(__file__).with_name("docs.toml")
_SECTIONS = ("commands", "constants", "enums", "enumerators", "records", "fields")


def load_docs() -> Mapping[str, str]:
    """Read the packaged docs.toml."""
    document = Document.read(_PATH, f"semantics/{_PATH.name}")
    document.root.integer("schema")
    docs = {}
    for section in _SECTIONS:
        table = document.root.table(section)
        docs.update({symbol: table.string(symbol) for symbol in table.names()})
    document.close()
    return docs
