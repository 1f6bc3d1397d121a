"""The break-evens that the document tells are those of the data that it names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import ROOT, Tool

PAGE = ROOT / "docs" / "breakeven.md"
PREFILL = ("--flops", "989e12", "--flops", "deepseek-v3=7912e12")


@pytest.mark.parametrize(
    "name", ["breakeven-h200.json", "h200.json", "breakeven-host.json", "breakeven-rados.json"]
)
def test_break_evens_follow_from_the_data(tool: Tool, name: str) -> None:
    path: Path = ROOT / "docs" / "data" / name
    page = PAGE.read_text(encoding="utf-8")
    assert f"(data/{name})" in page
    for model in json.loads(tool("--recorded", path, *PREFILL, "--json").out)["models"]:
        counts = [even["tokens"] for even in model["break_even"]]
        cells = " | ".join("never" if count is None else f"{count:,} tokens" for count in counts)
        assert f"| {model['title']}: fetch from | {cells} |" in page
