"""KV.exec: operations next to values, end to end on the host module."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import exec_project
from xiokv.runtime import KV, Emulator, Module, Outcome
from xiokv.runtime.batch import Request
from xiokv.runtime.buffers import NO_VALUES
from xiokv.runtime.emulator import ExecOperation
from xiokv.runtime.errors import ArgumentFault, DeadQueueFault
from xiokv.runtime.keys import pack_long_keys
from xiokv.runtime.operation import Operation
from xiokv.runtime.payloads import inputs_of, numbers_of, pack_payloads
from xiokv.runtime.results import BatchFault

LENGTH, CHECKSUM, RANGE = ExecOperation
Attach = Callable[..., tuple[Emulator, KV]]


@pytest.fixture(scope="module")
def exec_module(own_surroundings: None) -> Module:
    return exec_project.module()


@pytest.fixture
def attach(exec_module: Module) -> Iterator[Attach]:
    """Return what attaches a module with Exec to a controller with Exec."""
    with ExitStack() as stack:

        def make(
            controller: dict[str, Any] | None = None,
            *,
            module: Module | None = None,
            **options: Any,
        ) -> tuple[Emulator, KV]:
            wanted = {"exec": True, "strict": True, **(controller or {})}
            emulator = stack.enter_context(Emulator(**wanted))
            return emulator, stack.enter_context(
                (module or exec_module).attach(emulator, **options)
            )

        yield make


def span(offset: int, length: int) -> bytes:
    return struct.pack("<QQ", offset, length)


def filled(kv: KV, count: int) -> tuple[list[bytes], list[bytes]]:
    """Store values of 0 to `count` - 1 bytes; return keys and values."""
    keys = [b"key-%d" % number for number in range(count)]
    values = [bytes((number + i) % 251 for i in range(number)) for number in range(count)]
    kv.store(keys, values).raise_for_status()
    return keys, values


@pytest.mark.parametrize("queues", [1, 3])
@pytest.mark.parametrize("depth", [3, 64])
def test_every_key_gets_its_own_output(attach: Attach, queues: int, depth: int) -> None:
    controller, kv = attach({"seed": 5}, queues=queues, depth=depth)
    controller.fault("reorder", amount=16)
    keys, values = filled(kv, 500)

    lengths = np.zeros(500, "<u8")
    kv.exec(keys, LENGTH, out=lengths).raise_for_status()
    assert lengths.tolist() == list(range(500))

    out = np.full((500, 64), 0xEE, np.uint8)
    inputs = [span(number // 2, 60) for number in range(500)]
    result = kv.exec(keys, RANGE, input=inputs, out=out)
    wanted = [value[n // 2 : n // 2 + 60] for n, value in enumerate(values)]
    assert result.counts == {Outcome.OK: 500}
    assert result.value_size.tolist() == list(map(len, wanted))
    assert [row.tobytes() for row in out] == [part.ljust(64, b"\xee") for part in wanted]


@pytest.mark.parametrize(
    ("length", "emulated"), [("payload", {}), ("input", {"exec_input_length": True})]
)
def test_cdw10_is_what_the_profile_says(
    attach: Attach, length: str, emulated: dict[str, bool]
) -> None:
    controller, kv = attach(emulated, module=exec_project.module(length=length))
    kv.store([b"k", b"longer"], b"valuevaluevalue!").raise_for_status()
    controller.trace_start()
    out = bytearray(8)
    kv.exec([b"k", b"longer"], RANGE, input=span(1, 4), out=out).raise_for_status()
    assert bytes(out) == b"alueeval"
    sqes = [record.data for record in controller.trace() if record.kind == "sqe"]
    found = sorted(struct.unpack_from("<I", sqe, 40)[0] for sqe in sqes)
    assert found == ([19, 24] if length == "payload" else [16, 16])


def test_the_entry_has_what_public_sources_say(attach: Attach) -> None:
    """The buffer is the output's room, and as large as the request where that is larger."""
    controller, kv = attach()
    kv.store([b"key"], b"value123").raise_for_status()
    controller.trace_start()
    kv.exec([b"key"], LENGTH, out=bytearray(8)).raise_for_status()
    kv.exec([b"key"], RANGE, input=span(0, 4), out=bytearray(4)).raise_for_status()
    first, second = (record.data for record in controller.trace() if record.kind == "sqe")
    zero = {8: 16, 44: 4, 56: 8}
    for sqe, numbers in ((first, (5, 0, 8, 1)), (second, (21, 0, 21, 3))):
        assert sqe[0] == 0x83
        assert struct.unpack_from("<4I", sqe, 40) == numbers
        assert all(not any(sqe[at : at + size]) for at, size in zero.items())


def test_an_output_larger_than_its_room_is_truncated_with_its_whole_size(attach: Attach) -> None:
    """Also where it fits into the buffer, because the request needs more than the room."""
    _, kv = attach()
    kv.store([b"key"], bytes(range(200))).raise_for_status()
    for length in (4, 12, 21, 22, 100):
        out = bytearray(b"\xee" * 12)
        result = kv.exec([b"key"], RANGE, input=span(1, length), out=out, sizes=4)
        kind = Outcome.OK if length == 4 else Outcome.TRUNCATED
        assert (result.status[0], result.value_size[0]) == (kind, length)
        assert bytes(out) == b"\1\2\3\4" + b"\xee" * 8
    with pytest.raises(BatchFault, match="TRUNCATED, its output has 100 bytes"):
        result.raise_for_status()


def test_without_out_only_sizes_come_back(attach: Attach) -> None:
    _, kv = attach()
    kv.store([b"a", b"b"], [b"value", b""]).raise_for_status()
    result = kv.exec([b"a", b"b"], RANGE, input=span(0, 100))
    assert result.value_size.tolist() == [5, 0]
    assert result.status.tolist() == [Outcome.TRUNCATED, Outcome.OK]


def test_a_batch_may_be_larger_than_any_before(attach: Attach) -> None:
    """Its memory is that of a power of two, which a batch may fill to the last key."""
    _, kv = attach({"null": True}, queues=2)
    inputs = [bytes(number % 5) for number in range(8192)]
    for count in (10, 5000, 8192):
        result = kv.exec([b"k"] * count, RANGE, input=inputs[:count])
        assert result.counts == {Outcome.OK: count}


def test_what_fails_is_alone(attach: Attach) -> None:
    controller, kv = attach(queues=2)
    keys, _ = filled(kv, 50)
    controller.fault("status", key=keys[7], sct=0, sc=0x88)
    keys[3], keys[5] = b"missing", b"x" * 17
    out = np.zeros(50, "<u8")
    result = kv.exec(keys, LENGTH, out=out)
    assert result.counts == {Outcome.OK: 47, Outcome.MISSING: 1, Outcome.ERROR: 2}
    assert [result.nvme_status["sc"][index] for index in (3, 5, 7)] == [0x87, 0x86, 0x88]
    assert out.tolist() == [0 if n in (3, 5, 7) else n for n in range(50)]
    with pytest.raises(BatchFault, match="exec: 3 of 50 keys failed"):
        result.raise_for_status()


def test_an_unknown_operation_is_an_error(attach: Attach) -> None:
    _, kv = attach()
    kv.store([b"a"], b"value678").raise_for_status()
    assert kv.exec([b"a"], 99).nvme_status[0].item() == (0, 0x02, 0)


def test_a_controller_without_exec_says_so(attach: Attach) -> None:
    _, kv = attach({"exec": False})
    result = kv.exec([b"a"], LENGTH)
    assert (result.status[0], result.nvme_status["sc"][0]) == (Outcome.ERROR, 0x01)


def test_keys_may_have_255_bytes_or_be_an_array(attach: Attach) -> None:
    _, kv = attach({"key_max": 255})
    result = kv.exec([b"x" * 255, memoryview(b"y"), bytearray(16)], LENGTH)
    assert result.counts == {Outcome.MISSING: 3}
    rows = np.zeros((2, 16), np.uint8)
    rows[:, :3] = (list(b"abc"), list(b"xyz"))
    kv.store([b"abc", b"xy"], [b"12345678", b"1234"]).raise_for_status()
    out = np.zeros(2, "<u8")
    kv.exec(rows, LENGTH, key_lengths=[3, 2], out=out).raise_for_status()
    assert out.tolist() == [8, 4]


def test_no_keys_are_no_batch(attach: Attach) -> None:
    controller, kv = attach()
    assert len(kv.exec([], LENGTH, out=bytearray(8))) == 0
    assert controller.counters().commands == 0


def test_a_large_input_and_a_large_output_share_their_pages(attach: Attach) -> None:
    """The payload has more pages than the room, and then the room more than the payload."""
    _, kv = attach(depth=4)
    value = np.random.default_rng(1).integers(0, 256, 3 << 20, np.uint8)
    kv.store([b"k"], value).raise_for_status()
    assert kv.exec([b"k"], RANGE, input=bytes(1 << 20)).nvme_status["sc"][0] == 0x02
    out = np.zeros_like(value)
    kv.exec([b"k"], RANGE, input=span(0, value.size), out=out).raise_for_status()
    assert (out == value).all()
    crc = np.zeros(1, "<u4")
    kv.exec([b"k"], CHECKSUM, out=crc).raise_for_status()
    assert crc[0] == _crc32c(value.tobytes())
    assert crc[0] != zlib.crc32(value)  # the other one


def _crc32c(data: bytes) -> int:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def test_a_batch_in_a_stream_gives_its_outputs_with_the_result(
    attach: Attach, exec_module: Module
) -> None:
    _, kv = attach(queues=2)
    keys, _ = filled(kv, 300)
    with exec_module.stream() as stream:
        outs = [np.zeros(300, "<u8") for _ in range(5)]
        results = [kv.exec(keys, LENGTH, out=out, stream=stream) for out in outs]
        for result, out in zip(results, outs, strict=True):
            result.raise_for_status()
            assert out.tolist() == list(range(300))


def test_other_batches_between_share_the_block(attach: Attach) -> None:
    """What one batch left in the block never shows up in the outputs of another."""
    _, kv = attach()
    keys, values = filled(kv, 20)
    for _ in range(3):
        out = np.full((20, 64), 0x11, np.uint8)
        kv.exec(keys, RANGE, input=span(0, 64), out=out).raise_for_status()
        small = np.full((20, 4), 0x22, np.uint8)
        kv.exec(keys[:4], LENGTH, out=np.zeros(4, "<u8")).raise_for_status()
        kv.exec(keys, RANGE, input=span(0, 2), out=small).raise_for_status()
        assert [row.tobytes() for row in out] == [v.ljust(64, b"\x11") for v in values]
        assert [row.tobytes() for row in small] == [v[:2].ljust(4, b"\x22") for v in values]


def test_a_completion_that_never_comes_is_a_timeout(attach: Attach) -> None:
    controller, kv = attach()
    keys, _ = filled(kv, 30)
    controller.fault("drop", key=keys[9], opcode=0x83)
    out = np.zeros(30, "<u8")
    result = kv.exec(keys, LENGTH, out=out, timeout=0.3)
    assert result.counts == {Outcome.OK: 29, Outcome.TIMEOUT: 1}
    assert out.tolist() == [0 if n == 9 else n for n in range(30)]
    assert result.buffer_may_be_written
    with pytest.raises(DeadQueueFault):
        kv.exec(keys, LENGTH)
    controller.clear_faults()
    kv.reset()
    kv.exec(keys, LENGTH, out=out).raise_for_status()
    assert out.tolist() == list(range(30))


def test_a_size_above_the_largest_value_is_not_believed(attach: Attach) -> None:
    controller, kv = attach({"value_max": 4096})
    kv.store([b"k"], b"value678").raise_for_status()
    controller.fault("bad_size", opcode=0x83, amount=5000)
    result = kv.exec([b"k"], LENGTH, out=bytearray(8))
    assert (result.status[0], result.value_size[0]) == (Outcome.ERROR, 0)


def test_a_request_that_a_queue_cannot_carry_is_refused_unseen(attach: Attach) -> None:
    """As a caller would make it that does not check; the data pointer is 0 then."""
    controller, kv = attach({"mdts": 1})
    keys, inputs = pack_long_keys([b"key"], None, 255), [bytes(9000)]
    data = pack_payloads(keys, inputs, NO_VALUES, 1 << 20)
    controller.trace_start()
    request = Request(Operation.EXEC, keys, data.values, numbers_of(inputs, 1), 0, 5.0, None, data)
    result = kv._submit(request)
    assert result.nvme_status[0].item() == (0, 0x0B, 0)
    (sqe,) = (record.data for record in controller.trace() if record.kind == "sqe")
    assert not any(sqe[24:40])


def test_a_module_without_the_kernel_says_how_to_get_one(module: Module) -> None:
    with Emulator(exec=True) as controller, module.attach(controller) as kv:
        with pytest.raises(ArgumentFault, match=r"exec = true.*xiokv-gen build --target host"):
            kv.exec([b"a"], LENGTH)
        assert controller.counters().commands == 0


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no key bytes": ({"keys": [b""]}, "key 0 has 0 bytes; 1 to 255"),
    "long key": ({"keys": [b"a", b"x" * 256]}, "key 1 has 256 bytes; 1 to 255"),
    "text key": ({"keys": ["a"]}, "key 0 is str"),
    "key of wide items": (
        {"keys": [memoryview(np.arange(2, dtype="<u4"))]},
        "has items of several bytes",
    ),
    "one key": ({"keys": b"abc"}, "for one key"),
    "operation name": ({"operation": "length"}, "operation is 'length'; allowed is an integer"),
    "negative operation": ({"operation": -1}, "allowed are 0 to 4294967295"),
    "large operation": ({"operation": 1 << 32}, "operation is 4294967296"),
    "text input": ({"input": "abc"}, "input is str"),
    "input of another number": ({"input": [b"", b""]}, "2 inputs for 1 keys"),
    "input no bytes": ({"input": [3]}, "input 0 is int"),
    "input of objects": ({"input": np.array([None])}, "input has items of format 'O'"),
    "input too large": ({"input": bytes(9000)}, "key 0 and its input make 9003 bytes.* 8192"),
    "read-only out": ({"out": b"12345678"}, "read-only"),
    "out too large": ({"out": bytearray(16384)}, "16384 bytes; 0 to 8192"),
    "odd slots": ({"out": bytearray(9)}, "multiple of 4"),
    "sizes alone": ({"sizes": 8}, "give out, too"),
    "offsets alone": ({"offsets": [0]}, "give out, too"),
    "slots apart": (
        {"keys": [b"a", b"b"], "out": bytearray(8), "offsets": [0, 0], "sizes": 8},
        "overlap",
    ),
    "timeout": ({"timeout": 0}, "timeout 0"),
    "lengths of a list": ({"key_lengths": [1]}, r"\(n, 16\)"),
}


@pytest.mark.parametrize(("changed", "said"), REFUSED.values(), ids=REFUSED)
def test_what_it_does_not_take_is_refused_before_anything_is_submitted(
    attach: Attach, changed: dict[str, Any], said: str
) -> None:
    controller, kv = attach({"mdts": 1})
    arguments = {"keys": [b"a"], "operation": 1, **changed}
    with pytest.raises(ArgumentFault, match=said):
        kv.exec(arguments.pop("keys"), arguments.pop("operation"), **arguments)
    assert controller.counters().commands == 0


@settings(
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    data=st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(0, 100)),
        min_size=1,
        max_size=20,
    ),
    gap=st.integers(0, 3),
)
def test_any_inputs_rooms_and_offsets_give_what_a_slice_gives(
    attach: Attach, data: list[tuple[int, int, int]], gap: int
) -> None:
    """(offset, length, room) a key; slots lie at offsets of their own."""
    _, kv = attach({"seed": gap}, depth=8)
    value = bytes(i % 251 for i in range(300))
    kv.store([b"k"], value).raise_for_status()
    slots = [-(-room // 4) * 4 + 4 * gap for *_, room in data]
    offsets = np.cumsum([0, *slots[:-1]])
    rooms = [room for *_, room in data]
    out = bytearray(b"\xee" * sum(slots))
    inputs = [span(offset, length) for offset, length, _ in data]
    keys = [b"k"] * len(data)
    result = kv.exec(keys, RANGE, input=inputs, out=out, offsets=offsets, sizes=rooms)
    wanted = bytearray(b"\xee" * sum(slots))
    for (offset, length, room), at, size in zip(data, offsets, result.value_size, strict=True):
        part = value[offset : offset + length]
        assert size == len(part)
        wanted[at : at + min(room, size)] = part[:room]
    assert out == wanted
    cut = [size > room for size, room in zip(result.value_size, rooms, strict=True)]
    assert [s == Outcome.TRUNCATED for s in result.status] == cut


def test_only_inputs_of_different_lengths_need_a_length_a_key() -> None:
    alike, other = (numbers_of(inputs, 7) for inputs in ([b"ab", b"cd"], [b"", b"abc"]))
    assert (alike[0].value, alike[0].per_key) == (2, None)
    assert other[0].per_key is not None
    assert other[0].per_key.tolist() == [0, 3]
    assert [place.value for place in (*alike[1:], *other[1:])] == [0, 7, 0, 7]


def test_an_input_for_all_keys_is_read_once() -> None:
    assert inputs_of(np.arange(2, dtype="<u4"), 3) == (b"\0\0\0\0\1\0\0\0",) * 3


def test_rows_of_long_keys_are_empty() -> None:
    keys = pack_long_keys([b"a" * 100, b"b"], None, 255)
    assert not keys.rows.any()
    assert keys.lengths is not None
    assert (keys.lengths.tolist(), keys[0]) == ([100, 1], b"a" * 100)
