"""decode: what each bit of an entry says, by entries made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen import cli

from .conftest import RETRIEVE, cqe, sqe

PROFILE = """\
schema = 1
name = "mine"
[[field]]
name = "layer"
dword = 12
bits = [7, 0]
scope = "key"
commands = ["store"]
unit = "index"
meaning = "Layer."
"""


@pytest.fixture
def fields(decode):
    """Return a function that decodes bytes and gives the fields by name."""

    def call(data: bytes, **how: Any) -> dict[str, dict[str, Any]]:
        outcome = decode("--json", data.hex(), **how)
        assert outcome.code == 0, outcome.err
        (entry,) = json.loads(outcome.out)["entries"]
        return {field["field"]: field for field in entry["fields"]}

    return call


def faults(fields: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    return {name: field["faults"] for name, field in fields.items() if field["faults"]}


@pytest.mark.parametrize(
    ("name", "bits", "value", "meaning"),
    [
        ("opcode", "CDW0[7:0]", "0x02", "retrieve: "),
        ("cid", "CDW0[31:16]", "0x0005", "5"),
        ("nsid", "CDW1[31:0]", "0x00000001", "namespace 1"),
        ("key", "CDW2..3,14..15", "6c61796572302f62" + 16 * "0", "b'layer0/b', 8 bytes"),
        ("prp1", "CDW6..7", "0x0000000000001000", "Address of the first page"),
        ("prp2", "CDW8..9", "0x0000000000002000", "Address of the second page"),
        ("value_size", "CDW10[31:0]", "0x00002000", "host buffer of 8192 bytes (8 KiB)"),
        ("key_length", "CDW11[7:0]", "0x08", "8 bytes"),
        ("options", "CDW11[15:8]", "0x01", "raw"),
        ("rsvd_cdw13", "CDW13[31:0]", "0x00000000", "reserved"),
    ],
)
def test_a_field_of_a_command(fields, name: str, bits: str, value: str, meaning: str) -> None:
    field = fields(RETRIEVE)[name]
    assert (field["bits"], field["value"], field["faults"]) == (bits, value, [])
    assert field["meaning"].startswith(meaning)


@pytest.mark.parametrize(
    ("opcode", "more", "expected"),
    [
        (0x02, {"cdw11": 0x0001_0001}, {"rsvd_cdw11": ["reserved bits are set"]}),
        (0x02, {"cdw11": 1, "cdw0": 0x402}, {"rsvd_cdw0_10": ["reserved bits are set"]}),
        (0x10, {"cdw11": 1, "cdw10": 7}, {"rsvd_cdw10": ["reserved bits are set"]}),
        (0x14, {"cdw11": 1, "cdw9": 1}, {"rsvd_cdw9": ["reserved bits are set"]}),
        (0x06, {"cdw11": 0x0100}, {"rsvd_cdw11_8": ["reserved bits are set"]}),
        (0x02, {"cdw11": 0}, {"key_length": ["allowed are 1 to 16"]}),
        (0x02, {"cdw11": 17}, {"key_length": ["allowed are 1 to 16"]}),
        (0x01, {"cdw11": 0x8001}, {"options": ["store has no option 0x80"]}),
        (0x02, {"cdw11": 1, "cdw1": 0}, {"nsid": ["a namespace is 1 or more"]}),
        (
            *(0x02, {"cdw11": 1, "cdw1": 0xFFFFFFFF}),
            {"nsid": ["Key-Value commands do not support it"]},
        ),
        (0x02, {"cdw11": 1, "cdw4": 1}, {"mptr": ["xiokv always writes 0x0 here"]}),
        (
            *(0x02, {"cdw11": 1, "cdw2": 0x4241}),
            {"key": [f"bytes after the key are not zero: 42{28 * '0'}"]},
        ),
    ],
)
def test_what_a_command_may_not_contain_is_flagged(
    fields, opcode: int, more: dict[str, int], expected: dict[str, list[str]]
) -> None:
    assert faults(fields(sqe(**{"cdw0": opcode, "cdw1": 1, **more}))) == expected


def test_a_list_without_a_start_key_is_in_order(fields) -> None:
    decoded = fields(sqe(cdw0=6, cdw1=1, cdw10=4096))
    assert faults(decoded) == {}
    assert decoded["key_length"]["meaning"] == "no key: from the first one"


def test_a_key_that_is_not_printable_is_shown_by_its_digits(fields) -> None:
    decoded = fields(sqe(cdw0=0x14, cdw1=1, cdw2=0x0000_FF00, cdw11=3))
    assert decoded["key"]["meaning"] == "00ff00h, 3 bytes"


def test_sgls_are_told_from_prps(fields) -> None:
    decoded = fields(sqe(cdw0=0x4002, cdw1=1, cdw6=0x1000, cdw8=512, cdw9=0x5A00_0000, cdw11=1))
    assert decoded["address"]["value"] == "0x0000000000001000"
    assert decoded["length"]["value"] == "0x00000200"
    assert (decoded["subtype"]["value"], decoded["type"]["value"]) == ("0xa", "0x5")
    assert "prp1" not in decoded


def test_an_opcode_that_the_spec_has_not_leaves_raw_dwords(fields, decode) -> None:
    entry = sqe(cdw0=0x0007_00C1, cdw1=3, cdw12=0xDEADBEEF)
    decoded = fields(entry)
    assert decoded["cid"]["value"] == "0x0007"
    assert decoded["cdw12"] == {
        **{"field": "cdw12", "bits": "CDW12[31:0]", "value": "0xdeadbeef"},
        **{"meaning": "", "faults": []},
    }
    assert "SQE: unknown command, opcode 0xc1; the spec has 0x01 store" in decode(entry.hex()).out


def test_every_bit_of_an_entry_is_in_one_field(fields) -> None:
    for opcode in (0x01, 0x02, 0x06, 0x10, 0x14, 0xC1):
        digits = [f["value"].removeprefix("0x") for f in fields(sqe(cdw0=opcode)).values()]
        bits = [2, 4, 2]  # of FUSE, CDW0[13:10] and PSDT, a digit each
        assert sum(4 * len(d) for d in digits) - 3 * 4 + sum(bits) == 512


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (cqe(), ("SUCCESS", "GENERIC", "not set")),
        (cqe(sc=0x87), ("KEY_DOES_NOT_EXIST", "GENERIC", "not set")),
        (cqe(sc=0x87, sct=1, dnr=1), ("KEY_DOES_NOT_EXIST", "COMMAND_SPECIFIC", "do not retry")),
        (cqe(sc=0x85, sct=1), ("INVALID_VALUE_SIZE", "COMMAND_SPECIFIC", "not set")),
        (cqe(sc=0x89, sct=1), ("KEY_EXISTS", "COMMAND_SPECIFIC", "not set")),
        (cqe(sc=0x8A, sct=1), ("unknown", "COMMAND_SPECIFIC", "not set")),
        (cqe(sc=0x82, sct=1), ("ATTEMPTED_WRITE_TO_RO_RANGE", "COMMAND_SPECIFIC", "not set")),
        (cqe(sc=0x81, sct=2), ("unknown", "MEDIA_ERROR", "not set")),
        (cqe(sc=0x01, sct=5), ("unknown", "unknown", "not set")),
    ],
)
def test_a_status_goes_by_its_names(fields, entry: bytes, expected: tuple[str, str, str]) -> None:
    decoded = fields(entry)
    name = decoded["sc"]["meaning"].partition(":")[0]
    assert (name, decoded["sct"]["meaning"], decoded["dnr"]["meaning"]) == expected


def test_the_parts_of_a_completion(fields) -> None:
    decoded = fields(cqe(12))
    shown = {name: (field["bits"], field["value"]) for name, field in decoded.items()}
    assert shown["dw0"] == ("DW0[31:0]", "0x0000000c")
    assert shown["sqid"] == ("DW2[31:16]", "0x0001")
    assert shown["cid"] == ("DW3[15:0]", "0x0005")
    assert shown["phase"] == ("DW3[16]", "0x1")


def test_reserved_bits_of_a_completion_are_a_fault(fields) -> None:
    entry = bytearray(cqe(12))
    assert faults(fields(bytes(entry))) == {}
    entry[7] = 0x80
    assert faults(fields(bytes(entry))) == {"dw1": ["reserved bits are set"]}


@pytest.fixture
def begin(project: Path):
    """Return a function that gives a project its profile, and says whether it has Exec."""

    def write(profile: str, *, has_exec: bool = False) -> Path:
        (project / "mine.toml").write_text(profile, encoding="utf-8")
        with (project / "xiokv.toml").open("a", encoding="utf-8") as config:
            config.write(f'[semantics]\nprofile = "mine.toml"\nexec = {str(has_exec).lower()}\n')
        with pytest.raises(SystemExit, match="0"):
            cli.main(["--project", str(project), "fetch"])
        return project

    return write


@pytest.mark.parametrize(
    ("unit", "meaning", "said"),
    [("index", "Layer.", "3 index: Layer."), ("", "Layer.", "3: Layer."), ("", "", "3")],
)
def test_a_projects_own_field_goes_by_its_name(
    fields, begin, unit: str, meaning: str, said: str
) -> None:
    project = begin(PROFILE.replace('"index"', f'"{unit}"').replace('"Layer."', f'"{meaning}"'))
    entry = sqe(cdw0=1, cdw1=1, cdw11=1, cdw12=0x0000_0103)
    decoded = fields(entry, project=project)
    assert decoded["layer"]["meaning"] == said
    assert faults(decoded) == {"rsvd_cdw12_8": ["reserved bits are set"]}


EXEC = sqe(cdw0=0x0005_0083, cdw1=1, cdw10=34, cdw12=512, cdw13=2)
INPUT_PROFILE = 'schema = 1\nname = "mine"\n[exec]\nlength = "input"\n'


def test_the_fields_of_exec_are_in_words(fields, begin) -> None:
    project = begin(PROFILE, has_exec=True)
    decoded = fields(EXEC, project=project)
    said = {name: field["meaning"] for name, field in decoded.items()}
    assert said["payload_length"] == "payload of 34 bytes: length of the key, key, input"
    assert said["output_size"] == "host buffer of 512 bytes"
    assert said["operation"] == "operation 2, as the controller numbers them"
    assert faults(decoded) == {}
    short = fields(sqe(cdw0=0x83, cdw1=1, cdw10=2), project=project)
    assert faults(short) == {"payload_length": ["a payload has 3 bytes or more"]}
    assert short["output_size"]["meaning"] == "no output is wanted"


def test_the_input_of_exec_alone_is_counted_where_the_profile_says_so(fields, begin) -> None:
    decoded = fields(EXEC, project=begin(INPUT_PROFILE, has_exec=True))
    said = "input of 34 bytes, which follows the key in the data"
    assert decoded["input_length"]["meaning"] == said


@pytest.mark.parametrize(
    ("dw0", "said"),
    [
        (512, "the output has 512 bytes"),
        (513, "the output has 513 bytes, truncated: the buffer had 512 bytes"),
    ],
)
def test_a_completion_of_exec_tells_the_whole_output(decode, begin, dw0: int, said: str) -> None:
    lines = [f"10 sqe 1 {EXEC.hex()}", f"20 cqe 1 {cqe(dw0).hex()}"]
    project = begin(PROFILE, has_exec=True)
    out = decode("-", stdin="\n".join(lines).encode(), project=project).out
    assert "CQE: SUCCESS of exec, CID 0x0005" in out
    assert f"{said}\n" in out


def test_exec_that_is_off_is_named_and_says_how_to_turn_it_on(decode) -> None:
    out = decode(EXEC.hex()).out
    assert "SQE: exec, opcode 0x83, a vendor's command that is off; its fields are known" in out
    assert "exec = true under [semantics]" in out


def test_a_project_that_is_broken_is_an_error(decode, tmp_path: Path) -> None:
    (tmp_path / "xiokv.toml").write_text("[output\n", encoding="utf-8")
    outcome = decode(RETRIEVE.hex())
    assert (outcome.code, outcome.out) == (1, "")
