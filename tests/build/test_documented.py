"""docs/gpu-modules.md against the module.json that it describes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import toolchain

from .conftest import ROOT, described

PAGE = (ROOT / "docs" / "gpu-modules.md").read_text(encoding="utf-8")
SECTION = PAGE.split("\n## module.json\n")[1].split("\n## ")[0]
FIRST_CELL = re.compile(r"^\| (`.*?) \|", re.MULTILINE)
EXPLAINED = {name for cell in FIRST_CELL.findall(SECTION) for name in re.findall(r"`(\w+)`", cell)}


def members(document: dict[str, Any]) -> Iterator[str]:
    yield from document
    for image in document["images"]:
        yield from image
        for figures in image["kernels"].values():
            yield from figures


@pytest.fixture(scope="module")
def host(shared: Path) -> Path:
    recipe = toolchain.host_recipe(ROOT / "generated", "0")
    return toolchain.build(recipe, shared / "host").parent


@pytest.mark.parametrize("module", ["whole", "host"])
def test_every_member_is_explained(module: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(module)
    assert sorted(set(members(described(folder))) - EXPLAINED) == []


def test_the_host_has_no_figures(host: Path) -> None:
    assert [image["kernels"] for image in described(host)["images"]] == [{}]
    assert "`{}` for the host and for PTX" in SECTION
