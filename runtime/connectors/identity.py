"""What blocks of a server are: its layout and its keys in, digests out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from xiokv.runtime.kvcache.documents import canonical
from xiokv.runtime.kvcache.keyspace import DIGEST_SIZE, Digests, Keyspace

_PERSON = b"xiokv-server-1"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def server_layout(server: str, facts: Mapping[str, Any]) -> bytes:
    """Return what stands for the layout of a server's blocks: 32 bytes.

    Args:
        server: which.
        facts: all that makes the same bytes mean something else.
    """
    content = canonical({"server": server, "facts": dict(facts)})
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE, person=_PERSON).digest()


def content_of(key: str) -> bytes:
    """Return the content digest that a key is: 32 bytes.

    SHA-256 in hexadecimal stands for itself; any other text is hashed.
    """
    if _SHA256.fullmatch(key):
        return bytes.fromhex(key)
    return hashlib.sha256(b"xiokv-text-key\0" + key.encode()).digest()


def piece_digests(
    keyspace: Keyspace, layouts: Sequence[bytes], contents: Iterable[bytes]
) -> Digests:
    """Return the digests of contents that consist of pieces, content by content.

    Args:
        keyspace: whose they are.
        layouts: one a piece.
        contents: a content digest each.

    Returns:
        (contents * pieces, 32).
    """
    wanted = list(contents)
    columns = [keyspace.digests(layout, wanted) for layout in layouts]
    return np.ascontiguousarray(np.stack(columns, axis=1)).reshape(-1, DIGEST_SIZE)
