"""What a status of a completion means to whoever reads a message, and what to do about it."""

from __future__ import annotations

import struct

from xiokv.generated.nvme_kv import Completion, Status, decode_completion

_PATHING_ERROR = 0x60  # of SCT 3h: Controller Pathing Error

# Names of statuses of other types than those of the command set.
_NAMES = {(3, _PATHING_ERROR): "CONTROLLER_PATHING_ERROR"}

# By type and code, statuses that a store refuses commands with.
_ADVICE: dict[tuple[int, int], str] = {
    (0, Status.OPERATION_DENIED): (
        "who opened the store may not do this; of a Ceph pool, look at the user's caps"
        " (ceph auth get client.NAME), or name another user"
    ),
    (0, Status.COMMAND_NAMESPACE_IS_PROTECTED): (
        "the store is opened read-only; leave read_only out of its URL to write"
    ),
    (0, Status.CAPACITY_EXCEEDED): (
        "there is no room for the value, or a quota is reached; delete values, or enlarge the store"
    ),
    (0, Status.NAMESPACE_NOT_READY): (
        "the store did not answer in time; of a Ceph pool, see that its OSDs and monitors run"
        " (ceph status), or raise timeout in its URL"
    ),
    (0, Status.INVALID_NAMESPACE_OR_FORMAT): (
        "what the store was opened on is not there; of a Ceph pool, it was deleted"
    ),
    (0, Status.INVALID_VALUE_SIZE): (
        "the value is larger than the namespace or its store allows; of a Ceph pool, compare"
        " value_max and osd_max_object_size and osd_max_write_size"
    ),
    (3, _PATHING_ERROR): (
        "the store has shut this client out; of a Ceph pool, it is blocklisted: open the store anew"
    ),
}


def completion(word: int) -> Completion:
    """Return the completion that carried a status, bits 15:1 of its last half-word."""
    return decode_completion(struct.pack("<IIIHH", 0, 0, 0, 0, word << 1))


def told(said: Completion) -> str:
    """Return name and numbers of a status."""
    numbers = f"SCT {said.sct:X}h, SC {said.sc:02X}h"
    name = _NAMES.get((said.sct, said.sc), said.name)
    if name == numbers:  # it has no other
        return f"{numbers}, DNR {said.dnr}"
    return f"{name} ({numbers}, DNR {said.dnr})"


def advice(said: Completion) -> str:
    """Return what a status means and what to do; empty where that depends on the command."""
    return _ADVICE.get((said.sct, said.sc), "")


def explained(said: Completion) -> str:
    """Return name, numbers and, where there is any, advice."""
    more = advice(said)
    return f"{told(said)}: {more}" if more else told(said)
