"""The structures that the runtime and the engine share, as ctypes declares them.

They mirror ``xiokv/kv_abi.h``, where every member is documented. The layout hash is
computed from these declarations alone and compared with the one inside a module.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

VERSION = 1
PAGE_BYTES = 4096
WINDOW_MAX = 65535
RING_STEP = 2048
NO_STATUS = 0xFFFF
PLACES = 3


class Outcome(IntEnum):
    """What became of one key; NONE where no kernel got to it."""

    NONE = 0
    OK = 1
    TRUNCATED = 2
    MISSING = 3
    EXISTS = 4
    ERROR = 5
    TIMEOUT = 6
    CANCELLED = 7


class QueueState(IntEnum):
    """Whether a queue takes commands."""

    READY = 0
    DEAD = 1


class Result(ctypes.Structure):
    """Result of one key."""

    _fields_ = (
        ("value_size", ctypes.c_uint32),
        ("status", ctypes.c_uint16),
        ("outcome", ctypes.c_uint8),
        ("reserved", ctypes.c_uint8),
    )


class QueueReport(ctypes.Structure):
    """Counters of one queue since it was attached."""

    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            "submitted",
            "completed",
            "stale",
            "unknown",
            "foreign",
            "oversize",
            "timeouts",
            "doorbells",
        )
    )


class Queue(ctypes.Structure):
    """A queue pair as the engine sees it."""

    _fields_ = (
        *(
            (name, ctypes.c_uint64)
            for name in (
                "sq",
                "cq",
                "sq_doorbell",
                "cq_doorbell",
                "tables",
                "prp_pool",
                "prp_iova",
                "mirror",
            )
        ),
        *(
            (name, ctypes.c_uint32)
            for name in (
                "prp_pages",
                "sq_depth",
                "cq_depth",
                "window",
                "qid",
                "nsid",
                "max_transfer",
                "max_value",
                "sq_tail",
                "cq_head",
                "cq_phase",
                "free_position",
                "state",
                "reserved",
            )
        ),
        ("report", QueueReport),
    )


class Semantic(ctypes.Structure):
    """Bits for one of the three places that may carry semantic fields."""

    _fields_ = (
        ("per_key", ctypes.c_uint64),
        ("mask", ctypes.c_uint32),
        ("value", ctypes.c_uint32),
    )


class BatchState(ctypes.Structure):
    """What the queues of one launch share; all zero before the launch and after it."""

    _fields_ = (
        ("claimed", ctypes.c_uint64),
        ("exited", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


class Stop(ctypes.Structure):
    """Stop flag; it lies on a 16-byte boundary."""

    _fields_ = (("flag", ctypes.c_uint32), ("reserved", ctypes.c_uint32 * 3))


class Batch(ctypes.Structure):
    """One launch: a command for `count` keys over `queue_count` queues."""

    _fields_ = (
        *(
            (name, ctypes.c_uint64)
            for name in (
                "queues",
                "first_ring",
                "state",
                "stop",
                "keys",
                "key_lengths",
                "sizes",
                "offsets",
                "stride",
                "iova",
                "page_table",
                "page_offset",
                "results",
                "deadline",
                "total",
            )
        ),
        *(
            (name, ctypes.c_uint32)
            for name in (
                "count",
                "queue_count",
                "chunk",
                "key_length",
                "value_size",
                "options",
            )
        ),
        ("semantic", Semantic * PLACES),
    )


# In the order of kv_abi_hash.h.
STRUCTURES = (Result, QueueReport, Queue, Semantic, BatchState, Stop, Batch)

_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_WORD = (1 << 64) - 1


def layout_hash() -> int:
    """Return the hash of version, sizes and offsets that a module carries too."""
    numbers = [VERSION]
    for structure in STRUCTURES:
        numbers.append(ctypes.sizeof(structure))
        numbers += [getattr(structure, field[0]).offset for field in structure._fields_]
    digest = _FNV_OFFSET
    for number in numbers:
        digest = ((digest ^ number) * _FNV_PRIME) & _WORD
    return digest


def table_bytes(window: int) -> int:
    """Return the bytes of a queue's tables: free ring, live CIDs, key indices."""
    return -(-window * 2 // RING_STEP) * RING_STEP + window * 8
