"""Block keys: what they are made of, against an implementation of BLAKE2b that is not Python's."""

from __future__ import annotations

import shutil
import struct
import subprocess
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.keyspace import Keyspace, part_key, record_keys, token_digests

BASE = Keyspace("acme", "public", b"a secret")
LAYOUT, CONTENT = b"L" * 32, b"C" * 32


def framed(*fields: bytes) -> bytes:
    return b"".join(struct.pack("<H", len(field)) + field for field in fields)


def openssl(message: bytes, key: bytes, person: bytes) -> bytes:
    """Return OpenSSL's BLAKE2b-256 with a key and a personalisation."""
    options = [f"hexkey:{key.hex()}", "size:32", f"hexcustom:{person.ljust(16, bytes(1)).hex()}"]
    arguments = [word for option in options for word in ("-macopt", option)]
    done = subprocess.run(
        ["openssl", "mac", *arguments, "-binary", "BLAKE2BMAC"],
        input=message,
        capture_output=True,
        check=True,
    )
    return done.stdout


def test_digests_are_those_of_another_implementation() -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    message = framed(b"acme", b"public", LAYOUT, CONTENT)
    expected = openssl(message, b"a secret", b"xiokv-block-1")
    assert BASE.digests(LAYOUT, [CONTENT])[0].tobytes() == expected


@pytest.mark.parametrize(
    ("keyspace", "layout", "content"),
    [
        (replace(BASE, tenant="acm"), LAYOUT, CONTENT),
        (replace(BASE, policy=""), LAYOUT, CONTENT),
        (replace(BASE, secret=b""), LAYOUT, CONTENT),
        (replace(BASE, tenant="acmep", policy="ublic"), LAYOUT, CONTENT),
        (BASE, b"M" * 32, CONTENT),
        (BASE, LAYOUT, b"D" * 32),
        (BASE, LAYOUT, CONTENT[:31]),
    ],
    ids=["tenant", "policy", "secret", "where tenant ends", "layout", "content", "length"],
)
def test_whatever_differs_makes_another_key(
    keyspace: Keyspace, layout: bytes, content: bytes
) -> None:
    one = BASE.digests(LAYOUT, [CONTENT])[0, :16].tobytes()
    assert keyspace.digests(layout, [content])[0, :16].tobytes() != one


def test_many_digests_are_each_its_own() -> None:
    contents = [bytes([index]) * 32 for index in range(5)]
    found = BASE.digests(LAYOUT, contents)
    assert found.shape == (5, 32)
    for content, digest in zip(contents, found, strict=True):
        assert (BASE.digests(LAYOUT, [content])[0] == digest).all()


def test_no_contents_have_no_digests() -> None:
    assert BASE.digests(LAYOUT, []).shape == (0, 32)


def test_all_that_belongs_to_a_block_has_keys_of_its_own() -> None:
    (digest,) = BASE.digests(LAYOUT, [CONTENT])
    keys = [part_key(digest[:16].tobytes(), part) for part in range(100)]
    keys.append(record_keys(digest.reshape(1, -1))[0].tobytes())
    assert keys[0] == digest[:16].tobytes()
    assert len(set(keys)) == 101


@pytest.mark.parametrize("content", [b"", b"c" * 15, b"c" * 65])
def test_a_content_digest_has_a_length(content: bytes) -> None:
    with pytest.raises(ArgumentFault, match="allowed are 16 to 64"):
        BASE.digests(LAYOUT, [content])


@pytest.mark.parametrize(
    "wrong",
    [{"tenant": ""}, {"tenant": "x" * 1025}, {"tenant": 5}, {"secret": b"s" * 65}, {"secret": "s"}],
)
def test_what_is_no_keyspace_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentFault, match=next(iter(wrong))):
        Keyspace(**{"tenant": "acme", **wrong})


class TestTokens:
    def test_a_digest_covers_the_tokens_before_its_block(self) -> None:
        one, other = list(range(64)), list(range(64))
        other[20] = 7
        a, b = token_digests(one, 16), token_digests(other, 16)
        assert [x == y for x, y in zip(a, b, strict=True)] == [True, False, False, False]

    def test_a_rest_has_no_digest(self) -> None:
        assert len(token_digests(range(63), 16)) == 3
        assert token_digests(range(15), 16) == []

    def test_a_chain_goes_on(self) -> None:
        whole = token_digests(range(64), 16)
        assert token_digests(range(32, 64), 16, before=whole[1]) == whole[2:]

    def test_arrays_are_taken(self) -> None:
        assert token_digests(np.arange(64, dtype=np.int32), 16) == token_digests(range(64), 16)

    @pytest.mark.parametrize("tokens", [[-1] * 16, [1 << 32] * 16, [0.5] * 16, ["a"] * 16])
    def test_what_is_no_token_is_refused(self, tokens: Any) -> None:
        with pytest.raises(ArgumentFault, match="tokens"):
            token_digests(tokens, 16)

    @pytest.mark.parametrize("block_tokens", [0, -16, 1.5])
    def test_a_block_has_tokens(self, block_tokens: Any) -> None:
        with pytest.raises(ArgumentFault, match="block_tokens"):
            token_digests(range(16), block_tokens)


@pytest.mark.parametrize("rank", [-1, 1 << 32])
def test_a_rank_has_32_bits(rank: int) -> None:
    with pytest.raises(ArgumentFault, match=f"rank is {rank}; allowed are 0 to 4294967295"):
        Keyspace("acme").donor_key("donor", rank)


def test_names_are_texts() -> None:
    for make in (Keyspace, lambda name: Keyspace("acme").donor_key(name, 0)):
        with pytest.raises(ArgumentFault, match="is no text in UTF-8"):
            make("\ud800")
    with pytest.raises(ArgumentFault, match="70000 bytes are given"):
        Keyspace("acme").donor_key("d" * 70000, 0)
