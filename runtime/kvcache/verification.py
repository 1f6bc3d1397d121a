"""Checks what landed: states and bytes in, states out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.checksums import Algorithm, Checksums, checksums_of
from xiokv.runtime.kvcache.memory import on_host, slices
from xiokv.runtime.kvcache.records import same_rows
from xiokv.runtime.kvcache.states import BlockState, Ints, States
from xiokv.runtime.kvcache.storage import Fetch
from xiokv.runtime.spans import Span


def check_landed(
    states: States,
    algorithm: Algorithm,
    checksums: Checksums,
    memory: Span,
    offsets: Ints,
    sizes: Ints,
) -> States:
    """Return states in which LANDED has become VERIFIED or CORRUPT.

    Args:
        states: a `BlockState` a block.
        algorithm: of the checksums.
        checksums: what each block's is to be.
        memory: where the blocks are, on the host.
        offsets: where each begins.
        sizes: bytes of each.
    """
    landed = np.flatnonzero(states == BlockState.LANDED)
    blocks = slices(memory, offsets[landed], sizes[landed])
    right = same_rows(checksums_of(algorithm, blocks), checksums[landed])
    checked = states.copy()
    checked[landed] = np.where(right, BlockState.VERIFIED, BlockState.CORRUPT)
    return checked


def check_fetches(fetches: Sequence[Fetch], out: Any, states: Sequence[States]) -> list[States]:
    """Check the blocks of fetches, each by its manifest."""
    if not any((found == BlockState.LANDED).any() for found in states):
        return list(states)
    memory = on_host("out", out)
    checked = []
    for fetch, found in zip(fetches, states, strict=True):
        donor, which = fetch.lease.donor, fetch.blocks
        table = donor.table
        checked.append(
            check_landed(
                found,
                donor.manifest.checksum,
                table.checksums[which],
                memory,
                fetch.offsets,
                table.sizes[which],
            )
        )
    return checked
