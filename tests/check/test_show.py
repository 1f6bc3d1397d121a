"""show: each kind of thing in the spec by its names, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


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


def test_an_unknown_name_is_refused_with_the_nearest(fetched: Path, run) -> None:
    outcome = run("show", "retreive")
    assert outcome.code == 2
    assert "the spec has nothing called 'retreive'; the nearest: retrieve" in outcome.err


def test_a_semantic_field_is_shown_by_its_name(fetched: Path, run, declare) -> None:
    declare("The layer.")
    shown = run("show", "layer")
    assert (shown.code, shown.out.splitlines()) == (
        0,
        [
            "name: layer",
            "place: CDW12[7:0]",
            "profile: mine",
            "scope: batch",
            "commands: store",
            "unit: index",
            "meaning: The layer.",
        ],
    )
