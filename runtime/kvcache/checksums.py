"""Checksums of payloads: bytes in, 16 bytes out.

``xxh3-128`` finds every accident of storage and transport at the speed of memory. It is no
protection against somebody who writes to the store on purpose; ``blake2b-128`` is, as far as
the manifest that holds it can be trusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
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


def checksums_of(algorithm: Algorithm, payloads: Iterable[Any]) -> Checksums:
    """Return the checksum of each payload, as an (n, 16) array.

    Args:
        algorithm: which.
        payloads: buffers in one piece.
    """
    joined = b"".join(map(ALGORITHMS[algorithm], payloads))
    return np.frombuffer(joined, np.uint8).reshape(-1, SIZE)
