"""What the tests of xiokv breakeven share: the tool in this process, and files for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tool import Tool, in_this_process

ROOT = Path(__file__).resolve().parents[3]
H200 = ROOT / "docs" / "data" / "h200.json"


MINE = """\
schema = 1
name = "mine"
title = "A model of mine"
source = "a table that I was given"
context = 4096
active_parameters = 1000

[attention]
kind = "grouped-query"
layers = 2
query_heads = 4
kv_heads = 2
head_dim = 8
"""


@pytest.fixture(autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Use what this checkout compiled, and no target that the caller's shell names."""


@pytest.fixture
def tool(capsys: pytest.CaptureFixture[str]) -> Tool:
    """Return what runs xiokv breakeven in this process."""
    return in_this_process(capsys, "breakeven")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Return a file that holds a geometry of one's own."""
    path = tmp_path / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    return path


@pytest.fixture
def h200() -> Path:
    """Return the benchmark that this checkout records."""
    return H200
