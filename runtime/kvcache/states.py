"""What becomes of blocks, whichever storage they are in."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

#: One `BlockState` a block.
States = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


class BlockState(IntEnum):
    """What became of a block that was to be fetched; of several parts the highest counts."""

    #: It landed, and its checksum is that of the manifest.
    VERIFIED = 1
    #: It landed, with the right size; the checksum was not looked at.
    LANDED = 2
    #: The store has no such key.
    MISSING = 3
    #: The store has a value of another size under the key.
    WRONG_SIZE = 4
    #: The checksum is another.
    CORRUPT = 5
    #: The key is that of another content, too, which is stored there.
    COLLISION = 6
    #: The lease ended before the block had landed.
    EXPIRED = 7
    #: The batch was cancelled before this block was asked for.
    CANCELLED = 8
    #: The store reported an error.
    FAILED = 9
    #: No completion came in time; the slot may still be written.
    TIMEOUT = 10

    @property
    def usable(self) -> bool:
        """Whether the bytes are there, as far as was asked to be checked."""
        return self <= BlockState.LANDED


def which_are(states: States, state: BlockState) -> npt.NDArray[np.bool_]:
    """Tell which blocks are in a state; a member of an enum would make NumPy slow."""
    found: npt.NDArray[np.bool_] = states == int(state)
    return found


def any_are(states: States, state: BlockState) -> bool:
    """Tell whether any block is in a state."""
    return state in states.tobytes()


class PutState(IntEnum):
    """What became of a block that was to be stored."""

    #: It was stored.
    STORED = 1
    #: The same content was stored before; those bytes stay.
    SHARED = 2
    #: The store has other bytes for this content, and nothing that says which are right.
    CONFLICT = 3
    #: The key is that of another content, which is stored there.
    COLLISION = 4
    #: The store reported an error, or nothing.
    FAILED = 5

    @property
    def usable(self) -> bool:
        """Whether the block can be fetched."""
        return self <= PutState.SHARED
