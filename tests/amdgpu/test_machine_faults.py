"""What breaks a rule of the machine fails the run, in one line, and never the process."""

from __future__ import annotations

import ctypes
import mmap
import struct

import pytest

from .device_code import ARCHITECTURES, image, requires_tools
from .machine import WEAK, Image, MachineFault

pytestmark = [requires_tools, pytest.mark.parametrize("architecture", ARCHITECTURES)]

SOURCE = "launches.hip"


def room(count: int = 1024) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * count)()


def fault(code: Image, kernel: str, arguments: bytes, **options: object) -> str:
    """Run a kernel that must fail; return the line that says why."""
    with (
        code.start(kernel, arguments, **options) as run,  # type: ignore[arg-type]
        pytest.raises(MachineFault) as raised,
    ):
        run.to_end()
    line = str(raised.value)
    assert "\n" not in line
    return line


def test_a_wave_that_does_not_end_reaches_its_limit(architecture: str) -> None:
    word = room(1)
    arguments = struct.pack("Q", ctypes.addressof(word))
    line = fault(image(SOURCE, architecture), "endless", arguments, limit=5000)
    assert line.startswith("no end within 5000 instructions: s_")


@pytest.mark.parametrize("flags", [0, WEAK])
def test_a_store_to_what_is_not_mapped_names_itself(architecture: str, flags: int) -> None:
    code = image(SOURCE, architecture)
    line = fault(code, "store_to", struct.pack("Q", 4096), lanes=(code.wave,), flags=flags)
    assert line.startswith("bad address 0x10")
    assert ": not mapped: " in line
    assert "_store_" in line
    assert line.endswith("wave 0 of group 0")


@pytest.mark.parametrize("flags", [0, WEAK])
def test_a_load_from_what_is_not_mapped_fails(architecture: str, flags: int) -> None:
    arguments = struct.pack("2Q", 4096, ctypes.addressof(room()))
    line = fault(image(SOURCE, architecture), "load_from", arguments, flags=flags)
    assert "not mapped" in line
    assert "_load_" in line


@pytest.mark.parametrize("flags", [0, WEAK])
def test_a_kernel_reaches_only_the_ranges_that_it_may(architecture: str, flags: int) -> None:
    code = image(SOURCE, architecture)
    words = room(code.wave)
    whole, start = ctypes.sizeof(words), ctypes.addressof(words)
    options = {"lanes": (code.wave,), "flags": flags}
    with code.start("store_to", struct.pack("Q", start), ranges=[(start, whole)], **options) as run:
        run.to_end()
    assert list(words) == [7] * code.wave
    short = [(start, whole - 4)]
    line = fault(code, "store_to", struct.pack("Q", start), ranges=short, **options)
    assert line.startswith(f"bad address {start + whole - 4:#x}: 4 bytes that the kernel may not")


def test_a_range_that_is_not_mapped_is_not_reached(architecture: str) -> None:
    with mmap.mmap(-1, mmap.PAGESIZE) as page:
        held = ctypes.c_uint8.from_buffer(page)
        gone = ctypes.addressof(held)
        del held
    arguments = struct.pack("Q", gone)
    line = fault(image(SOURCE, architecture), "store_to", arguments, ranges=[(gone, 4096)])
    assert "not mapped" in line


def test_an_atomic_must_be_aligned(architecture: str) -> None:
    arguments = struct.pack("Q", ctypes.addressof(room()) + 2)
    assert "an atomic must be aligned" in fault(
        image(SOURCE, architecture), "misaligned_atomic", arguments
    )


def test_an_unknown_instruction_is_listed_and_fails_where_it_is_reached(
    architecture: str,
) -> None:
    code = image(SOURCE, architecture)
    assert any("v_sin_f32" in line for line in code.unknown)
    to = ctypes.addressof(room())
    with code.start("unknown", struct.pack("IxxxxQ", 0, to)) as run:
        run.to_end()
    line = fault(code, "unknown", struct.pack("IxxxxQ", 1, to))
    assert line.startswith("unknown instruction: v_sin_f32")


def test_a_trap_fails(architecture: str) -> None:
    assert fault(image(SOURCE, architecture), "traps", b"").startswith("trap: s_trap 2")


def test_a_barrier_that_not_all_waves_reach_fails(architecture: str) -> None:
    code = image(SOURCE, architecture)
    for seed in range(10):
        line = fault(
            code,
            "divergent_barrier",
            struct.pack("I", 2),
            lanes=(4 * code.wave,),
            seed=seed,
        )
        assert "barrier" in line


def test_a_barrier_that_all_waves_reach_opens(architecture: str) -> None:
    code = image(SOURCE, architecture)
    with code.start("divergent_barrier", struct.pack("I", 4), lanes=(4 * code.wave,)) as run:
        run.to_end()


def test_lds_ends_where_the_launch_says(architecture: str) -> None:
    code = image(SOURCE, architecture)
    words = room()
    arguments = struct.pack("IxxxxQ", 99, ctypes.addressof(words))
    with code.start("shared_word", arguments, lanes=(1,), dynamic_lds=400) as run:
        run.to_end()
    assert words[0] == 5
    line = fault(code, "shared_word", arguments, lanes=(1,), dynamic_lds=396)
    assert line.startswith("LDS offset 396 is out of bounds: there are 396 bytes")


def test_a_failed_run_stays_failed(architecture: str) -> None:
    with image(SOURCE, architecture).start("traps", b"") as run:
        for _ in range(2):
            with pytest.raises(MachineFault, match="trap"):
                run.to_end()
