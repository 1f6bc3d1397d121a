"""What a controller does not allow is refused before anything reaches it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.abi import Outcome
from xiokv.runtime.drivers.host import HostDriver
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault, RuntimeFault

ATTACH: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "depth above MQES": ({"mqes": 63}, {"depth": 65}, "depth 65: 2 to 64.*MQES"),
    "depth of one": ({}, {"depth": 1}, "depth 1"),
    "more queues": ({"queues": 2}, {"queues": 3}, "queues 3: 1 to 2"),
    "no queue": ({}, {"queues": 0}, "queues 0"),
    "no window": ({}, {"window": 0}, "window 0"),
    "window above CIDs": ({}, {"window": 65536}, "window 65536"),
    "all namespaces": ({}, {"nsid": 0xFFFFFFFF}, "(?i)nsid|namespace"),
    "block above KVVML": ({"value_max": 8192}, {"block_size": 8196}, "block_size 8196.*8192"),
    "block above MDTS": ({"mdts": 1}, {"block_size": 8196}, "block_size 8196.*8192.*MDTS"),
    "odd block": ({}, {"block_size": 10}, "block_size 10: a multiple of 4"),
    "no block": ({}, {"block_size": 0}, "block_size 0"),
    "no time": ({}, {"timeout": 0}, "timeout 0"),
    "no number of queues": ({}, {"queues": 2.0}, "queues is 2.0; allowed is an integer"),
    "a text for queues": ({}, {"queues": "2"}, "queues is '2'"),
    "truth for queues": ({}, {"queues": True}, "queues is True"),
    "a list of no queues": ({}, {"queues": ["2"]}, "queues is \\['2'\\]"),
    "a text for depth": ({}, {"depth": "8"}, "depth is '8'; allowed is an integer"),
    "half a depth": ({}, {"depth": 8.5}, "depth is 8.5"),
    "a text for window": ({}, {"window": "8"}, "window is '8'"),
    "a text for the namespace": ({}, {"nsid": "1"}, "nsid is '1'"),
    "half a block": ({}, {"block_size": 4096.0}, "block_size is 4096.0"),
    "a text for time": ({}, {"timeout": "5"}, "timeout is '5'; allowed is a number"),
    "no end": ({}, {"timeout": float("inf")}, "timeout inf"),
}


@pytest.mark.parametrize(("controller", "options", "said"), ATTACH.values(), ids=ATTACH)
def test_attach_refuses(attach, controller: Any, options: Any, said: str) -> None:
    with pytest.raises(RuntimeFault, match=said):
        attach(controller, **options)


def test_attach_takes_the_integers_and_numbers_of_numpy(attach) -> None:
    _, kv = attach(
        {"queues": np.int64(2), "threads": np.uint8(1)},
        queues=np.int64(2),
        depth=np.uint16(64),
        window=np.int32(63),
        nsid=np.int8(1),
        block_size=np.int64(8),
        timeout=np.float32(5),
    )
    kv.store([b"a"], b"12345678").raise_for_status()
    assert list(kv.list(limit=np.int64(1))) == [b"a"]
    result = kv.xio_batched_kv_retrieve([b"a"], np.int64(1), bytearray(8), None)
    assert result.status.tolist() == [Outcome.OK]


def test_attach_refuses_other_pages(module) -> None:
    class LargePages(Emulator):
        def limits(self, nsid: int):
            return replace(super().limits(nsid), page_bytes=8192)

    with LargePages() as controller, pytest.raises(ArgumentFault, match="pages of 8192 bytes"):
        module.attach(controller)


def test_an_attach_that_was_refused_frees_its_memory(module, monkeypatch) -> None:
    allocated: list[Any] = []
    allocate = HostDriver.allocate

    def noted(self: HostDriver, *wanted: Any, **options: Any) -> Any:
        allocated.append(allocate(self, *wanted, **options))
        return allocated[-1]

    monkeypatch.setattr(HostDriver, "allocate", noted)
    with Emulator(queues=2) as controller, pytest.raises(ArgumentFault):
        module.attach(controller, queues=3)
    assert allocated
    assert [memory.view.size for memory in allocated] == [0] * len(allocated)


def test_no_queue_is_left_of_an_attach_that_was_refused(module) -> None:
    with Emulator(queues=2) as controller:
        with pytest.raises(ArgumentFault):
            module.attach(controller, queues=2, depth=1)
        with module.attach(controller, queues=2) as kv:
            assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]


CALLS: dict[str, tuple[dict[str, Any], dict[str, Any], Any, str]] = {
    "key above the format in force": (
        {"key_max": 8, "active_format": 3},
        {},
        lambda kv: kv.exist([b"123456789"]),
        "key 0 has 9 bytes; 1 to 8",
    ),
    "start key above it": (
        {"key_max": 8},
        {},
        lambda kv: kv.list(b"123456789"),
        "start key has 9 bytes; 0 to 8",
    ),
    "store above KVVML": (
        {"value_max": 4096},
        {},
        lambda kv: kv.store([b"a"], bytes(4100)),
        "value 0 has 4100 bytes; 0 to 4096",
    ),
    "store above MDTS": (
        {"mdts": 1},
        {},
        lambda kv: kv.store([b"a"], bytes(8196)),
        "value 0 has 8196 bytes; 0 to 8192",
    ),
    "retrieve above MDTS": (
        {"mdts": 1},
        {},
        lambda kv: kv.retrieve([b"a"], bytearray(8196)),
        "slot 0 is to take 8196 bytes; 0 to 8192",
    ),
    "store above the block": (
        {},
        {"block_size": 64},
        lambda kv: kv.store([b"a"], [bytes(65)]),
        "value 0 has 65 bytes; 0 to 64",
    ),
    "both conditions": (
        {},
        {},
        lambda kv: kv.store([b"a"], b"1234", if_absent=True, if_present=True),
        "no key is both",
    ),
    "no time": ({}, {}, lambda kv: kv.exist([b"a"], timeout=-1), "timeout -1"),
    "limit": ({}, {}, lambda kv: kv.list(limit=-1), "limit -1"),
    "read-only out": ({}, {}, lambda kv: kv.retrieve([b"a"], bytes(4)), "read-only"),
    "strided out": (
        {},
        {},
        lambda kv: kv.retrieve([b"a"], np.zeros((8, 8))[:, 0]),
        "not in one piece",
    ),
    "small out": (
        {},
        {"block_size": 64},
        lambda kv: kv.retrieve([b"a", b"b"], bytearray(127)),
        "out has 127 bytes; 2 keys of block_size 64 need 128",
    ),
}


@pytest.mark.parametrize(("controller", "options", "call", "said"), CALLS.values(), ids=CALLS)
def test_a_call_refuses_and_sends_nothing(
    attach, controller: Any, options: Any, call: Any, said: str
) -> None:
    emulator, kv = attach(controller, **options)
    with pytest.raises(ArgumentFault, match=said):
        call(kv)
    assert emulator.counters().commands == 0


@pytest.mark.parametrize("queues", [1, 2])
def test_the_largest_value_that_is_allowed_goes_through(attach, queues: int) -> None:
    _, kv = attach({"mdts": 1, "value_max": 8192}, queues=queues, depth=4)
    values = np.random.default_rng(5).integers(0, 256, (8, 8192), np.uint8)
    keys = [b"%d" % i for i in range(8)]
    kv.store(keys, values).raise_for_status()
    out = np.zeros_like(values)
    kv.retrieve(keys, out).raise_for_status()
    assert (out == values).all()


PAGES = [1, 4092, 4096, 4100, 8192, 8196, 12288, 513 << 12, (514 << 12) + 4, 1025 << 12]


@pytest.mark.parametrize("size", PAGES)
@pytest.mark.parametrize("start", [0, 4, 2048, 4092])
def test_values_of_many_pages_begin_anywhere(attach, size: int, start: int) -> None:
    """Lists of one page and chained ones, and nothing beside the value is touched."""
    _, kv = attach(depth=4, window=3)
    count = 3
    slot = -(-size // 4096) * 4096 + 4096
    offsets = np.arange(count) * slot + start
    memory = np.random.default_rng(size).integers(0, 256, (count + 1) * slot, np.uint8)
    keys = [b"%d" % i for i in range(count)]
    kv.store(keys, memory, sizes=size, offsets=offsets).raise_for_status()
    out = np.full_like(memory, 0xEE)
    kv.retrieve(keys, out, sizes=size, offsets=offsets).raise_for_status()
    expected = np.full_like(memory, 0xEE)
    for offset in offsets:
        expected[offset : offset + size] = memory[offset : offset + size]
    assert (out == expected).all()
