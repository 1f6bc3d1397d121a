"""Exec by itself: its data as bytes, its operations, and which status says what is wrong."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from xiokv.runtime.emulator import ExecOperation
from xiokv.runtime.errors import ArgumentFault

EXEC = 0x83
LENGTH, CHECKSUM, RANGE = 1, 2, 3
PAGE = 4096
VALUE = bytes(range(200))

# CRC-32C of "123456789" and of 32 zeros, from RFC 3720 and its test vectors.
CHECKSUMS = {b"123456789": 0xE3069283, bytes(32): 0x8A9136AA, b"": 0}


@pytest.fixture
def host(make: Any) -> Any:
    """Return a queue pair on a controller that has Exec."""
    return make(exec=True, strict=True)


def payload(key: bytes, input_: bytes = b"") -> bytes:
    return len(key).to_bytes(2, "little") + key + input_


def span(offset: int, length: int) -> bytes:
    """Return the input of "range"."""
    return struct.pack("<QQ", offset, length)


def entry(
    host: Any,
    operation: int,
    room: int,
    length: int,
    *,
    prp1: int | None = None,
    prp2: int | None = None,
    patch: dict[int, int] | None = None,
    nsid: int = 1,
) -> bytes:
    """Return an entry whose data lie at the begin of the data pages."""
    prp1 = host.data.address if prp1 is None else prp1
    prp2 = host.data.address + PAGE if prp2 is None else prp2
    image = bytearray(64)
    struct.pack_into("<BBHI", image, 0, EXEC, 0, 0, nsid)
    struct.pack_into("<QQ4I", image, 24, prp1, prp2, length, 0, room, operation)
    for offset, value in (patch or {}).items():
        image[offset] = value
    return bytes(image)


def run(host: Any, operation: int, data: bytes, room: int, **fields: Any) -> tuple[int, int, bytes]:
    """Run Exec on data; return status, DW0 and what is in the room, poisoned before."""
    host.data.put(0, b"\xee" * max(room, len(data)))
    host.data.put(0, data)
    cqe = host.run(entry(host, operation, room, fields.pop("length", len(data)), **fields))
    return cqe.status, cqe.dw0, host.data.get(0, room)


def test_without_being_asked_for_it_is_no_command(make: Any) -> None:
    plain = make()
    plain.store(b"k", VALUE)
    assert run(plain, LENGTH, payload(b"k"), 8)[:2] == (0x01, 0)


def test_length_returns_the_size_of_the_value(host: Any) -> None:
    host.store(b"k", VALUE)
    assert run(host, LENGTH, payload(b"k"), 8) == (0, 8, struct.pack("<Q", 200))


@pytest.mark.parametrize(("value", "checksum"), CHECKSUMS.items())
def test_checksum_returns_crc_32c(host: Any, value: bytes, checksum: int) -> None:
    host.store(b"k", value)
    assert run(host, CHECKSUM, payload(b"k"), 4) == (0, 4, struct.pack("<I", checksum))


@pytest.mark.parametrize(
    ("offset", "length", "size"),
    [
        (0, 200, 200),
        (10, 5, 5),
        (190, 100, 10),
        (200, 1, 0),
        (2**64 - 1, 2**64 - 1, 0),
        (1, 2**64 - 1, 199),
        (7, 0, 0),
    ],
)
def test_range_returns_bytes_of_the_value_as_far_as_it_goes(
    host: Any, offset: int, length: int, size: int
) -> None:
    host.store(b"k", VALUE)
    status, dw0, found = run(host, RANGE, payload(b"k", span(offset, length)), 256)
    assert (status, dw0) == (0, size)
    assert found[:size] == VALUE[offset : offset + size]


def test_the_names_are_those_of_the_operations() -> None:
    assert [(o.name, o.value) for o in ExecOperation] == [
        ("LENGTH", LENGTH),
        ("CHECKSUM", CHECKSUM),
        ("RANGE", RANGE),
    ]


def test_the_output_begins_where_the_data_did_and_ends_where_its_room_does(host: Any) -> None:
    host.store(b"k", VALUE)
    data = payload(b"k", span(0, 200))
    host.data.put(0, data.ljust(300, b"\xee"))
    cqe = host.run(entry(host, RANGE, 5, len(data)))
    assert (cqe.status, cqe.dw0) == (0, 200)
    assert host.data.get(0, 300) == (VALUE[:5] + data[5:]).ljust(300, b"\xee")


def test_without_room_it_tells_the_size_and_writes_nothing(host: Any) -> None:
    host.store(b"k", VALUE)
    data = payload(b"k")
    assert run(host, LENGTH, data, 0) == (0, 8, b"")
    assert host.data.get(0, len(data)) == data


@pytest.mark.parametrize(
    ("operation", "data", "status"),
    [
        (LENGTH, payload(b"other"), 0x87),
        (LENGTH, payload(b"k\0"), 0x87),
        (0, payload(b"k"), 0x02),  # no such operation
        (4, payload(b"k"), 0x02),
        (0xFFFFFFFF, payload(b"k"), 0x02),
        (LENGTH, payload(b"k", b"x"), 0x02),  # input that it does not take
        (RANGE, payload(b"k"), 0x02),
        (RANGE, payload(b"k", bytes(15)), 0x02),
        (RANGE, payload(b"k", bytes(17)), 0x02),
        (LENGTH, b"", 0x02),  # no room for a key length
        (LENGTH, b"\x01", 0x02),
        (LENGTH, b"\x02\0k", 0x02),  # ends within the key
        (LENGTH, b"\xff\xff" + bytes(300), 0x02),
        (LENGTH, payload(b""), 0x86),
        (LENGTH, payload(b"x" * 17), 0x86),
        (LENGTH, payload(b"x" * 255), 0x86),
        (LENGTH, b"\x00\x01" + bytes(256), 0x86),
    ],
)
def test_a_status_says_what_is_wrong(host: Any, operation: int, data: bytes, status: int) -> None:
    host.store(b"k", VALUE)
    room = max(len(data), 8)
    assert run(host, operation, data, room) == (status, 0, data.ljust(room, b"\xee"))


def test_a_key_that_no_entry_holds_is_missing_where_the_namespace_allows_it(make: Any) -> None:
    host = make(exec=True, key_max=200)
    assert run(host, LENGTH, payload(b"x" * 200), 8)[0] == 0x87
    assert run(host, LENGTH, payload(b"x" * 201), 8)[0] == 0x86


@pytest.mark.parametrize(
    ("room", "length", "status"),
    [(8192, 3, 0), (8193, 3, 0x02), (8, 8193, 0x02), (0xFFFFFFFF, 3, 0x02), (8, 0xFFFFFFFF, 0x02)],
)
def test_what_is_larger_than_a_transfer_is_refused(
    make: Any, room: int, length: int, status: int
) -> None:
    host = make(exec=True, mdts=1)
    host.store(b"k", VALUE)
    host.data.put(0, payload(b"k"))
    assert host.run(entry(host, LENGTH, room, length)).status == status


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"nsid": 2}, 0x0B),
        ({"nsid": 0}, 0x0B),
        ({"patch": {1: 0x01}}, 0x02),
        ({"patch": {1: 0x40}}, 0x02),
        *(({"patch": {place: 1}}, 0x02) for place in (8, 15, 16, 23, 44, 45, 47, 56, 63)),
    ],
)
def test_an_entry_has_nothing_where_it_has_no_field(
    host: Any, fields: dict[str, Any], status: int
) -> None:
    host.store(b"k", VALUE)
    assert run(host, LENGTH, payload(b"k"), 8, **fields)[0] == status


def test_data_and_output_follow_the_entries_of_a_list(host: Any) -> None:
    """Three pages in no order; the data end, and the output begins, in the middle of one."""
    value = bytes(i % 251 for i in range(10_000))
    pages = [host.data.address + PAGE * number for number in (9, 2, 7)]
    host.data.put(0, value)
    host.data.put(5 * PAGE, struct.pack("<3Q", *(host.data.address + PAGE * n for n in (0, 1, 2))))
    store = host.sqe(0x01, b"k", len(value), host.data.address, host.data.address + 5 * PAGE + 8)
    assert host.run(store).status == 0
    data = payload(b"k", span(1, 9000))
    host.data.put(9 * PAGE + PAGE - 8, data[:8])
    host.data.put(2 * PAGE, data[8:])
    host.data.put(5 * PAGE, struct.pack("<2Q", *pages[1:]))
    cqe = host.run(
        entry(
            host,
            RANGE,
            8 + PAGE + 100,
            len(data),
            prp1=pages[0] + PAGE - 8,
            prp2=host.data.address + 5 * PAGE,
        )
    )
    assert (cqe.status, cqe.dw0) == (0, 9000)
    found = host.data.get(10 * PAGE - 8, 8) + host.data.get(2 * PAGE, PAGE)
    assert found + host.data.get(7 * PAGE, 100) == value[1 : 1 + 8 + PAGE + 100]


@pytest.mark.parametrize(("prp1", "prp2"), [(2, 0), (PAGE - 4, 4)])
def test_a_page_entry_off_its_boundary_is_refused(host: Any, prp1: int, prp2: int) -> None:
    base = host.data.address
    sent = entry(host, LENGTH, 16, 3, prp1=base + prp1, prp2=base + PAGE + prp2)
    assert host.run(sent).status == 0x13


def test_cdw10_may_be_the_length_of_the_input(make: Any) -> None:
    host = make(exec=True, exec_input_length=True)
    host.store(b"key", VALUE)
    data = payload(b"key", span(3, 4))
    assert run(host, RANGE, data, 4, length=16) == (0, 4, VALUE[3:7])
    assert run(host, RANGE, data, 4, length=len(data))[0] == 0x02
    assert run(host, LENGTH, payload(b"key"), 8, length=0)[:2] == (0, 8)
    assert run(host, LENGTH, payload(b"key"), 8, length=0, prp1=host.data.address + 2)[0] == 0x13


def test_the_input_s_length_needs_exec(make: Any) -> None:
    with pytest.raises(ArgumentFault, match="asked for too"):
        make(exec_input_length=True)


def test_a_fault_of_a_key_strikes_it(host: Any) -> None:
    for key in (b"a", b"b"):
        host.store(key, VALUE)
    host.emulator.fault("status", key=b"b", sct=0, sc=0x88)
    host.emulator.fault("bad_size", key=b"a", opcode=EXEC, amount=77)
    assert run(host, LENGTH, payload(b"a"), 8)[:2] == (0, 77)
    assert run(host, LENGTH, payload(b"b"), 8)[:2] == (0x88, 0)


def test_a_fault_of_a_key_reads_no_data_where_exec_is_no_command(make: Any) -> None:
    """Its pointer may lead anywhere there."""
    plain = make()
    plain.emulator.fault("status", key=b"k", sct=0, sc=0x88)
    assert run(plain, LENGTH, payload(b"k"), 8)[:2] == (0x01, 0)


def test_an_output_that_does_not_arrive_has_no_size(host: Any) -> None:
    """The output's second page is none; the payload has the first."""
    host.store(b"k", VALUE)
    data = payload(b"k", span(0, 200))
    begin = PAGE - len(data) - 1 & ~3
    host.data.put(begin, data)
    sent = entry(host, RANGE, 200, len(data), prp1=host.data.address + begin, prp2=0)
    cqe = host.run(sent)
    assert (cqe.status, cqe.dw0) == (0x04, 0)


def test_faults_of_other_kinds_strike_it_as_any_command(host: Any) -> None:
    host.store(b"k", VALUE)
    host.emulator.fault("drop", opcode=EXEC, count=1)
    host.emulator.fault("duplicate", opcode=EXEC, nth=2, amount=5)
    host.data.put(0, payload(b"k"))
    sent = entry(host, LENGTH, 0, 3)
    # The second completion of the second command comes with the third.
    assert [len(host.run_all(sent)) for _ in range(3)] == [0, 1, 2]


def test_counters_and_trace_know_it(host: Any) -> None:
    host.store(b"k", VALUE)
    before = host.emulator.counters()
    host.emulator.trace_start()
    data = payload(b"k", span(0, 50))
    run(host, RANGE, data, 10)
    after = host.emulator.counters()
    assert (after.bytes_in - before.bytes_in, after.bytes_out - before.bytes_out) == (len(data), 10)
    sqe, cqe = host.emulator.trace()
    assert sqe.data == entry(host, RANGE, 10, len(data))
    assert struct.unpack_from("<I", cqe.data) == (50,)


def test_key_value_statuses_may_come_with_sct_1(make: Any) -> None:
    host = make(exec=True, sct1=True)
    assert run(host, LENGTH, payload(b"k"), 8)[0] == 0x187
