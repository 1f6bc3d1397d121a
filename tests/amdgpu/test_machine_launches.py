"""Launches: arguments, places, memory of a group, of a lane and of the image, clock, seeds."""

from __future__ import annotations

import ctypes
import struct
import threading
import time

import pytest

from .device_code import ARCHITECTURES, image, requires_tools
from .machine import REAL_TIME, WEAK, Image, MachineFault

pytestmark = [requires_tools, pytest.mark.parametrize("architecture", ARCHITECTURES)]

SOURCE = "launches.hip"


def room(count: int = 1024) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * count)()


def pack(*arrays: ctypes.Array[ctypes.c_uint32], more: bytes = b"") -> bytes:
    return struct.pack(f"{len(arrays)}Q", *map(ctypes.addressof, arrays)) + more


def test_an_image_says_what_it_is_for(architecture: str) -> None:
    code = image(SOURCE, architecture)
    assert code.architecture == architecture
    assert code.wave == (64 if architecture.startswith("gfx9") else 32)


def test_arguments_have_places(architecture: str) -> None:
    code = image(SOURCE, architecture)
    assert [code.argument("values", i) for i in range(4)] == [(0, 1), (8, 8), (16, 2), (24, 8)]
    with pytest.raises(IndexError):
        code.argument("values", 4)


def test_arguments_arrive(architecture: str) -> None:
    to = (ctypes.c_uint64 * 3)()
    arguments = struct.pack("<BxxxxxxxQHxxxxxxQ", 200, 2**63 + 5, 60000, ctypes.addressof(to))
    with image(SOURCE, architecture).start("values", arguments, lanes=(1,)) as run:
        run.to_end()
    assert list(to) == [200, 2**63 + 5, 60000]


@pytest.mark.parametrize(
    ("kernel", "arguments", "options", "reason"),
    [
        ("none", b"", {}, "the code object has no kernel none"),
        ("values", bytes(24), {}, "the kernel takes 32 bytes of arguments, and was given 24"),
        ("values", bytes(32), {"lanes": (2000,)}, "a workgroup of 2000 lanes; the kernel allows"),
        ("values", bytes(32), {"lanes": (0,)}, "a workgroup of 0 lanes"),
        ("values", bytes(32), {"groups": (0,)}, "no workgroups"),
        ("values", bytes(32), {"flags": 64}, "flags that are not known"),
        ("indirect", bytes(16), {}, "asks for hidden_hostcall_buffer, which is not provided"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(
    architecture: str, kernel: str, arguments: bytes, options: dict[str, int], reason: str
) -> None:
    with pytest.raises(MachineFault, match=reason):
        image(SOURCE, architecture).start(kernel, arguments, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("elf", [b"", b"no ELF at all", b"\x7fELF" + bytes(200)])
def test_what_is_no_code_object_is_refused(architecture: str, elf: bytes) -> None:
    with pytest.raises(MachineFault, match=r"not an AMD code object|cut off"):
        Image(elf)


@pytest.mark.parametrize("flags", [0, WEAK])
def test_every_lane_of_every_group_knows_its_place(architecture: str, flags: int) -> None:
    lanes, groups = (10, 4, 3), (2, 3, 2)
    to = room(10 * 4 * 3 * 12)
    with image(SOURCE, architecture).start(
        "places", pack(to), lanes=lanes, groups=groups, flags=flags
    ) as run:
        run.to_end()
    assert list(to) == [
        x | y << 8 | z << 16 | group << 24
        for group in range(12)
        for z in range(3)
        for y in range(4)
        for x in range(10)
    ]


@pytest.mark.parametrize("flags", [0, WEAK])
def test_a_lane_has_memory_of_its_own(architecture: str, flags: int) -> None:
    to, salt = room(70), 5
    with image(SOURCE, architecture).start(
        "local_array", pack(to, more=struct.pack("I", salt)), lanes=(70,), flags=flags
    ) as run:
        run.to_end()
    for lane in range(70):
        array = [i * i + salt for i in range(16)]
        array[(lane + salt) % 16] = array[lane % 16] + 1000
        total = 0
        for i in range(16):
            total = (total * 3 + array[(i * lane + salt) % 16]) % 2**32
        assert to[lane] == total


@pytest.mark.parametrize("flags", [0, WEAK])
def test_a_function_may_be_called(architecture: str, flags: int) -> None:
    to, calls = room(70), room(70)
    with image(SOURCE, architecture).start(
        "called", pack(to, calls), lanes=(70,), flags=flags, limit=10**6
    ) as run:
        run.to_end()
    numbers, counts = (0, 1, 1, 2, 3, 5, 8), (1, 1, 3, 5, 9, 15, 25)
    assert list(to) == [numbers[lane % 7] for lane in range(70)]
    assert list(calls) == [counts[lane % 7] for lane in range(70)]


@pytest.mark.parametrize("flags", [0, WEAK])
def test_a_pointer_may_be_to_lds_or_to_memory(architecture: str, flags: int) -> None:
    memory, to = room(64), room(64)
    with image(SOURCE, architecture).start(
        "generic_pointer", pack(memory, to), lanes=(64,), flags=flags
    ) as run:
        run.to_end()
    assert list(to) == [(100 if lane % 2 else 200) + lane for lane in range(64)]


def test_globals_live_as_long_as_the_image(architecture: str) -> None:
    code, to = image(SOURCE, architecture), room(1)
    address, size = code.symbol("counter")
    assert size == 4
    ctypes.c_uint32.from_address(address).value = 6
    for expected in (7, 8):
        with code.start("global_variable", pack(to), lanes=(1,)) as run:
            run.to_end()
        assert to[0] == expected == ctypes.c_uint32.from_address(address).value
    with pytest.raises(KeyError):
        code.symbol("no_such_symbol")


def test_the_clock_counts_instructions(architecture: str) -> None:
    to = (ctypes.c_uint64 * 2)()
    with image(SOURCE, architecture).start(
        "clocks", struct.pack("Q", ctypes.addressof(to)), lanes=(1,)
    ) as run:
        run.to_end()
        assert 5 < to[1] - to[0] < run.instructions


def test_the_real_clock_has_100_megahertz(architecture: str) -> None:
    to = (ctypes.c_uint64 * 2)()
    before = time.monotonic_ns()
    with image(SOURCE, architecture).start(
        "clocks", struct.pack("Q", ctypes.addressof(to)), lanes=(1,), flags=REAL_TIME
    ) as run:
        run.to_end()
    assert before // 10 <= to[0] <= to[1] <= time.monotonic_ns() // 10


def test_a_run_may_be_stepped_and_left(architecture: str) -> None:
    word = room(1)
    with image(SOURCE, architecture).start("endless", pack(word), lanes=(1,)) as run:
        assert run.step(1000)
        assert run.instructions == 1000
        word[0] = 1
        run.to_end()
        assert run.instructions < 1100
    with image(SOURCE, architecture).start("endless", pack(room(1)), lanes=(1,)) as run:
        assert run.step(10)


def test_a_kernel_sees_what_another_thread_stores(architecture: str) -> None:
    word = room(1)
    with image(SOURCE, architecture).start("endless", pack(word), flags=REAL_TIME) as run:
        runner = threading.Thread(target=run.to_end, daemon=True)
        runner.start()
        word[0] = 1
        runner.join(20)
        assert not runner.is_alive()


class Trace:
    """What runs with weak memory do, on the same memory: where it lies plays a part."""

    lanes = 128

    def __init__(self, architecture: str) -> None:
        self.code = image("litmus.hip", architecture)
        self.data, self.flag, self.seen = (room(n * self.lanes) for n in (64, 1, 2))

    def of(self, seed: int) -> list[tuple[int, bytes, bytes]]:
        """Return what there is after every few steps."""
        arrays = (self.data, self.flag, self.seen)
        for array in arrays:
            ctypes.memset(array, 0, ctypes.sizeof(array))
        steps = []
        with self.code.start(
            "between_groups",
            pack(*arrays),
            lanes=(self.lanes,),
            groups=(2,),
            flags=WEAK,
            seed=seed,
        ) as run:
            while run.step(7):
                steps.append((run.instructions, bytes(self.data), bytes(self.seen)))
        return steps


def test_a_seed_is_a_schedule(architecture: str) -> None:
    trace = Trace(architecture)
    assert trace.of(1) == trace.of(1)
    assert len({len(trace.of(seed)) for seed in range(4)}) > 1


def test_two_runs_by_turns_share_the_device(architecture: str) -> None:
    code = image("litmus.hip", architecture)
    counter = room(1)
    before = [room(64), room(64)]
    runs = [
        code.start("count", pack(counter, each), lanes=(64,), flags=WEAK, seed=seed)
        for seed, each in enumerate(before)
    ]
    while sum(run.step(3) for run in runs):
        pass
    for run in runs:
        run.finish()
    assert sorted([*before[0], *before[1]]) == list(range(128))
