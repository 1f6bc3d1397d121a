"""Entries as any host may write them: what goes to the device, and what must not."""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest

from tests.emulator.conftest import PAGE, Cqe, Memory, parse_cqe, sqe
from xiokv.runtime import Passthrough
from xiokv.runtime.controller import Rings

from .conftest import Standin

STORE, RETRIEVE, EXIST = 0x01, 0x02, 0x14
DEPTH = 4


class Queue:
    """A queue pair that entries are written to by hand."""

    def __init__(self, device: Passthrough, cq_depth: int = DEPTH) -> None:
        self.cq_depth = cq_depth
        self.sq, self.cq = Memory(64 * DEPTH), Memory(16 * cq_depth)
        rings = Rings(self.sq.address, self.cq.address, DEPTH, cq_depth)
        self.made = device.create_queue(rings)
        self.sent = self.taken = 0

    def run(self, entry: bytes) -> Cqe:
        """Return the completion of an entry."""
        self.send(entry)
        return self.take()

    def send(self, *entries: bytes) -> None:
        """Write entries, and ring once."""
        for entry in entries:
            self.sq.put(64 * (self.sent % DEPTH), entry)
            self.sent += 1
        self.ring(self.made.sq_doorbell, self.sent % DEPTH)

    def take(self) -> Cqe:
        """Wait for the next completion, and make room for another."""
        self.wait()
        cqe = parse_cqe(self.cq.get(16 * (self.taken % self.cq_depth), 16))
        self.taken += 1
        self.ring(self.made.cq_doorbell, self.taken % self.cq_depth)
        return cqe

    def wait(self) -> None:
        """Wait for the next completion."""
        end = time.monotonic() + 10
        while not self.is_there():
            assert time.monotonic() < end, f"no completion {self.taken}"

    def is_there(self) -> bool:
        """Tell whether the next completion has come."""
        cqe = parse_cqe(self.cq.get(16 * (self.taken % self.cq_depth), 16))
        return cqe.phase != self.taken // self.cq_depth % 2

    def ring(self, doorbell: int, number: int) -> None:
        """Write a doorbell."""
        ctypes.c_uint32.from_address(doorbell).value = number


@pytest.fixture
def queue(device: Passthrough) -> Iterator[Queue]:
    queue = Queue(device)
    yield queue
    device.delete_queue(queue.made.qid)


def test_pages_need_not_be_in_one_piece(queue: Queue, standin: Standin) -> None:
    """Five pages, last first, by a PRP list; what a short value leaves alone stays."""
    data, prps = Memory(5 * PAGE), Memory(PAGE)
    places = [data.address + PAGE * number for number in (4, 3, 2, 1, 0)]
    prps.put(0, struct.pack("<4Q", *places[1:]))
    value = np.random.default_rng(1).integers(0, 256, 4 * PAGE + 100, np.uint8).tobytes()
    for number in range(5):
        data.put(PAGE * (4 - number), value[PAGE * number :][:PAGE])
    pointers = {"prp1": places[0], "prp2": prps.address}
    assert queue.run(sqe(STORE, b"key", len(value), **pointers)).status == 0
    data.put(0, b"\xee" * 5 * PAGE)
    done = queue.run(sqe(RETRIEVE, b"key", 5 * PAGE, **pointers))
    assert (done.status, done.dw0) == (0, len(value))
    found = b"".join(data.get(PAGE * number, PAGE) for number in (4, 3, 2, 1, 0))
    assert found == value.ljust(5 * PAGE, b"\xee")
    assert len({call[24:32] for call in standin.calls()} & set(places)) == 0


REFUSED = {
    "a command whose data may be of any size": (sqe(0x0E, b"k", 8), 0x01),
    "one whose data go both ways": (sqe(0x83, size=8), 0x01),
    "one without data that nobody knows": (sqe(0x00), 0x01),
    "another namespace": (sqe(EXIST, b"k", nsid=8), 0x0B),
    "all namespaces": (sqe(EXIST, b"k", nsid=0xFFFFFFFF), 0x0B),
    "no data pointer": (sqe(STORE, b"k", 8), 0x04),
    "no data pointer for two pages": (sqe(STORE, b"k", 2 * PAGE), 0x04),
    "an odd data pointer": (sqe(RETRIEVE, b"k", 8, prp1=0x10001), 0x13),
    "a second page that begins within one": (sqe(STORE, b"k", 2 * PAGE, 0x10000, 0x20004), 0x13),
}


@pytest.mark.parametrize(("entry", "status"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_right_does_not_reach_the_device(
    queue: Queue, standin: Standin, entry: bytes, status: int
) -> None:
    assert queue.run(entry).status == status
    assert standin.calls() == []


def test_fields_and_options_go_as_they_are(queue: Queue, standin: Standin) -> None:
    """A dword of its own for each of CDW10 to CDW15, and the key's four."""
    key = bytes(range(0x41, 0x51))
    fields = dict(zip(range(46, 56), range(0xE0, 0xEA), strict=True))
    data = Memory(PAGE)
    entry = sqe(STORE, key, 0x123, data.address, options=4, patch=fields)
    queue.run(entry)
    (call,) = standin.calls()
    assert call[8:16] == entry[8:16] == key[:8]
    assert call[40:64] == entry[40:64]
    assert struct.unpack_from("<QII", call, 24) == (data.address, 0, 0x123)
    assert struct.unpack_from("<Q", call, 16) == (0,)


def test_no_command_is_begun_whose_completion_has_no_room(
    device: Passthrough, standin: Standin
) -> None:
    """A completion ring of two entries holds one."""
    queue = Queue(device, cq_depth=2)
    queue.send(*(sqe(EXIST, b"k", cid=cid) for cid in range(3)))
    for number in range(3):
        queue.wait()
        time.sleep(0.05)
        assert len(standin.calls()) == number + 1
        done = queue.take()
        assert (done.cid, done.sqid) == (number, queue.made.qid)


@pytest.mark.parametrize("doorbell", ["sq_doorbell", "cq_doorbell"])
def test_a_doorbell_that_makes_no_sense_stops_the_queue(
    queue: Queue, device: Passthrough, standin: Standin, doorbell: str
) -> None:
    assert queue.run(sqe(EXIST, b"k")).sq_head == 1
    queue.ring(getattr(queue.made, doorbell), DEPTH)
    if doorbell == "cq_doorbell":
        queue.send(sqe(EXIST, b"k"))
    time.sleep(0.05)
    assert len(standin.calls()) == 1
    assert not queue.is_there()


def test_a_new_queue_begins_where_the_last_of_its_number_did_not_end(device: Passthrough) -> None:
    for _ in range(2):
        queue = Queue(device)
        for number in range(DEPTH + 2):
            assert queue.run(sqe(EXIST, b"k", cid=number)).cid == number
        device.delete_queue(queue.made.qid)
