"""Decoders, against bytes written by hand."""

from __future__ import annotations

import struct
from types import ModuleType

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.spec.model import SemanticField

LAYER = SemanticField("layer", 12, Bits(15, 4), "batch", ("store",), "index", "Layer.")


def _entry(**dwords: int) -> bytes:
    """Return an Exist entry for key ``abc`` with some dwords replaced."""
    words = [0] * 16
    words[0], words[1], words[2], words[11] = 0x14, 1, int.from_bytes(b"abc", "little"), 3
    for name, value in dwords.items():
        words[int(name.removeprefix("cdw"))] = value
    return struct.pack("<16I", *words)


def test_every_part_of_a_command_is_read(twin: ModuleType) -> None:
    entry = bytes.fromhex(
        "01c0 3412"  # Store, FUSE 0, PSDT 3, CID 1234h
        "78563412"  # NSID
        "4142434445464748"  # key bytes 0..7
        "0000000000000000"  # MPTR
        "00100000 01000000 00200000 02000000"  # PRP1, PRP2
        "00400000"  # value size
        "0a 05 0000"  # key length 10, options 5
        "00000000 00000000"
        "494a000000000000"  # key bytes 8..15
    )
    command = twin.decode_command(entry)
    assert (command.name, command.opcode, command.psdt, command.cid) == ("store", 1, 3, 0x1234)
    assert (command.nsid, command.key, command.key_length) == (0x12345678, b"ABCDEFGHIJ", 10)
    assert (command.prp1, command.prp2) == (0x100001000, 0x200002000)
    assert (command.value_size, command.options, command.faults) == (0x4000, 5, ())


@pytest.mark.parametrize(
    ("dwords", "fault"),
    [
        ({"cdw0": 0x14 | 0xF << 10}, "rsvd_cdw0_10 (CDW0[13:10]) is 0xf, and is reserved: 0"),
        ({"cdw6": 1}, "rsvd_cdw6 (CDW6[31:0]) is 0x1, and is reserved: 0"),
        ({"cdw10": 4096}, "rsvd_cdw10 (CDW10[31:0]) is 0x1000, and is reserved: 0"),
        ({"cdw11": 0x103}, "rsvd_cdw11_8 (CDW11[15:8]) is 0x1, and is reserved: 0"),
        ({"cdw11": 0x10003}, "rsvd_cdw11 (CDW11[31:16]) is 0x1, and is reserved: 0"),
        ({"cdw12": 2}, "rsvd_cdw12 (CDW12[31:0]) is 0x2, and is reserved: 0"),
        ({"cdw13": 2}, "rsvd_cdw13 (CDW13[31:0]) is 0x2, and is reserved: 0"),
        ({"cdw15": 1}, "bytes of the key field past the key length, 3, are not zero"),
        ({"cdw11": 0, "cdw2": 0}, "key length 0: exist takes 1 to 16"),
        ({"cdw11": 17}, "key length 17: exist takes 1 to 16"),
        ({"cdw1": 0}, "nsid 0x0: 0x1 to 0xfffffffe are allowed"),
        ({"cdw1": 0xFFFFFFFF}, "nsid 0xffffffff: 0x1 to 0xfffffffe are allowed"),
        ({"cdw0": 0x02, "cdw11": 0x203}, "options 0x02: only 0x01 are defined"),
    ],
)
def test_what_a_command_may_not_contain_is_flagged(
    twin: ModuleType, dwords: dict[str, int], fault: str
) -> None:
    assert twin.decode_command(_entry(**dwords)).faults == (fault,)


def test_a_clean_command_has_no_fault(twin: ModuleType) -> None:
    assert twin.decode_command(_entry()).faults == ()


def test_semantic_fields_are_read(import_twin) -> None:
    command = import_twin(LAYER).decode_command(_entry(cdw0=0x01, cdw12=0xABC << 4 | 1))
    assert command.semantic == {"layer": 0xABC}
    assert command.faults == ("rsvd_cdw12_0 (CDW12[3:0]) is 0x1, and is reserved: 0",)


def test_an_unknown_opcode_is_refused(twin: ModuleType) -> None:
    with pytest.raises(ValueError, match="0x83 is no Key-Value command; there are store"):
        twin.decode_command(_entry(cdw0=0x83))


def _completion(status: int, dw0: int = 0) -> bytes:
    return struct.pack("<IIHHHH", dw0, 0, 5, 6, 0x1234, status)


def test_every_part_of_a_completion_is_read(twin: ModuleType) -> None:
    entry = bytes.fromhex("78563412 f0debc9a 0100 0200 3412 0be1")
    found = twin.decode_completion(entry)
    assert (found.dw0, found.dw1) == (0x12345678, 0x9ABCDEF0)
    assert (found.sqhd, found.sqid, found.cid) == (1, 2, 0x1234)
    # e10bh: DNR 1, M 1, CRD 2, SCT 0, SC 85h, phase 1
    assert (found.dnr, found.more, found.crd, found.sct, found.sc, found.phase) == (
        *(1, 1, 2, 0),
        *(0x85, 1),
    )
    assert found.name == "INVALID_VALUE_SIZE"


@pytest.mark.parametrize("dnr", [0, 1])
@pytest.mark.parametrize("sct", [0, 1])
@pytest.mark.parametrize(
    ("sc", "name"),
    [
        (0x85, "INVALID_VALUE_SIZE"),
        (0x86, "INVALID_KEY_SIZE"),
        (0x87, "KEY_DOES_NOT_EXIST"),
        (0x88, "UNRECOVERED_ERROR"),
        (0x89, "KEY_EXISTS"),
    ],
)
def test_kv_codes_have_one_name_under_both_types(
    twin: ModuleType, sc: int, name: str, sct: int, dnr: int
) -> None:
    found = twin.decode_completion(_completion(dnr << 15 | sct << 9 | sc << 1))
    assert (found.name, found.sct, found.sc, found.dnr) == (name, sct, sc, dnr)


@pytest.mark.parametrize(
    ("sct", "sc", "name"),
    [
        (0, 0x00, "SUCCESS"),
        (0, 0x02, "INVALID_FIELD"),
        (0, 0x81, "CAPACITY_EXCEEDED"),
        (1, 0x81, "INVALID_PROTECTION_INFO"),
        (1, 0x00, "COMPLETION_QUEUE_INVALID"),
        (2, 0x87, "SCT 2h, SC 87h"),
        (0, 0x7E, "SCT 0h, SC 7Eh"),
        (7, 0xC0, "SCT 7h, SC C0h"),
    ],
)
def test_other_codes(twin: ModuleType, sct: int, sc: int, name: str) -> None:
    assert twin.decode_completion(_completion(sct << 9 | sc << 1)).name == name


@pytest.mark.parametrize(("call", "size"), [("decode_command", 64), ("decode_completion", 16)])
@pytest.mark.parametrize("off", [-1, 1])
def test_entries_of_another_size_are_refused(
    twin: ModuleType, call: str, size: int, off: int
) -> None:
    with pytest.raises(ValueError, match=f"has {size} bytes, not {size + off}"):
        getattr(twin, call)(bytes(size + off))


def test_a_list_page_with_every_kind_of_padding(twin: ModuleType) -> None:
    page = bytes.fromhex(
        "04000000"
        "0100 61 00"  # one byte of padding
        "0200 6263"  # none
        "0300 646566 000000"  # three
        "1000 000102030405060708090a0b0c0d0e0f 0000"  # two
    )
    assert twin.decode_list(page) == [b"a", b"bc", b"def", bytes(range(16))]


@pytest.mark.parametrize("page", ["00000000", "00000000 ffffffff"])
def test_an_empty_list_page(twin: ModuleType, page: str) -> None:
    assert twin.decode_list(bytes.fromhex(page)) == []


def test_bytes_past_the_last_key_do_not_matter(twin: ModuleType) -> None:
    assert twin.decode_list(bytes.fromhex("01000000 0100 61 ff ffffffff")) == [b"a"]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("", "a List page of 0 bytes has no room for its count"),
        ("010000", "a List page of 3 bytes has no room for its count"),
        ("03000000 0100 6100 0100 6200", "byte 0: 3 keys cannot lie in a page of 12 bytes"),
        ("ffffffff 0100 6100", "byte 0: 4294967295 keys cannot lie in a page of 8 bytes"),
        ("01000000 1100" + "00" * 18, "byte 4: key 0 of 1 has length 17; 1 to 16 are allowed"),
        ("01000000 0000 0000", "byte 4: key 0 of 1 has length 0; 1 to 16 are allowed"),
        ("01000000 0400 6162", "byte 4: key 0 of 1: the page ends within its 4 bytes"),
        (
            "03000000 0500 6162636465 00 0200 6162",
            "byte 16: key 2 of 3: the page ends before its length",
        ),
    ],
)
def test_list_pages_that_contradict_themselves(twin: ModuleType, page: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        twin.decode_list(bytes.fromhex(page))
