"""Admin commands as a host builds them: bytes out, bytes back.

In: a function that carries out one 64-byte entry. Out: what the controller identifies
itself by, queues, features. A status other than success is an error that names it.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable

from xiokv.runtime.controller import Limits, Rings
from xiokv.runtime.errors import ArgumentFault, RuntimeFault

PAGE_BYTES = 4096

_KEY_VALUE = 1
_KEY_BYTES = 16
_DELETE_SQ, _CREATE_SQ, _DELETE_CQ, _CREATE_CQ = 0x00, 0x01, 0x04, 0x05
_IDENTIFY, _GET_FEATURES = 0x06, 0x0A
_NUMBER_OF_QUEUES = 0x07
_CONTIGUOUS = 1

# By SCT and SC.
_STATUSES = {
    0x001: "invalid opcode",
    0x002: "invalid field in command",
    0x004: "data transfer error",
    0x00B: "invalid namespace",
    0x013: "PRP offset invalid",
    0x100: "completion queue invalid",
    0x101: "invalid queue identifier",
    0x102: "invalid queue size",
    0x108: "invalid interrupt vector",
    0x10C: "invalid queue deletion",
}


class StatusFault(RuntimeFault):
    """An admin command that did not succeed.

    Attributes:
        status: bits 15:1 of the CQE's status: SC, and SCT above it.
    """

    def __init__(self, command: str, status: int) -> None:
        """Name the command and the status."""
        name = _STATUSES.get(status, "a status without a name here")
        super().__init__(f"{command}: SCT {status >> 8 & 7}, SC {status & 0xFF:02x}h ({name})")
        self.status = status


class AdminQueue:
    """Admin commands, one at a time."""

    def __init__(self, execute: Callable[[bytes], bytes]) -> None:
        """Take the function that turns an SQE into a CQE."""
        self._execute = execute

    def limits(self, nsid: int, cap: int, cc: int, queues_max: int | None = None) -> Limits:
        """Return the limits for a namespace.

        Args:
            nsid: which.
            cap: what CAP holds.
            cc: what CC holds.
            queues_max: most I/O queue pairs; by default what the controller grants.
        """
        if not _is_key_value(self._identify("descriptors", 0x03, nsid)):
            raise ArgumentFault(f"namespace {nsid} is not key-value")
        controller = self._identify("controller", 0x01)
        key_max, value_max = _format_in_force(self._identify("namespace", 0x05, nsid))
        mdts = controller[77]
        unit = PAGE_BYTES << (cap >> 48 & 0xF)
        return Limits(
            key_max=min(_KEY_BYTES, key_max),
            value_max=value_max,
            transfer_max=unit << mdts if mdts else 0,
            entries_max=(cap & 0xFFFF) + 1,
            queues_max=self._queues_max() if queues_max is None else queues_max,
            page_bytes=PAGE_BYTES << (cc >> 7 & 0xF),
        )

    def create_queue(self, qid: int, rings: Rings) -> None:
        """Create a queue pair: the completion queue first, both or none."""
        cq_size, sq_size = rings.cq_depth - 1, rings.sq_depth - 1
        self._command(
            f"Create I/O Completion Queue {qid} of {rings.cq_depth} entries",
            _CREATE_CQ,
            prp1=rings.cq_iova,
            cdw10=cq_size << 16 | qid,
            cdw11=_CONTIGUOUS,
        )
        try:
            self._command(
                f"Create I/O Submission Queue {qid} of {rings.sq_depth} entries",
                _CREATE_SQ,
                prp1=rings.sq_iova,
                cdw10=sq_size << 16 | qid,
                cdw11=qid << 16 | _CONTIGUOUS,
            )
        except RuntimeFault:
            self._command(f"Delete I/O Completion Queue {qid}", _DELETE_CQ, cdw10=qid)
            raise

    def delete_queue(self, qid: int) -> None:
        """Delete a queue pair: the submission queue first."""
        self._command(f"Delete I/O Submission Queue {qid}", _DELETE_SQ, cdw10=qid)
        self._command(f"Delete I/O Completion Queue {qid}", _DELETE_CQ, cdw10=qid)

    def _queues_max(self) -> int:
        granted = self._command("Get Features 07h", _GET_FEATURES, cdw10=_NUMBER_OF_QUEUES)
        return min(granted & 0xFFFF, granted >> 16) + 1

    def _identify(self, what: str, cns: int, nsid: int = 0) -> bytes:
        """Return an Identify data structure; those of a command set are key-value's."""
        memory = ctypes.create_string_buffer(2 * PAGE_BYTES)
        page = -(-ctypes.addressof(memory) // PAGE_BYTES) * PAGE_BYTES
        csi = _KEY_VALUE << 24 if cns == 0x05 else 0
        name = f"Identify {what} (CNS {cns:02x}h, NSID {nsid})"
        self._command(name, _IDENTIFY, nsid=nsid, prp1=page, cdw10=cns, cdw11=csi)
        return ctypes.string_at(page, PAGE_BYTES)

    def _command(
        self, name: str, opcode: int, *, nsid: int = 0, prp1: int = 0, cdw10: int, cdw11: int = 0
    ) -> int:
        """Carry out a command and return DW0."""
        sqe = struct.pack("<BBHI16xQ8xII16x", opcode, 0, 0, nsid, prp1, cdw10, cdw11)
        dw0, phase_and_status = struct.unpack("<I10xH", self._execute(sqe))
        if phase_and_status >> 1:
            raise StatusFault(name, phase_and_status >> 1)
        return int(dw0)


def _is_key_value(descriptors: bytes) -> bool:
    """Look for the descriptor of type 4, the command set identifier."""
    at = 0
    while at + 4 < len(descriptors) and descriptors[at + 1] != 0:
        if descriptors[at] == 4:
            return descriptors[at + 4] == _KEY_VALUE
        at += 4 + descriptors[at + 1]
    return False


def _format_in_force(namespace: bytes) -> tuple[int, int]:
    """Return the largest key and the largest value of the active format."""
    active = namespace[29] & 0xF
    key_max, value_max = struct.unpack_from("<H2xI", namespace, 72 + 16 * active)
    return int(key_max), int(value_max)
