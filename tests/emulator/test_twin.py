"""The controller and the generated Python twin, written apart, agree about the wire."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from xiokv.generated import nvme_kv


def run(host: Any, entry: bytes) -> nvme_kv.Completion:
    """Run an encoded command on the data pages; CID and DPTR are submission's part."""
    image = bytearray(entry)
    struct.pack_into("<H", image, 2, 0x55AA)
    if image[0] in {1, 2, 6}:
        struct.pack_into("<Q", image, 24, host.data.address)
    host.submit(bytes(image))
    host.drive()
    completion = nvme_kv.decode_completion(host.cq.get(16 * host.head, 16))
    host.take()
    return completion


@pytest.mark.parametrize("key", [b"k", b"12345678", b"nine byte", bytes(range(16))])
def test_encoded_commands_pass_the_strict_controller(make: Any, key: bytes) -> None:
    host = make(strict=True)
    host.data.put(0, b"value")
    names = [
        run(host, nvme_kv.encode("store", nsid=1, key=key, value_size=5)).name,
        run(host, nvme_kv.encode("exist", nsid=1, key=key)).name,
        run(host, nvme_kv.encode("store", nsid=1, key=key, value_size=5, options=2)).name,
        run(host, nvme_kv.encode("delete", nsid=1, key=key)).name,
        run(host, nvme_kv.encode("retrieve", nsid=1, key=key, value_size=5)).name,
    ]

    assert [name.split()[0] for name in names] == [
        "SUCCESS",
        "SUCCESS",
        "KEY_EXISTS",
        "SUCCESS",
        "KEY_DOES_NOT_EXIST",
    ]


def test_a_decoded_completion_has_the_size_and_the_identifiers(host: Any) -> None:
    host.store(b"k", b"value")
    completion = run(host, nvme_kv.encode("retrieve", nsid=1, key=b"k", value_size=3))

    assert (completion.cid, completion.sqid) == (0x55AA, 1)
    assert (completion.dw0, completion.sct, completion.sc) == (5, 0, 0)


@pytest.mark.parametrize("length", range(1, 17))
def test_a_decoded_page_has_the_keys(host: Any, length: int) -> None:
    keys = [bytes([65 + number]) * length for number in range(5)]
    for key in keys:
        host.store(key, b"")
    run(host, nvme_kv.encode("list", nsid=1, key=b"", value_size=4096))

    assert nvme_kv.decode_list(host.data.get(0, 4096)) == keys
