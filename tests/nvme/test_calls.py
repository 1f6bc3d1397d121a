"""The calls of a KV on a namespace that is passed through."""

from __future__ import annotations

import errno
import struct

import numpy as np
import pytest

from xiokv.runtime import KV, Emulator, Outcome, Passthrough, load

from .conftest import Standin

# struct nvme_passthru_cmd64, as the system's header lays it out.
CALL = struct.Struct("<BBHIIIQQIIIIIIIIIIQ")
KEY = bytes(range(1, 17))


def stamped(count: int, size: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 256, (count, size), np.uint8)


def keys(count: int) -> list[bytes]:
    return [b"key %d" % i for i in range(count)]


@pytest.mark.parametrize(("count", "size"), [(1, 4), (300, 4096), (40, 70000), (3, 3 << 20)])
def test_what_was_stored_is_retrieved(kv: KV, count: int, size: int) -> None:
    values = stamped(count, size)
    kv.store(keys(count), values).raise_for_status()
    out = np.zeros_like(values)
    result = kv.retrieve(keys(count), out)
    result.raise_for_status()
    assert (out == values).all()
    assert (result.value_size == size).all()


def test_every_command_answers_as_it_does_elsewhere(kv: KV) -> None:
    kv.store([b"a", b"b"], stamped(2, 512)).raise_for_status()
    again = kv.store([b"a", b"c"], stamped(2, 512), if_absent=True)
    assert [Outcome(s) for s in again.status] == [Outcome.EXISTS, Outcome.OK]
    assert sorted(kv.list()) == [b"a", b"b", b"c"]
    short = kv.retrieve([b"a", b"z"], np.zeros((2, 100), np.uint8))
    assert [Outcome(s) for s in short.status] == [Outcome.TRUNCATED, Outcome.MISSING]
    assert short.value_size[0] == 512
    kv.delete([b"a"]).raise_for_status()
    assert [Outcome(s) for s in kv.exist([b"a", b"b"]).status] == [Outcome.MISSING, Outcome.OK]


@pytest.mark.parametrize("size", [5, 4095, 4097, 9001])
def test_bytes_past_a_value_stay_as_they_were(kv: KV, size: int) -> None:
    """Whatever the size of the slot, and where the key is missing; or the value is larger."""
    value = stamped(1, size + 7)
    kv.store([b"less", b"more"], [value[0, : size - 3], value[0]]).raise_for_status()
    out = np.full((3, size + 3 & ~3), 0xEE, np.uint8)
    result = kv.retrieve([b"less", b"none", b"more"], out, sizes=size)
    assert result.value_size.tolist() == [size - 3, 0, size + 7]
    wanted = np.full_like(out, 0xEE)
    wanted[0, : size - 3] = value[0, : size - 3]
    wanted[2, :size] = value[0, :size]
    assert (out == wanted).all()


def test_values_begin_anywhere(kv: KV) -> None:
    values = stamped(20, 9000)
    space = np.zeros(20 * 12345 + 8, np.uint8)
    offsets = np.arange(20) * 12340 + 4
    for value, at in zip(values, offsets, strict=True):
        space[at : at + 9000] = value
    kv.store(keys(20), space, sizes=9000, offsets=offsets).raise_for_status()
    out = np.zeros_like(space)
    kv.retrieve(keys(20), out, sizes=9000, offsets=offsets).raise_for_status()
    assert (out == space).all()


def test_a_call_is_what_the_system_takes_to_the_byte(kv: KV, standin: Standin) -> None:
    value = stamped(1, 8192)
    kv.store([KEY], value, if_absent=True).raise_for_status()
    kv.exist([b"ab"])
    store, exist = standin.calls()
    words = struct.unpack("<4I", KEY)
    assert CALL.unpack(store) == (
        *(0x01, 0, 0, 7, *words[:2], 0, value.ctypes.data, 0, 8192),
        *(8192, 16 | 1 << 9, 0, 0, *words[2:], 0, 0, 0),
    )
    assert CALL.unpack(exist) == (
        *(0x14, 0, 0, 7, 0x6261, 0, 0, 0, 0, 0),
        *(0, 2, 0, 0, 0, 0, 0, 0, 0),
    )


@pytest.mark.parametrize("nsid", [1, 7])
def test_the_namespace_goes_by_either_number(
    device: Passthrough, standin: Standin, nsid: int
) -> None:
    with load("host").attach(device, nsid=nsid) as kv:
        assert kv.exist([KEY]).counts == {Outcome.MISSING: 1}
    assert [CALL.unpack(call)[3] for call in standin.calls()] == [7]


def test_a_key_of_any_length_lies_in_its_four_dwords(kv: KV, standin: Standin) -> None:
    """The dwords are CDW2, CDW3, CDW14 and CDW15; bytes past the length are zero."""
    wanted = [bytes(range(0xF0, 0xF0 + length)) for length in range(1, 17)]
    kv.store(wanted, b"", sizes=0).raise_for_status()
    found = {CALL.unpack(call)[10:12]: (call[8:16] + call[56:64]) for call in standin.calls()}
    assert found == {(0, len(key)): key.ljust(16, b"\0") for key in wanted}
    assert sorted(kv.list()) == sorted(wanted)


def test_pages_of_keys_follow_each_other(kv: KV, standin: Standin) -> None:
    wanted = [b"a key of 16 %04d" % number for number in range(8000)]
    kv.store(wanted, b"", sizes=0).raise_for_status()
    assert sorted(kv.list()) == wanted
    assert sum(call[0] == 0x06 for call in standin.calls()) > 2


def test_many_commands_are_under_way_at_once(kv: KV, standin: Standin) -> None:
    kv.exist(keys(2000))
    assert standin.most > 4


def test_a_status_comes_as_the_device_gave_it(kv: KV, emulator: Emulator) -> None:
    emulator.fault("status", key=b"key 1", sct=3, sc=0x71, dnr=True)
    result = kv.exist(keys(3))
    assert [Outcome(s) for s in result.status] == [Outcome.MISSING, Outcome.ERROR, Outcome.MISSING]
    assert [entry.item() for entry in result.nvme_status] == [
        (0, 0x87, 0),
        (3, 0x71, 1),
        (0, 0x87, 0),
    ]


def test_a_call_that_the_system_refuses_is_an_error_of_its_key(
    kv: KV, device: Passthrough, standin: Standin
) -> None:
    standin.fail(errno.ENODEV)
    result = kv.exist(keys(3))
    assert [Outcome(s) for s in result.status] == [Outcome.ERROR] * 3
    assert [(int(s["sct"]), int(s["sc"])) for s in result.nvme_status] == [(0, 6)] * 3
    counters = device.counters()
    assert (counters.failures, counters.last_error) == (3, "No such device")
    standin.fail(0)
    assert [Outcome(s) for s in kv.exist(keys(1)).status] == [Outcome.MISSING]


def test_a_device_that_hangs_is_a_timeout_and_goes_on_after_a_reset(
    kv: KV, standin: Standin
) -> None:
    kv.store([b"a"], stamped(1, 64)).raise_for_status()
    standin.hold(True)
    result = kv.exist([b"a"] * 10, timeout=0.1)
    assert [Outcome(s) for s in result.status] == [Outcome.TIMEOUT] * 10
    standin.hold(False)
    kv.reset()
    kv.exist([b"a"]).raise_for_status()


def test_closing_waits_for_what_the_system_has(device: Passthrough, standin: Standin) -> None:
    kv = load("host").attach(device)
    standin.hold(True)
    kv.exist(keys(100), timeout=0.05)
    standin.hold(False)
    kv.close()
    counters = device.counters()
    assert counters.commands == 100
    assert len(standin.calls()) <= 100
