"""Block keys: who, which layout and which content in; 32-byte digests and 16-byte keys out.

A digest is BLAKE2b-256 of tenant, policy, layout id and content digest, keyed by the tenant's
secret. Its first 16 bytes are the key under which the block is stored; the whole of it is kept
beside the block, so that two contents with one key are told apart. Nothing can be read from a
key, and who has not the secret cannot make one.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xiokv.runtime.arguments import integer, integers
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.documents import canonical
from xiokv.runtime.kvcache.manifest import KvLayout, Shard

KEY_SIZE = 16
DIGEST_SIZE = 32
SECRET_MAX = 64
RANKS = 1 << 32

_BLOCK = b"xiokv-block-1"
_LAYOUT = b"xiokv-layout-1"
_DONOR = b"xiokv-donor-1"
_MANIFEST = b"xiokv-manifest"
_PART = b"xiokv-part-1"

#: (n, 32) digests.
Digests = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Keyspace:
    """Whose blocks they are.

    Attributes:
        tenant: namespace of the tenant.
        policy: namespace within it, such as what may be shared with whom.
        secret: key of BLAKE2b, at most 64 bytes; a tenant's processes share it.
    """

    tenant: str
    policy: str = ""
    secret: bytes = b""

    def __post_init__(self) -> None:
        for name, text in (("tenant", self.tenant), ("policy", self.policy)):
            if not isinstance(text, str) or len(_encoded(name, text)) > 1024:
                raise ArgumentFault(f"{name} is {text!r}; allowed is a text of up to 1024 bytes")
        if not self.tenant:
            raise ArgumentFault("tenant is empty; name whose blocks these are")
        if not isinstance(self.secret, bytes) or len(self.secret) > SECRET_MAX:
            raise ArgumentFault(f"secret: allowed are bytes, up to {SECRET_MAX}")

    def digests(self, layout: bytes, contents: Iterable[bytes]) -> Digests:
        """Return the digest of each content in a layout.

        Args:
            layout: as `layout_id` returns it.
            contents: digests of 16 to 64 bytes, such as hashes of tokens and all before them.
        """
        begun = self._begun(_BLOCK)
        begun.update(_framed(layout))
        found = []
        for content in contents:
            if not isinstance(content, bytes) or not 16 <= len(content) <= 64:
                seen = f"{len(content)} bytes" if isinstance(content, bytes) else repr(content)[:80]
                raise ArgumentFault(f"a content digest is {seen}; allowed are 16 to 64 bytes")
            block = begun.copy()
            block.update(_framed(content))
            found.append(block.digest())
        return np.frombuffer(b"".join(found), np.uint8).reshape(-1, DIGEST_SIZE)

    def donor_key(self, donor: str, rank: int) -> bytes:
        """Return the key under which a donor's head is stored."""
        if not 0 <= integer("rank", rank) < RANKS:
            raise ArgumentFault(f"rank is {rank}; allowed are 0 to {RANKS - 1}")
        begun = self._begun(_DONOR)
        begun.update(_framed(_encoded("donor", donor)) + struct.pack("<I", rank))
        return begun.digest()[:KEY_SIZE]

    def manifest_digest(self, digest: bytes) -> bytes:
        """Return the digest under which the bytes of a manifest are stored, as a block's."""
        begun = self._begun(_MANIFEST)
        begun.update(_framed(digest))
        return begun.digest()

    def _begun(self, purpose: bytes) -> hashlib.blake2b:
        begun = hashlib.blake2b(digest_size=DIGEST_SIZE, key=self.secret, person=purpose)
        begun.update(_framed(self.tenant.encode()) + _framed(self.policy.encode()))
        return begun


def layout_id(layout: KvLayout, shard: Shard) -> bytes:
    """Return what stands for a model's layout and one shard of it: 32 bytes.

    Whatever makes the bytes of a block mean something else is in it: model, tokenizer, RoPE,
    dtype, heads, tensor-parallel rank, layers, K or V.
    """
    content = canonical([layout.identity, shard])
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE, person=_LAYOUT).digest()


def token_digests(
    tokens: Sequence[int] | npt.NDArray[np.int64], block_tokens: int, before: bytes = b""
) -> list[bytes]:
    """Return a content digest for each whole block of tokens: a chain of SHA-256.

    Each covers its block and all tokens before it, since these are in the block's keys and
    values, too.

    Args:
        tokens: token ids.
        block_tokens: tokens of a block; a rest at the end gets no digest.
        before: digest of what comes before the first token.
    """
    ids = integers("tokens", tokens, len(tokens))
    if len(ids) and not 0 <= ids.min() <= ids.max() < 1 << 32:
        raise ArgumentFault("tokens: ids of 0 to 4294967295 are allowed")
    ids = ids.astype("<u4")
    found = []
    if integer("block_tokens", block_tokens) < 1:
        raise ArgumentFault(f"block_tokens {block_tokens}: 1 or more is needed")
    for start in range(0, len(ids) - block_tokens + 1, block_tokens):
        block = ids[start : start + block_tokens].tobytes()
        before = hashlib.sha256(before + block).digest()
        found.append(before)
    return found


def part_key(key: bytes, part: int) -> bytes:
    """Return the key of the value that holds a part of a block; that of part 0 is the block's."""
    return _derived(key, struct.pack("<I", part)) if part else key


def record_keys(digests: Digests) -> npt.NDArray[np.uint8]:
    """Return the keys of the records that are stored beside blocks: (n, 16).

    They are made of the blocks' keys, so that contents whose keys are the same find each
    other's record, and in it another digest.
    """
    joined = b"".join(_derived(digest[:KEY_SIZE].tobytes(), b"record") for digest in digests)
    return np.frombuffer(joined, np.uint8).reshape(-1, KEY_SIZE)


def _derived(key: bytes, what: bytes) -> bytes:
    return hashlib.blake2b(key + what, digest_size=KEY_SIZE, person=_PART).digest()


def _encoded(name: str, text: str) -> bytes:
    if not isinstance(text, str):
        raise ArgumentFault(f"{name} is {text!r}; allowed is a text")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentFault(f"{name} is {text!r}, which is no text in UTF-8: {error}") from error


def _framed(field: bytes) -> bytes:
    """Return a field with its length, so that no two lists of fields are the same bytes."""
    if len(field) > 0xFFFF:
        raise ArgumentFault(f"{len(field)} bytes are given for a key; allowed are 65535 a field")
    return struct.pack("<H", len(field)) + field
