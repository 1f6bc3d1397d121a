"""Values lie where the caller says; what a command could not reach safely is refused."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.buffers import Shape, Values, slots_to_fill, values_to_store
from xiokv.runtime.drivers.host import HostDriver
from xiokv.runtime.errors import ArgumentFault

# A driver without a module: what memory it reaches does not depend on one.
HOST: Any = HostDriver.__new__(HostDriver)


def shape(count: int, sizes: Any = None, offsets: Any = None, block: int | None = None) -> Shape:
    return Shape(count, sizes, offsets, block, 1 << 20)


def contents(values: Values, count: int) -> list[bytes]:
    """Return each value as the engine finds it."""
    sizes = [values.size] * count if values.sizes is None else values.sizes
    starts = [values.stride * i for i in range(count)] if values.offsets is None else values.offsets
    memory = values.memory.view
    return [bytes(memory[at : at + size]) for at, size in zip(starts, sizes, strict=True)]


DATA = bytes(range(32))
PLACED: dict[str, tuple[Any, Shape, list[bytes]]] = {
    "shared evenly": (DATA, shape(4), [DATA[i : i + 8] for i in (0, 8, 16, 24)]),
    "two dimensions": (
        np.frombuffer(DATA, np.uint8).reshape(2, 16),
        shape(2),
        [DATA[:16], DATA[16:]],
    ),
    "block size": (DATA, shape(2, block=8), [DATA[:8], DATA[8:16]]),
    "sizes in slots": (DATA, shape(2, sizes=[3, 16]), [DATA[:3], DATA[16:]]),
    "sizes in blocks": (DATA, shape(3, sizes=[1, 0, 8], block=8), [DATA[:1], b"", DATA[16:24]]),
    "one size for all": (DATA, shape(2, sizes=5), [DATA[:5], DATA[16:21]]),
    "offsets": (DATA, shape(2, sizes=[4, 6], offsets=[24, 0]), [DATA[24:28], DATA[:6]]),
    "offsets of blocks": (DATA, shape(2, offsets=[20, 4], block=8), [DATA[20:28], DATA[4:12]]),
    "up to the end": (DATA, shape(1, sizes=[4], offsets=[28]), [DATA[28:]]),
    "nothing at the end": (DATA, shape(1, sizes=[0], offsets=[32]), [b""]),
    "no bytes": (b"", shape(2, sizes=0), [b"", b""]),
    "bytearray": (bytearray(DATA), shape(1), [DATA]),
    "memoryview": (memoryview(DATA)[4:], shape(1), [DATA[4:]]),
    "wide items": (np.arange(4, dtype="<u8"), shape(2, sizes=1), [b"\0", b"\2"]),
    "half floats": (np.zeros((2, 2), np.float16), shape(2), [bytes(4)] * 2),
    "list": ([b"a", b"", b"0123456", b"wxyz"], shape(4), [b"a", b"", b"0123456", b"wxyz"]),
    "list of arrays": ([np.arange(2, dtype="<u4")], shape(1), [b"\0\0\0\0\1\0\0\0"]),
}


@pytest.mark.parametrize(("given", "how", "expected"), PLACED.values(), ids=PLACED)
def test_values_are_found_where_they_lie(given: Any, how: Shape, expected: list[bytes]) -> None:
    assert contents(values_to_store(HOST, given, how), how.count) == expected


def test_a_buffer_is_used_in_place() -> None:
    array = np.zeros(64, np.uint8)
    assert slots_to_fill(HOST, array, shape(4)).memory.address == array.ctypes.data


def test_values_of_a_list_begin_at_multiples_of_four() -> None:
    offsets = values_to_store(HOST, [b"x" * n for n in range(1, 9)], shape(8)).offsets
    assert offsets is not None
    assert offsets.tolist() == [0, 4, 8, 12, 16, 24, 32, 40]


def test_no_key_needs_no_buffer() -> None:
    assert slots_to_fill(HOST, None, shape(0)).memory.size == 0


# The name of the other field is no sign of an object.
RECORDS = np.zeros(2, [("O", "u4"), ("a", "O")])


def test_a_field_called_o_is_no_object() -> None:
    records = memoryview(np.zeros(4, [("O", "u4"), ("FOO", "u4")]))
    assert values_to_store(HOST, records, shape(4)).stride == 8
    assert values_to_store(HOST, [records], shape(1)).memory.size == 32


def unaligned() -> memoryview:
    return memoryview(bytearray(32))[1:17]


REFUSED: dict[str, tuple[Any, Shape, str]] = {
    "strides": (np.zeros((4, 8), np.uint8)[:, :4], shape(4), "not in one piece.*strides"),
    "Fortran order": (np.zeros((4, 8), order="F"), shape(4), "not in one piece"),
    "strided memoryview": (memoryview(bytearray(16))[::2], shape(1), "not in one piece"),
    "objects": (np.array([None, None]), shape(2), "dtype object"),
    "view of objects": (memoryview(np.array([None, None])), shape(2), "items of format 'O'"),
    "view of records of objects": (memoryview(RECORDS), shape(2), "items of format 'T{.*pointers"),
    "objects of C": ((ctypes.py_object * 2)(), shape(2), "items of format"),
    "no buffer": (object(), shape(1), "object, which gives no buffer"),
    "too small": (bytearray(31), shape(4, block=8), "31 bytes.*block_size 8 need 32"),
    "uneven": (bytearray(30), shape(4), "30 bytes, which 4 keys do not share evenly"),
    "empty": (bytearray(), shape(2), "is empty.*sizes=0"),
    "size past its slot": (
        bytearray(32),
        shape(2, sizes=[16, 17]),
        "1 (has|is to take) 17 bytes; 0 to 16",
    ),
    "size past its block": (
        bytearray(99),
        shape(2, sizes=9, block=8),
        "0 (has|is to take) 9 bytes",
    ),
    "negative size": (bytearray(32), shape(2, sizes=[-1, 1]), "0 (has|is to take) -1 bytes"),
    "size past a command": (bytearray(2 << 20), shape(1), "1048576 are what one command"),
    "size of 2**32": (bytearray(32), shape(1, sizes=[2**32]), "4294967296 bytes"),
    "size of 2**64": (bytearray(32), shape(1, sizes=[2**64 - 1]), "past any that is allowed"),
    "past the end": (bytearray(32), shape(1, sizes=[8], offsets=[28]), "offset 28 leaves"),
    "before the start": (bytearray(32), shape(1, sizes=[8], offsets=[-4]), "offset -4 leaves"),
    "offset of 2**63 - 1": (bytearray(32), shape(1, sizes=8, offsets=[2**63 - 4]), "leaves"),
    "offsets alone": (bytearray(32), shape(1, offsets=[0]), "offsets need sizes"),
    "too few offsets": (bytearray(32), shape(2, sizes=4, offsets=[0]), r"2 keys need \(2,\)"),
    "too many sizes": (bytearray(32), shape(1, sizes=[1, 1]), r"1 keys need \(1,\)"),
    "a text for sizes": (bytearray(32), shape(2, sizes="4"), "sizes are integers.*not <U1"),
    "fractions for sizes": (bytearray(32), shape(2, sizes=4.0), "sizes are integers.*not float64"),
    "size of 2**70": (bytearray(32), shape(1, sizes=[2**70]), "integers of up to 64 bits"),
    "ragged sizes": (bytearray(32), shape(2, sizes=[[1], [1, 2]]), "no array of integers"),
    "odd offset": (bytearray(32), shape(2, sizes=4, offsets=[0, 6]), "offset 6 bytes.*multiple"),
    "odd slots": (bytearray(20), shape(4, sizes=1), "slots of 5 bytes.*multiple of 4"),
    "odd address": (unaligned(), shape(2), "begins at address.*multiple of 4"),
}


@pytest.mark.parametrize("placed", [values_to_store, slots_to_fill])
@pytest.mark.parametrize(("given", "how", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_reached_is_refused(given: Any, how: Shape, said: str, placed: Any) -> None:
    with pytest.raises(ArgumentFault, match=f"(?s){said}"):
        placed(HOST, given, how)


# Of each the words for a value, those for a slot, and how they come about.
WORDS: dict[str, tuple[int, Shape, str, str]] = {
    "past its slot": (
        *(32, shape(2, sizes=[16, 17])),
        *("value 1 has 17 bytes; 0 to 16 are what its slot holds", "slot 1 is to take 17 bytes"),
    ),
    "past a command": (
        *(2 << 20, shape(1)),
        *(
            "value 0 has 2097152 bytes",
            "slot 0 is to take 2097152 bytes; 0 to 1048576 are what one",
        ),
    ),
    "negative": (
        *(32, shape(2, sizes=-1)),
        *("value 0 has -1 bytes", "slot 0 is to take -1 bytes; 0 to 16 are what it holds"),
    ),
    "past the end": (
        *(32, shape(1, sizes=8, offsets=[28])),
        *("value 0 of 8 bytes at offset 28 leaves", "slot 0 of 8 bytes at offset 28 leaves"),
    ),
    "no bytes": (0, shape(2), "for values of no bytes", "for slots of no bytes"),
    "odd slots": (
        *(20, shape(4, sizes=1)),
        *("a value begins at .* pad the values", "a slot begins at .* pad the slots"),
    ),
}


@pytest.mark.parametrize(("size", "how", "value", "slot"), WORDS.values(), ids=WORDS)
def test_what_a_store_calls_a_value_is_a_slot_of_a_retrieve(
    size: int, how: Shape, value: str, slot: str
) -> None:
    with pytest.raises(ArgumentFault, match=value):
        values_to_store(HOST, bytearray(size), how)
    with pytest.raises(ArgumentFault, match=slot) as fault:
        slots_to_fill(HOST, bytearray(size), how)
    assert "value" not in str(fault.value)


@pytest.mark.parametrize("value", [np.array([None]), memoryview(RECORDS)])
def test_a_list_of_values_holds_no_objects(value: Any) -> None:
    with pytest.raises(ArgumentFault, match=r"a list of values has items of format .*pointers"):
        values_to_store(HOST, [b"1234", value], shape(2))


READ_ONLY = {
    "bytes": b"abcd",
    "view of bytes": memoryview(b"abcd"),
    "array": np.frombuffer(b"abcd", np.uint8),
}


@pytest.mark.parametrize("out", READ_ONLY.values(), ids=READ_ONLY)
def test_retrieve_refuses_read_only_memory(out: Any) -> None:
    with pytest.raises(ArgumentFault, match="read-only"):
        slots_to_fill(HOST, out, shape(1))


def test_retrieve_takes_no_list() -> None:
    with pytest.raises(ArgumentFault, match="out is a list"):
        slots_to_fill(HOST, [bytearray(4)], shape(1))


OVERLAPS = {
    "same place": ([0, 8, 0], 4, "keys 0 and 2"),
    "one byte": ([0, 12, 8], 5, "keys 1 and 2"),
    "mixed sizes": ([0, 8, 4], [8, 4, 4], "keys 0 and 2"),
}


@pytest.mark.parametrize(("offsets", "sizes", "said"), OVERLAPS.values(), ids=OVERLAPS)
def test_retrieve_refuses_slots_that_overlap(offsets: list[int], sizes: Any, said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        slots_to_fill(HOST, bytearray(32), shape(3, sizes, offsets))


@pytest.mark.parametrize(("offsets", "sizes"), [([8, 4, 0], 4), ([4, 4, 4], [0, 4, 0])])
def test_retrieve_takes_slots_that_only_touch(offsets: list[int], sizes: Any) -> None:
    assert slots_to_fill(HOST, bytearray(32), shape(3, sizes, offsets)).offsets is not None


def test_store_may_send_one_place_twice() -> None:
    assert contents(values_to_store(HOST, DATA, shape(2, 4, [8, 8])), 2) == [DATA[8:12]] * 2


LISTS: dict[str, tuple[list[Any], Shape, str]] = {
    "too few": ([b"a"], shape(2), "1 values for 2 keys"),
    "with sizes": ([b"a"], shape(1, sizes=[1]), "sizes of its own"),
    "no buffers": ([b"a", 3], shape(2), "holds buffers"),
    "strided": ([memoryview(b"abcd")[::2]], shape(1), "holds buffers"),
    "past the block": ([b"a" * 8, b"a" * 9], shape(2, block=8), "value 1 has 9 bytes"),
}


@pytest.mark.parametrize(("given", "how", "said"), LISTS.values(), ids=LISTS)
def test_list_of_values_that_is_none_is_refused(given: list[Any], how: Shape, said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        values_to_store(HOST, given, how)
