"""The spec file is canonical, strict, and identified by its facts alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from xiokv.codegen import ir
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.facts import (
    Constant,
    Enum,
    Enumerator,
    EnumRef,
    Facts,
    Field,
    Record,
    RecordRef,
    Scalar,
)
from xiokv.codegen.parse import parse_headers

BANNER = ir.Banner("https://example.org/spdk", "v26.05", "0" * 40, "BSD-3-Clause")
U8 = Scalar("uint8_t", 8)
SMALL = Facts(
    constants=(Constant("A", 1), Constant("B", -2)),
    enums=(Enum("e", (Enumerator("Z", 0), Enumerator("Y", 1))),),
    records=(
        Record(
            "r",
            "struct",
            8,
            4,
            (
                Field("bits", U8, 0, 3, bitfield=True),
                Field("many", Scalar("int16_t", 16, signed=True), 16, 16, (2, 0)),
                Field("", Record("", "union", 4, 4, (Field("e", EnumRef("e"), 0, 32),)), 32, 32),
                Field("s", RecordRef("s"), 64, 8),
            ),
            partial=True,
        ),
        Record("s", "struct", 1, 1, (Field("x", U8, 0, 8),)),
    ),
)
TEXT = ir.dump(SMALL, source=BANNER)


def test_facts_survive_a_round_trip() -> None:
    assert ir.load(TEXT, "spec.json") == SMALL


def test_the_facts_of_the_headers_survive_a_round_trip(headers) -> None:
    facts = parse_headers(headers)
    assert ir.load(ir.dump(facts, source=BANNER), "spec.json") == facts


def test_the_text_is_canonical() -> None:
    document = json.loads(TEXT)
    assert json.dumps(document, indent=2) + "\n" == TEXT
    assert list(document) == ["_generated", "constants", "enums", "records", "schema"]
    assert document["schema"] == "xiokv-ir/1"


def test_the_order_of_groups_does_not_show_in_the_text() -> None:
    shuffled = Facts(SMALL.constants[::-1], SMALL.enums, SMALL.records[::-1])
    assert ir.dump(shuffled, source=BANNER) == TEXT


def test_enumerators_keep_their_order() -> None:
    assert list(json.loads(TEXT)["enums"]["e"]) == ["Z", "Y"]


def test_the_banner_says_not_to_edit_and_where_the_facts_come_from() -> None:
    assert json.loads(TEXT)["_generated"] == {
        "command": "xiokv-gen fetch",
        "commit": "0" * 40,
        "license": "BSD-3-Clause",
        "notice": "Generated; do not edit.",
        "ref": "v26.05",
        "repository": "https://example.org/spdk",
    }
    assert ir.load_banner(TEXT, "spec.json") == BANNER


@pytest.mark.parametrize(
    "text",
    [
        ir.dump(SMALL, source=replace(BANNER, commit="1" * 40)),
        json.dumps(json.loads(TEXT)),
        TEXT.replace("\n", "\r\n"),
    ],
)
def test_the_identity_ignores_the_banner_and_white_space(text: str) -> None:
    assert ir.digest(text) == ir.digest(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"A": 1', '"A": 3'), ('"size": 8', '"size": 9'), ('"name": "bits"', '"name": "b"')],
)
def test_the_identity_follows_the_facts(old: str, new: str) -> None:
    assert old in TEXT
    assert ir.digest(TEXT.replace(old, new)) != ir.digest(TEXT)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "xiokv-ir/1",
            "xiokv-ir/2",
            r"spec\.json: \$\.schema: .*xiokv-ir/2 is newer than xiokv-ir/1",
        ),
        ("xiokv-ir/1", "other/1", r"\$\.schema: .*'other/1' is not xiokv-ir/1"),
        ('"constants": {', '"constant": {}, "constants": {', r"\$: .*unknown member 'constant'"),
        ('"width": 3', '"width": 3, "note": ""', r"\$\.records\.r\.fields\[0\]: .*'note'"),
        ('"size": 8', '"sice": 8', r"\$\.records\.r: .*member 'size' is missing"),
        ('"A": 1', '"A": true', r"\$\.constants\.A: .*true is not an integer"),
        ('"A": 1', '"A": 1.5', r"\$\.constants\.A: .*1\.5 is not an integer"),
        ('"A": 1', '"A": 1, "A": 2', "member 'A' occurs twice"),
        (
            '"uint8_t"',
            '"char"',
            r"\$\.records\.r\.fields\[0\]\.type: .*'char' is not an integer type",
        ),
        ('"kind": "union"', '"kind": "class"', r"fields\[2\]\.type\.kind: .*'class' is neither"),
        ('"width": 3', '"width": 0', r"\$\.records\.r\.fields\[0\]\.width: .*0 is not 1 or more"),
        ('"offset": 64', '"offset": -8', r"fields\[3\]\.offset: .*-8 is not 0 or more"),
        ('"size": 8', '"size": -1', r"\$\.records\.r\.size: .*-1 is not 0 or more"),
        ('"align": 1', '"align": 0', r"\.align: .*0 is not 1 or more"),
        ("        2,\n", "        -2,\n", r"\.dims\[0\]: .*-2 is not 0 or more"),
        ('"record": "s"', '"record": "t"', r"spec\.json: error: r\.s is of no type in the file"),
        ('"enum": "e"', '"enum": "f"', r"spec\.json: error: r\.e is of no type in the file"),
        ('"notice"', '"note"', r"\$\._generated: .*member 'notice' is missing"),
        ("{", "", r"spec\.json:\d+:\d+: error: not JSON"),
        (TEXT, "", r"spec\.json:1:1: error: not JSON"),
        (TEXT, "[]", r"spec\.json: \$: error: \[\] is not an object"),
    ],
)
def test_a_spec_file_that_is_not_sound_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(XiokvError, match=message):
        ir.load(TEXT.replace(old, new, 1), "spec.json")
