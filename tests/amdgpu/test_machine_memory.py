"""Weak memory: code with its fences never fails, and code that lacks one does for some seed."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable

import pytest

from .device_code import ARCHITECTURES, image, image_without, requires_tools
from .machine import WEAK, Image, MachineFault

pytestmark = requires_tools

SOURCE = "litmus.hip"
LINE = 64  # Dwords from one lane's word to the next one's.
LIMIT = 100_000
SEEDS = range(60)

Litmus = Callable[[Image, int, int], bool]


def words(count: int) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * count)()


def pointers(*arrays: ctypes.Array[ctypes.c_uint32]) -> bytes:
    return struct.pack(f"{len(arrays)}Q", *map(ctypes.addressof, arrays))


def to_host(code: Image, seed: int, flags: int = WEAK) -> bool:
    data, flag = words(LINE * code.wave), words(1)
    options = {"lanes": (code.wave,), "flags": flags, "seed": seed, "limit": LIMIT}
    with code.start("to_host", pointers(data, flag), **options) as run:
        while flag[0] == 0:
            run.step(1)
        return all(data[::LINE])


def from_host(code: Image, seed: int, flags: int = WEAK) -> bool:
    data, flag, seen = words(LINE * code.wave), words(1), words(2 * code.wave)
    options = {"lanes": (code.wave,), "flags": flags, "seed": seed, "limit": LIMIT}
    with code.start("from_host", pointers(data, flag, seen), **options) as run:
        run.step(100)
        data[::LINE] = [1] * code.wave
        flag[0] = 1
        run.to_end()
    return all(seen[: code.wave])


def between_groups(code: Image, seed: int, flags: int = WEAK) -> bool:
    data, flag, seen = words(LINE * code.wave), words(1), words(2 * code.wave)
    options = {"lanes": (code.wave,), "flags": flags, "seed": seed, "limit": LIMIT}
    with code.start("between_groups", pointers(data, flag, seen), groups=(2,), **options) as run:
        run.to_end()
    return all(seen[: code.wave])


def between_waves(code: Image, seed: int, flags: int = WEAK) -> bool:
    lanes = 2 * code.wave
    data, seen = words(LINE * lanes), words(2 * lanes)
    options = {"lanes": (lanes,), "flags": flags, "seed": seed, "limit": LIMIT}
    with code.start("between_waves", pointers(data, seen), **options) as run:
        run.to_end()
    return all(seen[:lanes])


def through_lds(code: Image, seed: int, flags: int = WEAK) -> bool:
    seen = words(128)
    options = {"lanes": (128,), "flags": flags, "seed": seed, "limit": LIMIT}
    with code.start("through_lds", pointers(seen), **options) as run:
        run.to_end()
    return all(seen)


def own_stores(code: Image, seed: int, flags: int = WEAK) -> bool:
    data, seen = words(LINE * code.wave), words(code.wave)
    options = {"lanes": (code.wave,), "flags": flags, "seed": seed, "limit": LIMIT}
    with code.start("own_stores", pointers(data, seen), **options) as run:
        run.to_end()
    return list(seen) == list(data[::LINE]) == [0 + 1 + 2 + 3] * code.wave


ALL = (to_host, from_host, between_groups, between_waves, through_lds, own_stores)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("litmus", ALL)
def test_code_with_its_fences_never_fails(litmus: Litmus, architecture: str) -> None:
    code = image(SOURCE, architecture)
    failed = [seed for seed in SEEDS if not litmus(code, seed, WEAK)]
    assert failed == []


BEFORE_BARRIER = r"(?=\n\ts_barrier)"

# By litmus, the instructions without which it fails.
NEEDED = {
    "gfx90a": {
        to_host: ("buffer_wbl2", r"s_waitcnt vmcnt\(0\)"),
        from_host: ("buffer_invl2", "buffer_wbinvl1_vol"),
        between_groups: (r"s_waitcnt vmcnt\(0\)(?=\n\ts_)", "buffer_wbinvl1_vol"),
        between_waves: ("s_barrier",),
        through_lds: (rf"s_waitcnt lgkmcnt\(0\){BEFORE_BARRIER}", "s_barrier"),
    },
    "gfx942": {
        to_host: ("buffer_wbl2", r"s_waitcnt vmcnt\(0\)"),
        from_host: ("buffer_inv",),
        between_groups: (r"s_waitcnt vmcnt\(0\)(?=\n\ts_)", "buffer_inv"),
        between_waves: ("s_barrier",),
        through_lds: (rf"s_waitcnt lgkmcnt\(0\){BEFORE_BARRIER}", "s_barrier"),
    },
    "gfx1100": {
        to_host: ("s_waitcnt_vscnt",),
        from_host: ("buffer_gl0_inv", "buffer_gl1_inv"),
        between_groups: ("s_waitcnt_vscnt", "buffer_gl0_inv", "buffer_gl1_inv"),
        between_waves: ("s_waitcnt_vscnt", "buffer_gl0_inv", "s_barrier"),
        through_lds: (rf"s_waitcnt lgkmcnt\(0\){BEFORE_BARRIER}", "s_barrier"),
    },
    "gfx1201": {
        to_host: ("global_wb", "s_wait_storecnt"),
        from_host: ("global_inv",),
        between_groups: ("s_wait_storecnt", "global_inv"),
        between_waves: ("s_wait_storecnt", "global_inv", "s_barrier_(signal|wait)"),
        through_lds: (rf"s_wait_dscnt 0x0{BEFORE_BARRIER}", "s_barrier_(signal|wait)"),
    },
}
TAKEN = [
    pytest.param(architecture, litmus, pattern, id=f"{architecture}-{litmus.__name__}-{pattern}")
    for architecture, needed in NEEDED.items()
    for litmus, patterns in needed.items()
    for pattern in patterns
]


@pytest.mark.parametrize(("architecture", "litmus", "pattern"), TAKEN)
def test_code_fails_without_any_one_of_its_fences(
    architecture: str, litmus: Litmus, pattern: str
) -> None:
    code = image_without(SOURCE, architecture, litmus.__name__, pattern)
    assert not all(litmus(code, seed, WEAK) for seed in range(200))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("litmus", ALL)
def test_every_access_happens_at_once_unless_memory_is_weak(
    litmus: Litmus, architecture: str
) -> None:
    code = image(SOURCE, architecture)
    assert all(litmus(code, seed, 0) for seed in range(5))


def wide_loads(code: Image, seed: int, flags: int) -> set[tuple[int, ...]]:
    """Write 16 bytes again and again while a wave loads them; return what its lanes saw."""
    source = (ctypes.c_uint32 * (4 + 4))()
    start = -ctypes.addressof(source) % 16 // 4
    seen = words(4 * code.wave)
    arguments = struct.pack("2Q", ctypes.addressof(source) + 4 * start, ctypes.addressof(seen))
    with code.start("wide_load", arguments, lanes=(code.wave,), flags=flags, seed=seed) as run:
        number = 0
        while run.step(1):
            number += 1
            source[start : start + 4] = [number] * 4
    return {tuple(seen[4 * lane : 4 * lane + 4]) for lane in range(code.wave)}


def is_torn(value: tuple[int, ...]) -> bool:
    return len(set(value)) > 1


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_wide_load_may_be_torn_between_its_dwords(architecture: str) -> None:
    code = image(SOURCE, architecture)
    assert any(is_torn(value) for seed in SEEDS for value in wide_loads(code, seed, WEAK))
    assert not any(is_torn(value) for seed in SEEDS for value in wide_loads(code, seed, 0))


@pytest.mark.parametrize("flags", [0, WEAK])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_atomics_lose_nothing(architecture: str, flags: int) -> None:
    code = image(SOURCE, architecture)
    lanes, groups = 2 * code.wave, 3
    counter, before = words(1), words(lanes * groups)
    options = {"groups": (groups,), "lanes": (lanes,), "flags": flags, "seed": 1}
    with code.start("count", pointers(counter, before), **options) as run:
        run.to_end()
    assert counter[0] == lanes * groups
    assert sorted(before) == list(range(lanes * groups))


@pytest.mark.parametrize("flags", [0, WEAK])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_workgroups_that_wait_for_one_another_come_to_an_end(architecture: str, flags: int) -> None:
    code = image(SOURCE, architecture)
    turn, seen = words(1), words(9)
    options = {"groups": (9,), "lanes": (code.wave,), "flags": flags, "limit": 10**6}
    with code.start("in_turns", pointers(turn, seen), **options) as run:
        run.to_end()
    assert list(seen) == list(range(1, 10))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_register_is_poison_until_its_load_was_waited_for(architecture: str) -> None:
    wait = "s_wait_loadcnt" if architecture == "gfx1201" else r"s_waitcnt vmcnt\(0\)"
    code = image_without(SOURCE, architecture, "wide_load", wait)
    with pytest.raises(MachineFault, match=r"used before the wait for its load: .*store"):
        wide_loads(code, 0, WEAK)
    wide_loads(code, 0, 0)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_so_is_a_scalar_register(architecture: str) -> None:
    wait = "s_wait_kmcnt" if architecture == "gfx1201" else r"s_waitcnt lgkmcnt\(0\)"
    code = image_without(SOURCE, architecture, "wide_load", wait)
    with pytest.raises(MachineFault, match=r"used before the wait for its load: .*s\[?\d"):
        wide_loads(code, 0, WEAK)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_run_has_ended_when_all_that_it_stored_is_in_memory(architecture: str) -> None:
    code = image(SOURCE, architecture)
    for seed in SEEDS:
        data, flag = words(LINE * code.wave), words(1)
        options = {"lanes": (code.wave,), "flags": WEAK, "seed": seed}
        with code.start("to_host", pointers(data, flag), **options) as run:
            run.to_end()
        assert flag[0] == 1
        assert all(data[::LINE])
