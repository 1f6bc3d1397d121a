"""Records: what is stored beside each block, so that whoever finds the key can check it.

A record is written after its block, so that a block with a record is whole. It has a checksum
of its own: one that was damaged is no record, and never speaks of another content.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import xxhash

from xiokv.runtime.kvcache.checksums import Algorithm, Checksums
from xiokv.runtime.kvcache.wanted import Wanted

_MAGIC = b"xiokvr02"
_ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

#: One record, as it is stored.
RECORD = np.dtype(
    [
        ("magic", "S8"),
        ("algorithm", "<u4"),
        ("reserved", "<u4"),
        ("bytes", "<u8"),
        ("part_bytes", "<u8"),
        ("digest", "u1", 32),
        ("checksum", "u1", 16),
        ("own", "<u8"),
    ]
)
_OWN_AT = RECORD.fields["own"][1] if RECORD.fields else 0

Records = npt.NDArray[Any]


def records_of(wanted: Wanted, checksums: Checksums, algorithm: Algorithm) -> Records:
    """Return the records of blocks."""
    records = np.zeros(len(wanted), RECORD)
    records["magic"] = _MAGIC
    records["algorithm"] = _ALGORITHMS.index(algorithm)
    records["bytes"] = wanted.sizes
    records["part_bytes"] = wanted.part_bytes
    records["digest"] = wanted.digests
    records["checksum"] = checksums
    records["own"] = _own_checksums(records)
    return records


def readable(records: Records) -> npt.NDArray[np.bool_]:
    """Tell which are records at all, whichever algorithm they speak of."""
    found: npt.NDArray[np.bool_] = records["magic"] == _MAGIC
    found &= records["own"] == _own_checksums(records)
    return found


def _own_checksums(records: Records) -> npt.NDArray[np.uint64]:
    rows = records.view(np.uint8).reshape(len(records), RECORD.itemsize)
    each = (xxhash.xxh3_64_intdigest(row[:_OWN_AT].tobytes()) for row in rows)
    return np.fromiter(each, np.uint64, len(records))


def well_formed(records: Records, algorithm: Algorithm) -> npt.NDArray[np.bool_]:
    """Tell which records can be read here, and speak of the same algorithm."""
    code = _ALGORITHMS.index(algorithm)
    found: npt.NDArray[np.bool_] = readable(records) & (records["algorithm"] == code)
    return found


def same_rows(a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Tell which rows of two arrays are equal."""
    equal: npt.NDArray[np.bool_] = (a == b).all(axis=1)
    return equal
