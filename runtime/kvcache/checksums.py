"""Checksums of payloads: bytes in, 16 bytes out.

``xxh3-128`` finds every accident of storage and transport at the speed of memory. It is no
protection against somebody who writes to the store on purpose; ``blake2b-128`` is, as far as
the manifest that holds it can be trusted.

Both let other threads run while they are at a large payload, so that large ones are spread
over the cores of the process.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import xxhash

SIZE = 16

#: (n, 16) checksums.
Checksums = npt.NDArray[np.uint8]

Algorithm = Literal["xxh3-128", "blake2b-128"]
DEFAULT: Algorithm = "xxh3-128"


def _blake2b(payload: Any) -> bytes:
    return hashlib.blake2b(payload, digest_size=SIZE).digest()


ALGORITHMS: dict[Algorithm, Callable[[Any], bytes]] = {
    "xxh3-128": xxhash.xxh3_128_digest,
    "blake2b-128": _blake2b,
}

# Mean bytes of a payload from which threads gain more than their turns at the interpreter cost,
# which xxhash keeps to itself for up to 100,000; with so few cores it takes twice as much.
_FEW_CORES = 3
_LARGE: dict[Algorithm, int] = {"xxh3-128": 128 << 10, "blake2b-128": 32 << 10}
# Bytes for which a thread is worth its start.
_SHARE: dict[Algorithm, int] = {"xxh3-128": 4 << 20, "blake2b-128": 512 << 10}
# More make memory no faster.
_THREADS_MAX = 16
# Pieces of each thread's work, as its core may be busy with something else.
_PIECES = 8


def checksums_of(algorithm: Algorithm, payloads: Iterable[Any]) -> Checksums:
    """Return the checksum of each payload, as an (n, 16) array.

    Args:
        algorithm: which.
        payloads: buffers of bytes, each in one piece. Those of a list may be read by several
            threads at once, all of which end before this returns.
    """
    digest = ALGORITHMS[algorithm]
    found: Iterable[bytes] = map(digest, payloads)
    if isinstance(payloads, list):
        threads = threads_for(algorithm, len(payloads), sum(map(len, payloads)))
        if threads > 1:
            found = _spread(digest, payloads, threads)
    return np.frombuffer(b"".join(found), np.uint8).reshape(-1, SIZE)


def threads_for(algorithm: Algorithm, count: int, size: int) -> int:
    """Return how many threads payloads are worth, at most one a core of this process.

    Args:
        algorithm: which.
        count: how many there are.
        size: bytes of all of them.
    """
    share, cores = _SHARE[algorithm], len(os.sched_getaffinity(0))
    large = _LARGE[algorithm] * (2 if cores <= _FEW_CORES else 1)
    if count < 2 or size < max(2 * share, count * large):
        return 1
    return min(_THREADS_MAX, cores, count, size // share)


def _spread(digest: Callable[[Any], bytes], payloads: list[Any], threads: int) -> Iterable[bytes]:
    """Return digests, computed by the caller and by threads of which none is left.

    The caller takes pieces as the others do, so that it waits for none that gets no core.
    """
    found: list[bytes] = [b""] * len(payloads)
    pieces = deque(_pieces(payloads, threads * _PIECES))

    def work() -> None:
        with suppress(IndexError):  # no piece is left
            while True:
                begin, end = pieces.popleft()
                found[begin:end] = map(digest, payloads[begin:end])

    with ThreadPoolExecutor(threads - 1, "xiokv-checksums") as pool:
        helpers = []
        with suppress(RuntimeError):  # the system has no thread to give
            for _ in range(threads - 1):
                helpers.append(pool.submit(work))
        work()
    for helper in helpers:
        helper.result()
    return found


def _pieces(payloads: list[Any], count: int) -> Iterable[tuple[int, int]]:
    """Return the ends of pieces of about as many bytes, `count` at most."""
    ends = np.cumsum(list(map(len, payloads)))
    marks = ends[-1] * np.arange(1, count) // count
    edges = [0, *np.searchsorted(ends, marks).tolist(), len(payloads)]
    return ((begin, end) for begin, end in pairwise(edges) if begin < end)
