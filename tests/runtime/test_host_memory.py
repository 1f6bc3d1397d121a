"""Memory of the host driver: zeroed pages that stay until they are freed."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

import pytest

from xiokv.runtime import abi
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.errors import RuntimeFault

MIB = 1 << 20


def resident() -> int:
    """Return the bytes of memory that this process has touched."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("size", [0, 1, 4096, 4097, MIB])
def test_memory_is_zeroed_on_a_page_boundary_and_of_the_size_asked_for(
    size: int, shared: bool
) -> None:
    memory = HostMemory(size, shared=shared)
    assert memory.address % abi.PAGE_BYTES == 0
    assert memory.iova == memory.address
    assert memory.view.nbytes == size
    assert not memory.view.any()
    memory.free()


def test_the_view_is_the_memory_at_the_address() -> None:
    memory = HostMemory(8)
    memory.view[:] = range(8)
    assert ctypes.string_at(memory.address, 8) == bytes(range(8))
    memory.free()


def test_memory_that_nobody_touches_costs_nothing() -> None:
    before = resident()
    memory = HostMemory(256 * MIB)
    assert resident() - before < 8 * MIB
    memory.free()


def test_memory_that_was_not_freed_outlives_its_object() -> None:
    memory = HostMemory(4)
    memory.view[:] = 7
    address = memory.address
    del memory
    gc.collect()
    assert ctypes.string_at(address, 4) == bytes([7] * 4)


def test_free_gives_memory_back_and_a_second_time_does_nothing() -> None:
    memory = HostMemory(64 * MIB)
    memory.view[:] = 1
    before = resident()
    memory.free()
    memory.free()
    assert before - resident() > 32 * MIB
    assert memory.view.nbytes == 0


def test_what_still_views_freed_memory_may_look_at_it() -> None:
    memory = HostMemory(4)
    view = memory.view
    memory.free()
    assert view.tolist() == [0] * 4


def test_memory_that_there_is_not_is_an_error() -> None:
    with pytest.raises(RuntimeFault, match=rf"cannot allocate {1 << 60} bytes .*max_map_count"):
        HostMemory(1 << 60)
