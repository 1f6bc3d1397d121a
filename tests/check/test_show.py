"""show: each kind of thing in the spec by its names, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xiokv.codegen import cli


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("store", "CDW11[15:8]   options       options"),
        ("XIOKV_OPC_STORE", "opcode: 0x01"),
        ("xiokv_cpl", "12          cid"),
        ("xiokv_status", "1     [3:1]"),
        ("Status", "XIOKV_SC_KEY_DOES_NOT_EXIST"),
        ("xiokv_opcode", "XIOKV_OPC_EXIST     0x14"),
        ("XIOKV_KEY_MAX_LEN", "value: 16"),
        ("rsvd_cdw11", "place: CDW11[31:16]"),
        ("rsvd_cdw10", "delete   CDW10[31:0]  0x0"),
        ("key_length", "retrieve  CDW11[7:0]"),
        ("KEY_DOES_NOT_EXIST", "python: Status.KEY_DOES_NOT_EXIST"),
        ("XIOKV_SC_KEY_EXISTS", "value: 0x89"),
        ("SPDK_NVME_SC_KEY_EXISTS", "value: 0x89"),
        ("XIOKV_STORE_DONT_COMPRESS", "value: 0x04"),
        ("Retrieve", "opcode: 0x02"),
        ("STORE", "opcode: 0x01"),
        ("SPDK_NVME_OPC_KV_STORE", "opcode: 0x01"),
        ("xiokv_cmd.cid", "brief: Command identifier"),
        ("0x87", "XIOKV_SC_KEY_DOES_NOT_EXIST"),
        ("87h", "XIOKV_SC_KEY_DOES_NOT_EXIST"),
        ("20", "XIOKV_OPC_EXIST"),
        ("nvme_kv_cmd_store", "value: 0x01"),
        ("NVME_KV_SC_KEY_EXISTS", "value: 0x89"),
        ("NVME_KV_KEY_MAX_LEN", "value: 16"),
    ],
)
def test_text(fetched: Path, run, name: str, line: str) -> None:
    outcome = run("show", name)
    assert outcome.code == 0, outcome.err
    assert line in outcome.out


def test_json(fetched: Path, run) -> None:
    shown = json.loads(run("show", "exist", "--json").out)
    assert shown["about"]["opcode"] == "0x14"
    assert {"CDW1[31:0]", "CDW13[31:0]"} <= {row["place"] for row in shown["rows"]}


def test_a_reserved_place_shows_the_fields_that_a_profile_puts_there(
    fetched: Path, run, declare
) -> None:
    declare("\\u001b[31mLayer.")
    out = run("show", "rsvd_cdw12").out
    assert "CDW12[7:0]  layer  batch  store     index" in out
    assert "\x1b" not in out


def test_a_field_of_a_profile_goes_by_its_name(fetched: Path, run, declare) -> None:
    declare("Layer of the model.")
    out = run("show", "layer").out
    assert "meaning: Layer of the model." in out
    assert "store    CDW12[7:0]         mine.toml" in out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("retreive", "the spec has nothing called 'retreive'; the nearest: retrieve"),
        ("kvkml", "the nearest: xiokv_format.kvkml"),
        ("DOES_NOT_EXIST", "XIOKV_SC_KEY_DOES_NOT_EXIST"),
        ("qqqq", "such as retrieve, Status, xiokv_cpl or 0x87"),
        ("", "the spec has nothing called ''"),
        ("0xdead", "the spec has no name for the value 0xdead"),
        ("\x1b[31m", "'\\x1b[31m'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    fetched: Path, run, name: str, said: str
) -> None:
    outcome = run("show", name)
    assert outcome.code == 2
    assert said in outcome.err


def test_a_semantic_field_is_shown_by_its_name(fetched: Path, run, declare) -> None:
    declare("The layer.")
    shown = run("show", "layer")
    about, table = shown.out.split("\n\n")
    assert shown.code == 0
    assert about.splitlines() == [
        "name: layer",
        "kind: semantic",
        "profile: mine",
        "scope: batch",
        "unit: index",
        "meaning: The layer.",
    ]
    assert table.splitlines()[1].split() == ["store", "CDW12[7:0]", "mine.toml:4"]


EXEC_NAMES = ("exec", "EXEC", "XIOKV_OPC_EXEC", "XIOKV_EXEC_KEY_MAX_LEN", "payload_length")


@pytest.mark.parametrize("name", EXEC_NAMES)
def test_what_is_of_exec_says_how_to_turn_it_on_and_then_is_there(
    fetched: Path, run, name: str
) -> None:
    off = run("show", name)
    assert off.code == 2
    assert off.err.splitlines() == [
        f"xiokv-gen: {name!r} is of the vendor command exec, which is off: write exec = true under"
        " [semantics] in the xiokv.toml of a project"
    ]
    with (fetched / "xiokv.toml").open("a", encoding="utf-8") as config:
        config.write("[semantics]\nexec = true\n")
    assert run("show", name).code == 0


def test_without_a_project_the_bundled_spec_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="0"):
        cli.main(["show", "store"])
    assert "opcode: 0x01" in capsys.readouterr().out
