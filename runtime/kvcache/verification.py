"""Checks what landed: states and bytes in, states out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.checksums import Algorithm, Checksums, checksums_of
from xiokv.runtime.kvcache.memory import on_host, slices
from xiokv.runtime.kvcache.records import same_rows
from xiokv.runtime.kvcache.states import BlockState, Ints, States, any_are, which_are
from xiokv.runtime.kvcache.storage import Fetch, apart, joined, offsets_of_fetch, sizes_of_fetch
from xiokv.runtime.spans import Span

_VERIFIED, _CORRUPT = np.uint8(BlockState.VERIFIED), np.uint8(BlockState.CORRUPT)


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
    landed = np.flatnonzero(which_are(states, BlockState.LANDED))
    blocks = slices(memory, offsets[landed], sizes[landed])
    right = same_rows(checksums_of(algorithm, blocks), checksums[landed])
    checked = states.copy()
    checked[landed] = np.where(right, _VERIFIED, _CORRUPT)
    return checked


def check_fetches(fetches: Sequence[Fetch], out: Any, states: Sequence[States]) -> list[States]:
    """Check the blocks of fetches, each by its manifest."""
    checked = list(states)
    if not any(any_are(found, BlockState.LANDED) for found in states):
        return checked
    offsets = [offsets_of_fetch(fetch) for fetch in fetches]
    sizes = [sizes_of_fetch(fetch) for fetch in fetches]
    begins = joined(offsets)
    memory = on_host("out", out, int(begins.min()), int((begins + joined(sizes)).max()))
    by_algorithm: dict[Algorithm, list[int]] = {}
    for at, fetch in enumerate(fetches):
        by_algorithm.setdefault(fetch.lease.donor.manifest.checksum, []).append(at)
    for algorithm, some in by_algorithm.items():
        chosen = [fetches[at] for at in some]
        found = check_landed(
            np.concatenate([states[at] for at in some]),
            algorithm,
            joined([fetch.lease.donor.table.checksums[fetch.blocks] for fetch in chosen]),
            memory,
            joined([offsets[at] for at in some]),
            joined([sizes[at] for at in some]),
        )
        for at, part in zip(some, apart(found, chosen), strict=True):
            checked[at] = part
    return checked
