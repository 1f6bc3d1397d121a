"""Of a buffer in a GPU, what is looked at comes to the host, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from tests.runtime.gpu_fakes import Api
from xiokv.runtime.buffer import Buffer
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.memory import on_host, slices
from xiokv.runtime.kvcache.memory_storage import MemoryStorage
from xiokv.runtime.kvcache.states import BlockState
from xiokv.runtime.kvcache.storage import Fetch
from xiokv.runtime.kvcache.verification import check_fetches

from .donors import publish


@pytest.fixture
def api() -> Api:
    return Api()


def buffer_in_gpu(api: Api, content: np.ndarray) -> Buffer:  # type: ignore[type-arg]
    """Return a buffer whose bytes are in the GPU, and whose view on the host is old."""
    buffer = Buffer(GpuDriver(GpuDevice(api), b"image").allocate(len(content), Place.DEVICE))
    buffer.view[:] = content
    buffer.upload()
    buffer.view[:] = 0xA5
    api.calls.clear()
    return buffer


@pytest.mark.parametrize(
    ("begin", "end"), [(0, 256), (0, None), (16, 48), (255, 256), (200, 400), (8, 8), (300, 400)]
)
def test_what_is_looked_at_is_copied(api: Api, begin: int, end: int | None) -> None:
    content = np.arange(256, dtype=np.uint8)
    view = on_host("out", buffer_in_gpu(api, content), begin, end).view
    expected = np.full(256, 0xA5, np.uint8)
    expected[begin:end] = content[begin:end]
    assert (view == expected).all()


def test_checksums_are_those_of_the_bytes_in_the_gpu(api: Api) -> None:
    storage = MemoryStorage(Keyspace("t"))
    given = publish(storage)
    lease = storage.lease(storage.resolve(given.name), 10)
    content = np.zeros(1 << 20, np.uint8)
    fetch = Fetch(lease, np.array([5, 2]), np.array([40_960, 8192]))
    content[40_960:45_056], content[8192:12_288] = given.blocks[5], given.blocks[2]
    content[12_000] ^= 1
    buffer = buffer_in_gpu(api, content)
    (states,) = check_fetches([fetch], buffer, [np.full(2, BlockState.LANDED, np.uint8)])
    assert states.tolist() == [BlockState.VERIFIED, BlockState.CORRUPT]
    assert [call[3] for call in api.calls if call[0] == "copy"] == [45_056 - 8192]


def test_slices_are_views_of_each_block() -> None:
    memory = np.arange(64, dtype=np.uint8)
    found = slices(on_host("out", memory), np.array([8, 0, 60]), np.array([4, 0, 4]))
    assert [part.tolist() for part in found] == [[8, 9, 10, 11], [], [60, 61, 62, 63]]
    memory[9] = 0
    assert found[0][1] == 0
