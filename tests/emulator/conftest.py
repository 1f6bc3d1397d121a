"""A host made by hand: rings, doorbells and entries as bytes, and nothing generated.

What these tests know of the wire is written here a second time, on purpose.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from xiokv.runtime.emulator import Emulator

PAGE = 4096

STORE, RETRIEVE, LIST, DELETE, EXIST = 0x01, 0x02, 0x06, 0x10, 0x14
DELETE_SQ, CREATE_SQ, DELETE_CQ, CREATE_CQ, IDENTIFY = 0x00, 0x01, 0x04, 0x05, 0x06
SET_FEATURES, GET_FEATURES = 0x09, 0x0A


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


class Memory:
    """Zeroed pages that the controller reaches by their address."""

    def __init__(self, size: int) -> None:
        self._map = mmap.mmap(-1, -(-size // PAGE) * PAGE)
        self.view = memoryview(self._map)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))

    def put(self, offset: int, data: bytes) -> None:
        self.view[offset : offset + len(data)] = data

    def get(self, offset: int, size: int) -> bytes:
        return bytes(self.view[offset : offset + size])


class Cqe(NamedTuple):
    dw0: int
    dw1: int
    sq_head: int
    sqid: int
    cid: int
    phase: int
    status: int  # bits 15:1: SC, and SCT above it


def parse_cqe(data: bytes) -> Cqe:
    dw0, dw1, head, sqid, cid, last = struct.unpack("<IIHHHH", data)
    return Cqe(dw0, dw1, head, sqid, cid, last & 1, last >> 1)


def sqe(
    opcode: int,
    key: bytes = b"",
    size: int = 0,
    prp1: int = 0,
    prp2: int = 0,
    *,
    options: int = 0,
    cid: int = 0,
    nsid: int = 1,
    length: int | None = None,
    patch: dict[int, int] | None = None,
) -> bytes:
    """Build an I/O entry; `patch` sets single bytes afterwards."""
    image = bytearray(64)
    padded = key.ljust(16, b"\0")
    struct.pack_into("<BBHI", image, 0, opcode, 0, cid, nsid)
    image[8:16], image[56:64] = padded[:8], padded[8:16]
    struct.pack_into("<QQI", image, 24, prp1, prp2, size)
    image[44] = len(key) if length is None else length
    image[45] = options
    for offset, value in (patch or {}).items():
        image[offset] = value
    return bytes(image)


def admin_sqe(
    opcode: int, *, nsid: int = 0, prp1: int = 0, prp2: int = 0, cdw10: int = 0, cdw11: int = 0
) -> bytes:
    return struct.pack("<BBHI16xQQII16x", opcode, 0, 7, nsid, prp1, prp2, cdw10, cdw11)


class Host:
    """One queue pair, driven by steps or watched while threads serve."""

    memory = Memory
    sqe = staticmethod(sqe)

    def __init__(
        self,
        emulator: Emulator,
        *,
        qid: int = 1,
        sq_depth: int = 16,
        cq_depth: int | None = None,
        cqid: int | None = None,
        stride: int = 4,
    ) -> None:
        self.emulator = emulator
        self.qid, self.cqid = qid, cqid or qid
        self.sq_depth, self.cq_depth = sq_depth, cq_depth or sq_depth
        self.sq, self.cq = Memory(64 * self.sq_depth), Memory(16 * self.cq_depth)
        bar = emulator.registers + 0x1000
        self.sq_doorbell = ctypes.c_uint32.from_address(bar + 2 * qid * stride)
        self.cq_doorbell = ctypes.c_uint32.from_address(bar + (2 * self.cqid + 1) * stride)
        self.tail = self.head = 0
        self.phase = 1
        self.data = Memory(64 * PAGE)

    def admin(self, opcode: int, **fields: int) -> Cqe:
        return parse_cqe(self.emulator.admin(admin_sqe(opcode, **fields)))

    def create_cq(self) -> int:
        size = self.cq_depth - 1
        fields = {"prp1": self.cq.address, "cdw10": size << 16 | self.cqid, "cdw11": 1}
        return self.admin(CREATE_CQ, **fields).status

    def create_sq(self) -> int:
        size = self.sq_depth - 1
        link = self.cqid << 16 | 1
        fields = {"prp1": self.sq.address, "cdw10": size << 16 | self.qid, "cdw11": link}
        return self.admin(CREATE_SQ, **fields).status

    def create(self) -> Host:
        assert (self.create_cq(), self.create_sq()) == (0, 0)
        return self

    def submit(self, *entries: bytes) -> None:
        """Write entries and ring the doorbell once."""
        for entry in entries:
            self.sq.put(64 * self.tail, entry)
            self.tail = (self.tail + 1) % self.sq_depth
        self.sq_doorbell.value = self.tail

    def drive(self, most: int = 100_000) -> int:
        """Step until there is nothing to do; return the number of steps."""
        for count in range(most):
            if not self.emulator.step(self.qid):
                return count
        raise AssertionError(f"still busy after {most} steps")

    def peek(self) -> Cqe | None:
        """Return the completion at the head, if there is one."""
        cqe = parse_cqe(self.cq.get(16 * self.head, 16))
        return cqe if cqe.phase == self.phase else None

    def take(self) -> list[Cqe]:
        """Take the completions that are there and ring the doorbell."""
        taken = []
        while (cqe := self.peek()) is not None:
            taken.append(cqe)
            self.head = (self.head + 1) % self.cq_depth
            self.phase ^= self.head == 0
        self.cq_doorbell.value = self.head
        return taken

    def run(self, entry: bytes) -> Cqe:
        """Submit one entry, drive, and return its only completion."""
        self.submit(entry)
        self.drive()
        (cqe,) = self.take()
        return cqe

    def run_all(self, *entries: bytes) -> list[Cqe]:
        """Submit entries by one doorbell, drive, and return the completions."""
        self.submit(*entries)
        self.drive()
        return self.take()

    def store(self, key: bytes, value: bytes, options: int = 0) -> int:
        """Store through the data pages; return the status."""
        self.data.put(0, value)
        second = self.data.address + PAGE
        entry = sqe(STORE, key, len(value), self.data.address, second, options=options)
        return self.run(entry).status

    def retrieve(self, key: bytes, size: int) -> tuple[int, int, bytes]:
        """Retrieve through the data pages; return status, DW0 and the buffer."""
        self.data.put(0, b"\xee" * size)
        second = self.data.address + PAGE
        cqe = self.run(sqe(RETRIEVE, key, size, self.data.address, second))
        return cqe.status, cqe.dw0, self.data.get(0, size)


@pytest.fixture
def make() -> Iterator[Callable[..., Host]]:
    """Return a function that makes a controller without threads, and a queue pair on it."""
    emulators: list[Emulator] = []

    def make_host(*, sq_depth: int = 16, cq_depth: int | None = None, **options: object) -> Host:
        emulators.append(Emulator(**{"threads": 0, **options}))  # type: ignore[arg-type]
        stride = 4 << int(str(options.get("dstrd", 0)))
        host = Host(emulators[-1], sq_depth=sq_depth, cq_depth=cq_depth, stride=stride)
        return host.create()

    yield make_host
    for emulator in emulators:
        emulator.close()


@pytest.fixture
def host(make: Callable[..., Host]) -> Host:
    """Return a queue pair on a controller with default limits."""
    return make()
