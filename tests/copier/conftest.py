"""A GPU of threads: the copier's kernel compiled for the host, and memory said to be far."""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pytest

from xiokv.runtime.gpu import copier_library
from xiokv.runtime.gpu.copier_library import Config, Launch, Locate, Range, Start, Vendor
from xiokv.runtime.gpu.kernels import kernel_file

PAGE = 4096
MEMORY = 4 << 20
GROUPS = 2
SECOND = 1_000_000_000


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


class Memory:
    """Zeroed pages."""

    def __init__(self, size: int) -> None:
        self._map = mmap.mmap(-1, size)
        self.view = memoryview(self._map)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self.size = size


class Gpu:
    """A copier whose kernel runs on threads, one a workgroup, one launch after the other.

    Attributes:
        far: memory that the copier takes for the device's.
        located: addresses that it asked about.
        works: whether launches succeed; with None they do, and nothing runs.
        gaps: launches that found the one before at its end.
    """

    def __init__(
        self, *, channels: int = 2, slots: int = 16, lease: float = 1.0, patience: float = 20.0
    ) -> None:
        self.library = copier_library.load()
        self.far = Memory(MEMORY)
        self.located: list[int] = []
        self.works: bool | None = True
        self.gaps = 0
        self._entry = ctypes.CDLL(str(kernel_file("copier", "host", ""))).xiokv_kernel_copier
        self._entry.argtypes = (ctypes.POINTER(Launch), ctypes.c_uint32)
        self._entry.restype = None
        self._stream = ThreadPoolExecutor(1)
        self._launched: list[Future[None]] = []
        self._pinned = Memory(self.library.xiokv_copier_bytes(channels, slots, GROUPS))
        # As an allocator may leave it.
        self._pinned.view[:] = b"\xa5" * self._pinned.size
        self._vendor = Vendor(1, Start(self._launch), Locate(self._locate))
        config = Config(
            channels=channels,
            slots=slots,
            groups=GROUPS,
            memory=self._pinned.address,
            device_memory=self._pinned.address,
            lease=round(lease * SECOND),
            term=round(lease * SECOND),
            patience=round(patience * SECOND),
        )
        self.copier: int = self.library.xiokv_copier_create(config, self._vendor)
        assert self.copier

    @property
    def launches(self) -> int:
        return int(self.library.xiokv_copier_launches(self.copier))

    @property
    def idle(self) -> bool:
        """Whether no launch runs."""
        return all(launch.done() for launch in self._launched)

    def read(self, address: int, size: int) -> bytes:
        """Return what the copier reads, or raise."""
        buffer = ctypes.create_string_buffer(size + 1)
        if self.library.xiokv_copier_read(self.copier, address, buffer, size) != 0:
            raise OSError("the copier failed to read")
        return buffer.raw[:size]

    def write(self, address: int, data: bytes) -> None:
        """Let the copier write and flush, or raise."""
        failed = self.library.xiokv_copier_write(self.copier, address, data, len(data))
        if failed or self.library.xiokv_copier_flush(self.copier):
            raise OSError("the copier failed to write")

    def hold(self, until: threading.Event) -> None:
        """Let launches wait, as where the device is busy."""
        self._launched.append(self._stream.submit(self._wait, until))

    def close(self) -> None:
        self.library.xiokv_copier_stop(self.copier)
        self._stream.shutdown()
        self.library.xiokv_copier_destroy(self.copier)

    def _wait(self, until: threading.Event) -> None:
        until.wait(20)

    def _launch(self, context: int, argument: Any, groups: int) -> int:
        if not self.works:
            return 0 if self.works is None else 1
        launch = Launch.from_buffer_copy(argument.contents)
        self.gaps += self.idle
        self._launched.append(self._stream.submit(self._run, launch, groups))
        return 0

    def _run(self, launch: Launch, groups: int) -> None:
        with ThreadPoolExecutor(groups) as threads:
            wait([threads.submit(self._entry, launch, group) for group in range(groups)])

    def _locate(self, context: int, address: int, found: Any) -> int:
        self.located.append(address)
        if 0 <= address - self.far.address < self.far.size:
            found[0] = Range(self.far.address, self.far.size, 1, 1)
        else:
            found[0] = Range(address // PAGE * PAGE, PAGE, 0, 0)
        return 0


@pytest.fixture
def make_gpu() -> Iterator[Callable[..., Gpu]]:
    """Return a function that makes a GPU; all are closed at the end."""
    made: list[Gpu] = []

    def make(**options: Any) -> Gpu:
        made.append(Gpu(**options))
        return made[-1]

    yield make
    for gpu in made:
        gpu.close()
    assert threading.active_count() < 64


@pytest.fixture
def gpu(make_gpu: Callable[..., Gpu]) -> Gpu:
    """Return a GPU with usual options."""
    return make_gpu()
