"""The operations of the embedded controller's Exec, by the ids in exec_operations.cpp."""

from __future__ import annotations

from enum import IntEnum


class ExecOperation(IntEnum):
    """What an Exec does next to a value; numbers in inputs and outputs are little-endian."""

    #: No input; the value's size, 8 bytes.
    LENGTH = 1
    #: No input; CRC-32C of the value, 4 bytes.
    CHECKSUM = 2
    #: Input: offset and length, 8 bytes each; these bytes of the value, as far as it goes.
    RANGE = 3
