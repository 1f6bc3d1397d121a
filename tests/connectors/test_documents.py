"""The configurations that the documents show are ones that the connectors take."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from tests.docs.pages import ROOT, blocks_of
from xiokv.runtime.connectors import sglang, vllm
from xiokv.runtime.connectors.options import Options, read_options

PAGE = ROOT / "docs" / "connectors.md"


def shown(name: str) -> Any:
    """Return a file that the page shows."""
    (block,) = (block for block in blocks_of(PAGE) if block.tag("file") == name)
    return json.loads(block.text)


CONFIGURATIONS = {
    "hicache.json": lambda text: (text, sglang.SGLANG_OPTIONS),
    "transfer.json": lambda text: (text["kv_connector_extra_config"], ()),
    "lmcache.json": lambda text: (text["adapter_params"], ()),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_options_that_are_shown_are_taken(name: str) -> None:
    assert read_options(*CONFIGURATIONS[name](shown(name))).tenant == "team-a"


def test_every_option_is_explained() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    for field in fields(Options):
        assert any(f"`{field.name}`" in row for row in rows), field.name


@pytest.mark.parametrize(
    ("module", "name"), [(sglang, "XiokvHiCacheStorage"), (vllm, "XiokvConnector")]
)
def test_the_classes_that_are_named_need_their_server(module: Any, name: str) -> None:
    assert name in PAGE.read_text()
    with pytest.raises(ModuleNotFoundError):
        getattr(module, name)
    with pytest.raises(AttributeError):
        module.other  # noqa: B018
