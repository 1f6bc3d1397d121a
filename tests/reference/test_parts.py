"""Tables and pictures of the reference say what the command set has, and only that.

What is expected was written down by hand from the command set, not from the spec file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("sphinx", reason="no sphinx: pip install '.[docs]', Python 3.11")

from sphinx.errors import ExtensionError
from xiokv_reference import PARTS, Project, expand, flow, headers, sqe_picture, wire
from xiokv_reference.markdown import plain

from xiokv.codegen.bits import Bits
from xiokv.codegen.config import load_config
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.spec.model import SemanticField

Row = tuple[str, ...]
COMMANDS = ("Store", "Retrieve", "List", "Delete", "Exist")


def _rows(text: str, heading: str = "") -> list[Row]:
    """Return the rows of the tables below a heading, without code marks."""
    if heading:
        text = re.split(r"^## ", text.partition(f"## {heading}")[2], maxsplit=1, flags=re.M)[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [tuple(re.sub(r"[`\\]", "", cell) for cell in line[2:-2].split(" | ")) for line in lines]


@pytest.fixture(scope="module")
def commands(spec: Any) -> str:
    return wire.commands(spec)


CALLER = "the caller's"
EVERY_COMMAND = [
    ("0", "[9:8]", "fuse", "0x0"),
    ("0", "[15:14]", "psdt", "0x0"),
    ("0", "[31:16]", "cid", CALLER),
    ("1", "[31:0]", "nsid", CALLER),
    ("2", "[31:0]", "key bytes 0 to 3", CALLER),
    ("3", "[31:0]", "key bytes 4 to 7", CALLER),
    ("4", "[31:0]", "mptr bytes 0 to 3", "0x0"),
    ("5", "[31:0]", "mptr bytes 4 to 7", "0x0"),
    ("11", "[7:0]", "key_length", CALLER),
    ("11", "[31:16]", "rsvd_cdw11", "0x0"),
    ("12", "[31:0]", "rsvd_cdw12", "0x0"),
    ("13", "[31:0]", "rsvd_cdw13", "0x0"),
    ("14", "[31:0]", "key bytes 8 to 11", CALLER),
    ("15", "[31:0]", "key bytes 12 to 15", CALLER),
]
WITH_DATA = [
    ("6", "[31:0]", "dptr bytes 0 to 3", CALLER),
    ("9", "[31:0]", "dptr bytes 12 to 15", CALLER),
    ("10", "[31:0]", "value_size", CALLER),
]
OWN = {
    "Store": [("0", "[7:0]", "opcode", "0x1"), ("11", "[15:8]", "options", CALLER), *WITH_DATA],
    "Retrieve": [("0", "[7:0]", "opcode", "0x2"), ("11", "[15:8]", "options", CALLER), *WITH_DATA],
    "List": [("0", "[7:0]", "opcode", "0x6"), *WITH_DATA],
    "Delete": [("0", "[7:0]", "opcode", "0x10")],
    "Exist": [("0", "[7:0]", "opcode", "0x14")],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_the_fields_of_the_command_set(command: str, commands: str) -> None:
    fields = [row[:4] for row in _rows(commands, command)]
    assert [row for row in EVERY_COMMAND + OWN[command] if row not in fields] == []


@pytest.mark.parametrize("command", ["Delete", "Exist"])
def test_a_command_without_data_has_zero_there(command: str, commands: str) -> None:
    values = {row[3] for row in _rows(commands, command) if row[0] in {"6", "7", "8", "9", "10"}}
    assert values == {"0x0"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_table_covers_every_bit_once(command: str, commands: str) -> None:
    covered = []
    for dword, bits, *_ in (row for row in _rows(commands, command) if row[0].isdigit()):
        ends = [int(end) for end in bits.strip("[]").split(":")]
        covered += [(int(dword), bit) for bit in range(ends[-1], ends[0] + 1)]
    assert sorted(covered) == [(dword, bit) for dword in range(16) for bit in range(32)]


def test_options_have_their_masks(commands: str) -> None:
    store, retrieve = _rows(commands, "Store"), _rows(commands, "Retrieve")
    assert [row[:2] for row in store if row[0].startswith("0x0")] == [
        ("0x01", "XIOKV_STORE_DONT_STORE_IF_KEY_NOT_EXISTS"),
        ("0x02", "XIOKV_STORE_DONT_STORE_IF_KEY_EXISTS"),
        ("0x04", "XIOKV_STORE_DONT_COMPRESS"),
    ]
    assert [row[:2] for row in retrieve if row[0].startswith("0x0")] == [
        ("0x01", "XIOKV_RETRIEVE_RAW")
    ]
    assert "It has no options" in commands.partition("## List")[2]


def test_a_completion_has_its_parts(spec: Any) -> None:
    assert [row[:3] for row in _rows(wire.completion(spec))[2:]] == [
        ("0", "[31:0]", "dw0"),
        ("1", "[31:0]", "dw1"),
        ("2", "[15:0]", "sqhd"),
        ("2", "[31:16]", "sqid"),
        ("3", "[15:0]", "cid"),
        ("3", "[16]", "phase"),
        ("3", "[24:17]", "sc"),
        ("3", "[27:25]", "sct"),
        ("3", "[29:28]", "crd"),
        ("3", "[30]", "more"),
        ("3", "[31]", "dnr"),
    ]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("00h", "SUCCESS"),
        ("02h", "INVALID_FIELD"),
        ("81h", "CAPACITY_EXCEEDED"),
        ("82h", "NAMESPACE_NOT_READY"),
        ("83h", "RESERVATION_CONFLICT"),
        ("84h", "FORMAT_IN_PROGRESS"),
        ("85h", "INVALID_VALUE_SIZE"),
        ("86h", "INVALID_KEY_SIZE"),
        ("87h", "KEY_DOES_NOT_EXIST"),
        ("88h", "UNRECOVERED_ERROR"),
        ("89h", "KEY_EXISTS"),
    ],
)
def test_a_status_code_has_its_name(value: str, name: str, spec: Any) -> None:
    rows = _rows(wire.statuses(spec), "Status\n")
    assert (value, name, f"XIOKV_SC_{name}") in [row[:3] for row in rows]


NAMESPACE = {
    "nsze": "0 to 7",
    "nuse": "16 to 23",
    "nsfeat": "24",
    "nkvf": "25",
    "nmic": "26",
    "rescap": "27",
    "fpi": "28",
    "kvfc": "29",
    "novg": "32 to 35",
    "anagrpid": "36 to 39",
    "nsattr": "43",
    "nvmsetid": "44 to 45",
    "endgid": "46 to 47",
    "nguid[16]": "48 to 63",
    "eui64": "64 to 71",
    "kvf[16]": "72 to 327",
}
FORMAT = {"kvkml": "0 to 1", "afo": "3", "kvvml": "4 to 7", "mnks": "8 to 11"}


@pytest.mark.parametrize(
    ("record", "members"),
    [
        ("xiokv_ns_data", NAMESPACE),
        ("xiokv_format", FORMAT),
        ("xiokv_ctrlr_data", {"ver": "0 to 3"}),
    ],
)
def test_an_identify_structure_has_its_places(
    record: str, members: dict[str, str], spec: Any
) -> None:
    places = {row[2]: row[0] for row in _rows(wire.records(spec), f"{record}\n")}
    assert {name: places.get(name) for name in members} == members


def test_the_key_limits_are_1_and_16(spec: Any) -> None:
    values = {row[0]: row[2] for row in _rows(wire.constants(spec))}
    assert (values["XIOKV_KEY_MIN_LEN"], values["XIOKV_KEY_MAX_LEN"]) == ("1", "16")


LAYER = SemanticField("layer", 12, Bits(7, 0), "batch", ("store",), "index", "Layer of the model.")


@pytest.fixture
def with_layer(make_spec: Callable[..., Any]) -> Any:
    return make_spec(LAYER)


def test_a_field_of_a_profile_is_shown_where_it_lies(with_layer: Any) -> None:
    text = wire.commands(with_layer)
    said = "Layer of the model. Unit: index. One value a batch."
    assert ("12", "[7:0]", "layer", CALLER, said) in _rows(text, "Store")
    assert "layer" not in text.partition("## Retrieve")[2]
    assert "`test`, which declares `layer`" in wire.profile(with_layer)


def test_a_field_of_a_profile_is_drawn(with_layer: Any) -> None:
    assert "CDW12[7:0] layer" in sqe_picture.picture(with_layer.command("store"))
    assert "layer" not in sqe_picture.picture(with_layer.command("retrieve"))


def test_a_hostile_meaning_stays_in_its_cell(make_spec: Callable[..., Any]) -> None:
    hostile = "a | b `c` <script>alert(1)</script> [x](y) <!-- generated: flow -->"
    field = SemanticField("layer", 12, Bits(7, 0), "key", ("store",), "`|", hostile)
    (line,) = [
        line for line in wire.commands(make_spec(field)).splitlines() if "| `layer` |" in line
    ]
    assert len(re.findall(r"(?<!\\)\|", line)) == 6
    assert re.search(r"(?<!\\)[<\[]", line.partition(CALLER)[2]) is None


def test_plain_text_has_one_line() -> None:
    assert plain("a\n\n# b") == "a \\# b"


def _boxes(picture: str) -> list[Any]:
    return ElementTree.fromstring(picture).findall(".//{http://www.w3.org/2000/svg}rect")


@pytest.mark.parametrize("name", ["store", "retrieve", "list", "delete", "exist"])
def test_a_picture_covers_the_whole_entry_with_boxes(name: str, spec: Any) -> None:
    boxes = _boxes(sqe_picture.picture(spec.command(name)))
    assert len(boxes) == len(spec.command(name).fields)
    rows = {box.get("y") for box in boxes}
    assert len(rows) == 16
    for row in rows:
        assert sum(int(box.get("width")) for box in boxes if box.get("y") == row) == 32 * 22


def test_a_name_that_has_no_room_is_cut_and_told_in_full(make_spec: Callable[..., Any]) -> None:
    field = SemanticField("a_very_long_name", 12, Bits(0, 0), "batch", ("store",), "", "x.")
    drawn = sqe_picture.picture(make_spec(field).command("store"))
    assert ">a_very_long_name<" not in drawn
    assert "CDW12[0] a_very_long_name<" in drawn


def test_the_flow_has_every_stage_and_step() -> None:
    drawn = flow.picture()
    assert len(_boxes(drawn)) == len(flow.STAGES)
    assert [stage for stage in flow.STAGES if stage.name not in drawn] == []
    assert [stage for stage in flow.STAGES if stage.step not in drawn] == []


def test_pictures_are_one_block_of_html_to_markdown(spec: Any) -> None:
    for drawn in (flow.picture(), sqe_picture.picture(spec.command("store"))):
        assert "\n\n" not in drawn


def test_a_part_that_nothing_makes_is_an_error(spec: Any) -> None:
    with pytest.raises(ExtensionError, match="'tables'; there are flow, "):
        expand("# Page\n\n<!-- generated: tables -->\n", Project(None, spec))


def test_a_page_gets_its_parts(spec: Any) -> None:
    page = expand("# Page\n\n<!-- generated: flow -->\n\nEnd\n", Project(None, spec))
    assert page == f"# Page\n\n{PARTS['flow'](Project(None, spec))}\n\nEnd\n"


def test_headers_that_are_not_built_are_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "xiokv.toml").touch()
    with pytest.raises(XiokvError, match="run xiokv-gen build"):
        headers.public(load_config(str(tmp_path)).output)
