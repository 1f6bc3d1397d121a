"""What an earlier run found, shown again: tables, JSON, charts; and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tool import Tool


def warnings_alone(err: str) -> bool:
    """Tell whether nothing is said but that the machine of the tests was busy."""
    return all(line.startswith("warning: load ") for line in err.splitlines())


def test_a_table_has_every_row_of_a_run(tool: Tool, saved: Path, document: dict[str, Any]) -> None:
    shown = tool("--from", saved)
    assert shown.code == 0
    assert warnings_alone(shown.err)
    assert shown.out.startswith(f"processor: {document['machine']['processor']}\n")
    for row in document["rows"]:
        assert row["who"] in shown.out
    tables = [table.splitlines()[2:] for table in shown.out.split("\n\n")[1:]]
    lines = [line for table in tables for line in table if not line.startswith("(?)")]
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


START = '{"schema": "xiokv-bench/1", "machine": {}, "setting": {}, "rows": '


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is not JSON: line 1, column 1"),
        (b"\x1b[2Jno run", "is not JSON: line 1, column 1"),
        (b"{\n 'schema'", "is not JSON: line 2, column 2"),
        (b"\xff\xfe", "is not JSON: it is no text"),
        (b"[" * 100_000, "is not JSON that can be read"),
        (b"9" * 10_000, "is not JSON that can be read"),
        (b"[]", "is a JSON text, but no object"),
        (b"{}", "has no member schema"),
        (b'{"schema": 1}', "holds what is not a text as schema"),
        (b'{"schema": "\\u001b[2J"}', "holds a control character as part of schema"),
        (b'{"schema": "xiokv-bench/1"}', "has no member rows"),
        (START.encode() + b"[]}", "holds no figure"),
        (START.encode() + b"[7]}", "has no member table in row 1"),
        (START.encode() + b"[{}]}", "has no member table in row 1"),
    ],
    ids=range(14),
)
def test_a_file_that_holds_no_run_is_refused_in_one_line(
    tool: Tool, tmp_path: Path, text: bytes, message: str
) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(text)
    refused = tool("--from", path)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == f"xiokv: {path} {message}; give what xiokv bench --json has written\n"


def test_another_schema_is_named_beside_the_one_that_is_read(tool: Tool, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"schema": "xiokv-bench/9"}', encoding="utf-8")
    assert "schema 'xiokv-bench/9'; this version of xiokv reads" in tool("--from", path).err


FACTS = {"processor": "any", "cores": 2, "load": 0.5}
ROW = {
    "table": "launch",
    "case": "1 key",
    "setting": "null controller",
    "who": "engine",
    "unit": "us",
    "x": 1,
    "samples": [2.0, 3.0, 2.5],
    "goal": None,
    "comparisons": [],
}


def kept(path: Path, *rows: dict[str, Any], **machine: Any) -> Path:
    """Write a run of some rows."""
    told = {"schema": "xiokv-bench/1", "machine": FACTS | machine, "setting": {}, "rows": rows}
    path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return path


@pytest.mark.parametrize("share", [0.1, 0.4, 0.6, 0.9])
@pytest.mark.parametrize("beyond", range(12))
def test_a_run_that_was_cut_off_ends_early(
    tool: Tool, tmp_path: Path, share: float, beyond: int
) -> None:
    path = kept(tmp_path / "run.json", ROW, ROW)
    text = path.read_text()
    text = text[: int(len(text) * share) + beyond]
    path.write_text(text)
    lines = len(text.splitlines())
    assert f"{path} ends early at line {lines};" in tool("--from", path).err


COMPARISON = {"beside": "reference", "times": 2.0, "goal": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": [float("nan")]}, "no finite number as samples in row 1"),
        ({"samples": [float("inf")]}, "no finite number as samples in row 1"),
        ({"samples": [10**400]}, "no finite number as samples in row 1"),
        ({"samples": [True]}, "no number as samples in row 1"),
        ({"samples": ["1"]}, "no number as samples in row 1"),
        ({"samples": []}, "has no sample in row 1"),
        ({"samples": 1}, "what is not a list as samples in row 1"),
        ({"x": 0}, "an x in row 1 that is not above 0"),
        ({"x": "1"}, "no number as x in row 1"),
        ({"who": 1}, "what is not a text as who in row 1"),
        ({"who": "\x1b]0;title\x07"}, "control character as part of who in row 1"),
        ({"who": "\ud800"}, "control character as part of who in row 1"),
        ({"unit": "\u202eus"}, "control character as part of unit in row 1"),
        ({"table": "speed"}, "a table in row 1 that this version does not know: speed"),
        ({"goal": 1}, "has no member least in row 1"),
        ({"goal": {"least": None}}, "no number as least in row 1"),
        ({"comparisons": [COMPARISON | {"times": float("nan")}]}, "no finite number as times"),
        ({"comparisons": [{}]}, "has no member beside in row 1"),
    ],
    ids=str,
)
def test_a_value_that_no_run_holds_is_refused_with_its_place(
    tool: Tool, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    refused = tool("--from", kept(tmp_path / "run.json", ROW | changes))
    assert (refused.code, refused.out) == (1, "")
    assert message in refused.err
    assert len(refused.err.splitlines()) == 1


@pytest.mark.parametrize("value", ["\x1b[2J", None, [], float("nan")], ids=str)
def test_facts_of_the_machine_are_checked_too(tool: Tool, tmp_path: Path, value: object) -> None:
    refused = tool("--from", kept(tmp_path / "run.json", ROW, processor=value))
    assert (refused.code, refused.out) == (1, "")
    assert "processor" in refused.err


@pytest.mark.parametrize(
    ("load", "cores", "warned"), [(10.0, 2, True), (2.0, 2, False), (10.0, 64, False)]
)
def test_a_load_above_the_cores_is_warned_of(
    tool: Tool, tmp_path: Path, load: float, cores: int, warned: bool
) -> None:
    path = kept(tmp_path / "run.json", ROW, load=load, system_cores=cores)
    err = tool("--from", path).err
    assert err.startswith("warning: load 10.0 on 2 cores: ") is warned
    assert bool(err) is warned


@pytest.mark.parametrize(
    ("other", "own", "marked"),
    [
        ([1, 2, 3], [1, 2, 3], False),
        ([1, 2, 3.1], [2, 2, 2], True),
        ([2, 2, 2], [1, 2, 600], True),
        ([0, 2, 2], [2, 2, 2], True),
    ],
)
def test_a_ratio_is_marked_where_samples_of_either_lie_far_apart(
    tool: Tool, tmp_path: Path, other: list[float], own: list[float], marked: bool
) -> None:
    beside = ROW | {"who": "reference", "samples": other}
    mine = ROW | {"samples": own, "comparisons": [COMPARISON | {"goal": {"least": 1}}]}
    out = tool("--from", kept(tmp_path / "run.json", beside, mine)).out
    assert ("2x(?) reference" in out) is marked
    assert ("1x reference: reached(?)" in out) is marked
    assert ("2x reference" in out) is not marked
    assert ("(?) samples of one side lie more than 3-fold apart" in out) is marked


def test_a_table_that_a_run_has_not_is_told(tool: Tool, tmp_path: Path) -> None:
    path = kept(tmp_path / "run.json", ROW)
    refused = tool("--from", path, "--only", "values,launch")
    assert (refused.code, refused.out) == (2, "")
    assert f"{path} has no table values; it has launch" in refused.err


def test_a_chart_of_tables_without_one_is_told(tool: Tool, tmp_path: Path) -> None:
    path = kept(tmp_path / "run.json", ROW | {"table": "floor"})
    refused = tool("--from", path, "--plot", tmp_path / "charts")
    assert (refused.code, refused.out) == (2, "")
    assert "--plot: nothing to draw of floor; there are charts of launch" in refused.err
    assert not (tmp_path / "charts").exists()


def test_a_chart_of_rows_without_a_place_is_told(tool: Tool, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = kept(tmp_path / "run.json", ROW | {"x": None})
    refused = tool("--from", path, "--plot", tmp_path / "charts")
    assert refused.code == 1
    assert "--plot: nothing to draw" in refused.err
    assert not (tmp_path / "charts").exists()


def test_an_empty_name_is_no_folder_for_charts(tool: Tool, tmp_path: Path) -> None:
    refused = tool("--from", kept(tmp_path / "run.json", ROW), "--plot", "")
    assert (refused.code, refused.out) == (2, "")
    assert "an empty name is no folder" in refused.err.splitlines()[0]


def test_a_table_of_a_gpu_is_not_measured_on_the_host_and_says_so(tool: Tool) -> None:
    refused = tool("--target", "host", "--only", "device")
    assert (refused.code, refused.out) == (2, "")
    told = "table device needs a GPU, and the target is host"
    assert refused.err.splitlines()[0] == f"xiokv: nothing to measure: {told}"
    done = tool("--target", "host", "--quick", "--only", "device,floor")
    assert done.code == 0
    assert f"warning: {told}: left out" in done.err.splitlines()


def test_charts_need_matplotlib_and_say_so(
    tool: Tool, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = tool("--from", saved, "--plot", tmp_path / "charts")
    assert refused.code == 5
    assert [line for line in refused.err.splitlines() if not warnings_alone(line)] == [
        "xiokv: charts need matplotlib, which is not here; install it:"
        " pip install 'matplotlib>=3.7'"
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
    wrote = [line for line in drawn.err.splitlines() if not warnings_alone(line)]
    assert wrote == [f"wrote {folder / name}.svg" for name in names]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(names)
    for name in names:
        assert document["machine"]["processor"] in (folder / f"{name}.svg").read_text()


def test_the_same_run_gives_the_same_charts(tool: Tool, saved: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for folder in ("one", "two"):
        assert tool("--from", saved, "--plot", tmp_path / folder, "--only", "sizes").code == 0
    first, second = ((tmp_path / folder / "sizes.svg").read_bytes() for folder in ("one", "two"))
    assert first == second
