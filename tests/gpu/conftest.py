"""A real GPU: these tests are skipped, and say so, where CUDA finds none."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from xiokv import runtime
from xiokv.runtime.drivers.cuda_api import CudaApi
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import MissingFault
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module

DEVICE = 0

# Spins until a word is not 0, or for 20 seconds.
SPIN = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 word)
{
    .reg .u64 %at, %begin, %now;
    .reg .u32 %value;
    .reg .pred %stays;
    ld.param.u64 %at, [word];
    mov.u64 %begin, %globaltimer;
again:
    ld.relaxed.sys.u32 %value, [%at];
    setp.ne.u32 %stays, %value, 0;
    @%stays bra over;
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %begin;
    setp.lt.u64 %stays, %now, 20000000000;
    @%stays bra again;
over:
    ret;
}
"""


@pytest.fixture(scope="session", autouse=True)
def _surroundings() -> Iterator[None]:
    """Use no module that the caller's shell names."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("XIOKV_")]:
            if not name.startswith("XIOKV_TEST_"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def api() -> CudaApi:
    """Return CUDA, or skip."""
    try:
        api = CudaApi()
        api.device_count()
    except MissingFault as fault:
        pytest.skip(str(fault))
    return api


@pytest.fixture(scope="session")
def module(api: CudaApi) -> Module:
    """Return this checkout's module on the GPU, compiled where it is not there."""
    return runtime.load("cuda")


class Array:
    """Another library's memory, of the device or page-locked on the host."""

    def __init__(self, api: CudaApi, size: int, place: str) -> None:
        self.size, self._api, self._place = size, api, place
        with api.using(DEVICE):
            if place == "device":
                self.address = api.device_alloc(size, False)
            else:
                self.address, _ = api.host_alloc(size)
            self._stream = api.stream_create()
            self._staging, _ = api.host_alloc(size)
        self.fill(bytes(size))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (self.size,),
            "typestr": "|u1",
            "data": (self.address, False),
            "version": 3,
        }

    def fill(self, data: Any) -> None:
        """Put bytes in, from the begin on."""
        data = bytes(data)
        ctypes.memmove(self._staging, data, len(data))
        self._copy(self.address, self._staging)

    def bytes(self) -> bytes:
        """Return what is in it."""
        self._copy(self._staging, self.address)
        return ctypes.string_at(self._staging, self.size)

    def free(self) -> None:
        with self._api.using(DEVICE):
            self._api.stream_destroy(self._stream)
            self._api.host_free(self._staging)
            free = self._api.device_free if self._place == "device" else self._api.host_free
            free(self.address)

    def _copy(self, to: int, source: int) -> None:
        with self._api.using(DEVICE):
            self._api.copy(to, source, self.size, self._stream)
            self._api.stream_synchronize(self._stream)


@pytest.fixture
def array(api: CudaApi) -> Iterator[Callable[[int, str], Array]]:
    """Return a function that allocates memory, "device" or "pinned"."""
    made: list[Array] = []

    def make(size: int, place: str) -> Array:
        made.append(Array(api, size, place))
        return made[-1]

    yield make
    for memory in made:
        memory.free()


Attach = Callable[..., tuple[Emulator, KV]]


@pytest.fixture
def attach(module: Module) -> Iterator[Attach]:
    """Return what makes a controller, with options as a dict, and a KV attached to it.

    With a memory mode other than 0 or 8 a relay stands before the controller.
    """
    with ExitStack() as stack:

        def make(controller: dict[str, Any] | None = None, **options: Any) -> tuple[Emulator, KV]:
            emulator = stack.enter_context(Emulator(**(controller or {})))
            served: Any = emulator
            if options.get("memory_mode", 0) & 7:
                served = stack.enter_context(runtime.Relay(emulator, module))
            return emulator, stack.enter_context(module.attach(served, **options))

        yield make


class Spinner:
    """A kernel that spins until it is told to end."""

    def __init__(self, api: CudaApi) -> None:
        self._api = api
        with api.using(DEVICE):
            self._word, _ = api.host_alloc(4)
            self._module = api.load(SPIN)
            self._stream = api.stream_create()
            self._event = api.event_create()
        ctypes.c_uint32.from_address(self._word).value = 0

    @property
    def runs(self) -> bool:
        with self._api.using(DEVICE):
            return not self._api.event_query(self._event)

    def start(self) -> None:
        argument = ctypes.c_uint64(self._word)
        with self._api.using(DEVICE):
            function = self._api.function(self._module, "spin")
            self._api.launch(function, 1, 32, self._stream, argument)  # type: ignore[arg-type]
            self._api.event_record(self._event, self._stream)

    def end(self) -> None:
        ctypes.c_uint32.from_address(self._word).value = 1
        with self._api.using(DEVICE):
            self._api.stream_synchronize(self._stream)


@pytest.fixture
def spinner(api: CudaApi) -> Iterator[Spinner]:
    """Return a kernel that spins, and ends with the test."""
    spinner = Spinner(api)
    yield spinner
    spinner.end()


@pytest.fixture(scope="session")
def some_bytes() -> Callable[[int, int], bytes]:
    """Return a function that makes bytes of a size from a seed."""
    return lambda size, seed: np.random.default_rng(seed).bytes(size)
