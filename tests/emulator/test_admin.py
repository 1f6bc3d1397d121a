"""Admin commands: Identify at its offsets, features, queues and their errors."""

from __future__ import annotations

from typing import Any

import pytest

PAGE = 4096
DELETE_SQ, CREATE_SQ, DELETE_CQ, CREATE_CQ, IDENTIFY = 0x00, 0x01, 0x04, 0x05, 0x06
SET_FEATURES, GET_FEATURES = 0x09, 0x0A
KEY_VALUE = 1 << 24


def identify(host: Any, cns: int, nsid: int = 0, csi: int = 0) -> bytes:
    host.data.put(0, b"\xee" * PAGE)
    address = host.data.address
    cqe = host.admin(IDENTIFY, nsid=nsid, prp1=address, cdw10=cns, cdw11=csi)
    assert (cqe.status, cqe.sqid, cqe.cid) == (0, 0, 7)
    return bytes(host.data.get(0, PAGE))


def number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def test_the_namespace_structure_has_its_numbers_at_their_offsets(make: Any) -> None:
    host = make(key_max=12, value_max=1000, max_keys=77, capacity=5000, active_format=2)
    host.store(b"k", b"value")

    data = identify(host, 0x05, 1, KEY_VALUE)

    assert number(data, 0, 8) == 5000  # NSZE
    assert number(data, 16, 8) == 5  # NUSE
    assert number(data, 25, 1) == 2  # NKVF, 0's based
    assert number(data, 29, 1) == 2  # KVFC
    active = 72 + 16 * 2
    assert number(data, active, 2) == 12  # KVKML
    assert number(data, active + 4, 4) == 1000  # KVVML
    assert number(data, active + 8, 4) == 77  # MNKS
    assert number(data, 72, 2) != 12
    assert number(data, 72 + 4, 4) != 1000


def test_the_default_format_is_the_first(host: Any) -> None:
    data = identify(host, 0x05, 1, KEY_VALUE)

    assert (number(data, 29, 1), number(data, 72, 2), number(data, 76, 4)) == (0, 16, 32 << 20)
    assert data[88:] == bytes(PAGE - 88)


def test_the_controller_structure_has_mdts_and_entry_sizes(make: Any) -> None:
    data = identify(make(mdts=5), 0x01)

    assert number(data, 77, 1) == 5
    assert number(data, 80, 4) == 0x00020000
    assert (data[512], data[513]) == (0x66, 0x44)
    assert number(data, 516, 4) == 1


def test_a_descriptor_names_the_command_set(host: Any) -> None:
    data = identify(host, 0x03, 1)
    at, found = 0, []
    while data[at + 1]:
        found.append((data[at], data[at + 4 : at + 4 + data[at + 1]]))
        at += 4 + data[at + 1]

    assert (4, b"\x01") in found


def test_the_key_value_controller_structure_has_a_version(host: Any) -> None:
    assert identify(host, 0x06, csi=KEY_VALUE) == (0x00010300).to_bytes(PAGE, "little")


def test_the_active_namespaces_are_one(host: Any) -> None:
    assert identify(host, 0x02) == (1).to_bytes(PAGE, "little")
    assert identify(host, 0x02, nsid=1) == bytes(PAGE)


def test_the_command_sets_are_key_value_alone(host: Any) -> None:
    assert identify(host, 0x1C) == (2).to_bytes(PAGE, "little")


def test_identify_may_go_to_two_pages(host: Any) -> None:
    first, second = host.data.address + PAGE - 64, host.data.address + 3 * PAGE

    assert host.admin(IDENTIFY, nsid=1, prp1=first, prp2=second, cdw10=3).status == 0
    assert host.data.get(PAGE - 64, 2) == b"\x02\x10"


@pytest.mark.parametrize(
    ("cns", "nsid", "csi", "prp1", "status"),
    [
        (0x00, 1, 0, 0, 0x02),  # not of this command set
        (0x07, 1, 0, 0, 0x02),
        (0x03, 2, 0, 0, 0x0B),
        (0x05, 0xFFFFFFFF, KEY_VALUE, 0, 0x0B),
        (0x05, 1, 0, 0, 0x02),
        (0x06, 0, 0, 0, 0x02),
        (0x02, 0xFFFFFFFF, 0, 0, 0x0B),
        (0x01, 0, 0, 2, 0x13),
    ],
)
def test_what_identify_does_not_know_is_refused(
    host: Any, cns: int, nsid: int, csi: int, prp1: int, status: int
) -> None:
    fields = {"nsid": nsid, "prp1": host.data.address + prp1, "cdw10": cns, "cdw11": csi}

    assert host.admin(IDENTIFY, **fields).status == status


def test_identify_to_address_0_is_a_transfer_error(host: Any) -> None:
    assert host.admin(IDENTIFY, cdw10=1).status == 0x04


@pytest.mark.parametrize("opcode", [0x02, 0x08, 0x0C, 0x80])
def test_an_unknown_admin_opcode_is_refused(host: Any, opcode: int) -> None:
    assert host.admin(opcode).status == 0x01


def test_the_number_of_queues_is_what_there_is(make: Any) -> None:
    host = make(queues=5)

    assert host.admin(SET_FEATURES, cdw10=0x07, cdw11=0x00FF00FF).dw0 == 0x00040004
    assert host.admin(GET_FEATURES, cdw10=0x07).dw0 == 0x00040004


@pytest.mark.parametrize("asked", [0xFFFF0000, 0x0000FFFF])
def test_65536_queues_cannot_be_asked_for(host: Any, asked: int) -> None:
    assert host.admin(SET_FEATURES, cdw10=0x07, cdw11=asked).status == 0x02


def test_feature_20h_decides_about_a_missing_key(host: Any) -> None:
    delete = host.sqe(0x10, b"missing")
    seen = []
    for value in (1, 0):
        host.admin(SET_FEATURES, nsid=1, cdw10=0x20, cdw11=value)
        now = host.admin(GET_FEATURES, nsid=1, cdw10=0x20).dw0
        seen.append((now, host.run(delete).status))

    assert seen == [(1, 0x87), (0, 0)]


@pytest.mark.parametrize(
    ("opcode", "fields", "status"),
    [
        (SET_FEATURES, {"cdw10": 0x02}, 0x02),
        (GET_FEATURES, {"cdw10": 0x02}, 0x02),
        (GET_FEATURES, {"cdw10": 0x107}, 0x02),  # a default value
        (SET_FEATURES, {"cdw10": 0x80000020, "nsid": 1}, 0x10D),  # saved
        (SET_FEATURES, {"cdw10": 0x20, "nsid": 2}, 0x0B),
        (GET_FEATURES, {"cdw10": 0x20}, 0x0B),
    ],
)
def test_other_features_are_refused(
    host: Any, opcode: int, fields: dict[str, int], status: int
) -> None:
    assert host.admin(opcode, **fields).status == status


@pytest.mark.parametrize("opcode", [CREATE_CQ, CREATE_SQ])
@pytest.mark.parametrize(
    ("cdw10", "cdw11", "offset", "status"),
    [
        (3 << 16 | 0, 1, 0, 0x101),  # QID 0
        (3 << 16 | 5, 1, 0, 0x101),  # more than there are
        (3 << 16 | 1, 1, 0, 0x101),  # in use
        (0 << 16 | 2, 1, 0, 0x102),  # 1 entry
        (10 << 16 | 2, 1, 0, 0x102),  # more than MQES
        (3 << 16 | 2, 0, 0, 0x002),  # not contiguous
        (3 << 16 | 2, 1, 8, 0x013),  # not page aligned
    ],
)
def test_a_queue_that_cannot_be_is_refused(
    make: Any, opcode: int, cdw10: int, cdw11: int, offset: int, status: int
) -> None:
    host = make(queues=4, mqes=9, sq_depth=10)
    link = 1 << 16 if opcode == CREATE_SQ else 0
    fields = {"prp1": host.data.address + offset, "cdw10": cdw10, "cdw11": cdw11 | link}

    assert host.admin(opcode, **fields).status == status


@pytest.mark.parametrize(("cqid", "status"), [(0, 0x101), (5, 0x101), (3, 0x100)])
def test_a_submission_queue_needs_its_completion_queue(make: Any, cqid: int, status: int) -> None:
    host = make(queues=4)
    fields = {"prp1": host.data.address, "cdw10": 3 << 16 | 2, "cdw11": cqid << 16 | 1}

    assert host.admin(CREATE_SQ, **fields).status == status


def test_a_completion_queue_has_no_interrupt_vector(host: Any) -> None:
    fields = {"prp1": host.data.address, "cdw10": 3 << 16 | 2, "cdw11": 1 << 16 | 1}

    assert host.admin(CREATE_CQ, **fields).status == 0x108


@pytest.mark.parametrize("opcode", [DELETE_SQ, DELETE_CQ])
@pytest.mark.parametrize("qid", [0, 2, 65, 0xFFFF])
def test_only_a_queue_that_is_there_can_be_deleted(host: Any, opcode: int, qid: int) -> None:
    assert host.admin(opcode, cdw10=qid).status == 0x101


def test_a_completion_queue_in_use_cannot_be_deleted(host: Any) -> None:
    assert host.admin(DELETE_CQ, cdw10=1).status == 0x10C
    assert host.admin(DELETE_SQ, cdw10=1).status == 0
    assert host.admin(DELETE_CQ, cdw10=1).status == 0
