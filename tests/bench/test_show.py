"""What an earlier run found, shown again: tables, JSON, charts; and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tool = Callable[..., Any]


def test_a_table_has_every_row_of_a_run(tool: Tool, saved: Path, document: dict[str, Any]) -> None:
    shown = tool("--from", saved)
    assert shown.code == 0
    assert shown.err == ""
    assert shown.out.startswith(f"processor: {document['machine']['processor']}\n")
    for row in document["rows"]:
        assert row["who"] in shown.out
    lines = [line for table in shown.out.split("\n\n")[1:] for line in table.splitlines()[2:]]
    assert len(lines) == len(document["rows"])


def test_json_of_a_saved_run_is_the_same_again(
    tool: Tool, saved: Path, document: dict[str, Any]
) -> None:
    assert json.loads(tool("--from", saved, "--json").out) == document


def test_only_chosen_tables_are_shown(tool: Tool, saved: Path) -> None:
    rows = json.loads(tool("--from", saved, "--json", "--only", "values,floor").out)["rows"]
    assert {row["table"] for row in rows} == {"values", "floor"}


def test_a_table_tells_goals_and_whether_they_were_reached(
    tool: Tool, saved: Path, document: dict[str, Any]
) -> None:
    rows = [dict(row) for row in document["rows"] if row["table"] == "values"][:2]
    rows[1]["comparisons"] = [{"beside": "CPU client", "times": 0.95, "goal": {"least": 0.9}}]
    rows[0]["goal"] = {"least": 1e15}
    saved.write_text(json.dumps({**document, "rows": rows}), encoding="utf-8")
    shown = tool("--from", saved).out
    assert "0.9x CPU client: reached" in shown
    assert "1e+06 GB/s: MISSED" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--only", "speed"], 2, "'speed' is no table; there are floor, alone, rates"),
        (["--queues", "0"], 2, "Invalid value for '--queues'"),
        (["--from", "/nowhere.json"], 2, "does not exist"),
        (["--target", "tpu"], 2, "target 'tpu': this version of xiokv has a driver for"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tool: Tool, arguments: list[str], code: int, message: str
) -> None:
    refused = tool(*arguments)
    assert refused.code == code
    assert message in refused.err.splitlines()[0]


@pytest.mark.parametrize("more", [("--quick",), ("--target", "host"), ("--queues", "2")])
def test_a_saved_run_is_not_measured_again(tool: Tool, saved: Path, more: tuple[str, ...]) -> None:
    refused = tool("--from", saved, *more)
    assert refused.code == 2
    assert "--from measures nothing" in refused.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no output of xiokv bench --json"),
        ("[]", "is no output of xiokv bench --json"),
        ('{"schema": "xiokv-bench/9"}', "schema 'xiokv-bench/9'; this version of xiokv reads"),
        (
            '{"schema": "xiokv-bench/1", "machine": {}, "setting": {}, "rows": [{}]}',
            "is no output of xiokv bench --json (KeyError('table'))",
        ),
    ],
)
def test_a_file_that_holds_no_run_is_refused(
    tool: Tool, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    refused = tool("--from", path)
    assert refused.code == 1
    assert message in refused.err


def test_charts_need_matplotlib_and_say_so(
    tool: Tool, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = tool("--from", saved, "--plot", tmp_path / "charts")
    assert refused.code == 5
    assert refused.err.splitlines() == [
        "xiokv: charts need matplotlib, which is not here; install it: pip install 'xiokv[plot]'"
    ]
    assert not (tmp_path / "charts").exists()


def test_charts_are_of_every_table_with_an_axis(
    tool: Tool, saved: Path, document: dict[str, Any], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "charts"
    drawn = tool("--from", saved, "--plot", folder)
    assert drawn.code == 0
    names = ["launch", "values", "queues", "keys", "sizes"]
    assert drawn.err.splitlines() == [f"wrote {folder / name}.svg" for name in names]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(names)
    for name in names:
        assert document["machine"]["processor"] in (folder / f"{name}.svg").read_text()


def test_the_same_run_gives_the_same_charts(tool: Tool, saved: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for folder in ("one", "two"):
        assert tool("--from", saved, "--plot", tmp_path / folder, "--only", "sizes").code == 0
    first, second = ((tmp_path / folder / "sizes.svg").read_bytes() for folder in ("one", "two"))
    assert first == second
