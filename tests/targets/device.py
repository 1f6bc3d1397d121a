"""What a test of the case table has of the device that it runs on: public calls alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests import exec_project
from xiokv import runtime
from xiokv.runtime import KV, Buffer, Emulator, Module, Outcome, Place

Bytes = npt.NDArray[np.uint8]

#: AMD devices that run in software, by their names among targets.
ARCHITECTURES = {"gfx942": "gfx942:sramecc+:xnack-", "gfx1100": "gfx1100"}


class Target:
    """One device, and controllers that end with the test.

    Attributes:
        name: that of its module, "host", "hip" or "cuda".
    """

    def __init__(self, name: str, stack: ExitStack) -> None:
        self.name = name
        self._stack = stack

    @property
    def module(self) -> Module:
        """This checkout's module on the device; where there is none, the test is skipped."""
        return _module(self.name)

    @property
    def exec_module(self) -> Module:
        """A module with the vendor command Exec; where none can be made, the test is skipped."""
        return _exec_module(self.name)

    def attach(
        self,
        controller: dict[str, Any] | None = None,
        *,
        module: Module | None = None,
        **options: Any,
    ) -> tuple[Emulator, KV]:
        """Make a controller, and attach to it; by default by the checkout's own module.

        Values have up to 64 KiB, so that queues need little memory, and nothing waits long
        for nothing, unless a test says otherwise.
        """
        module = module or self.module
        emulator = self._stack.enter_context(
            Emulator(**{"value_max": 1 << 16, **(controller or {})})
        )
        kv = self._stack.enter_context(module.attach(emulator, **{"timeout": 20.0, **options}))
        return emulator, kv

    def stream(self) -> Any:
        """Return a stream that ends with the test."""
        return self._stack.enter_context(self.module.stream())

    def memory(self, content: Bytes, place: Place = Place.HOST) -> Buffer:
        """Return memory with some bytes in it."""
        buffer = self.module.empty(content.nbytes, place=place)
        buffer.view[:] = content.reshape(-1)
        buffer.upload()
        return buffer


@cache
def _module(name: str) -> Module:
    try:
        return runtime.load(name)
    except runtime.MissingFault as fault:
        pytest.skip(str(fault))


@cache
def _exec_module(name: str) -> Module:
    try:
        return exec_project.module(name)
    except runtime.MissingFault as fault:
        pytest.skip(str(fault))


def content(buffer: Buffer, like: Bytes) -> Bytes:
    """Return what is in a buffer, in the shape of other bytes."""
    buffer.download()
    return buffer.view.reshape(like.shape)


def random_values(count: int, size: int, seed: int = 1) -> Bytes:
    """Return some values that differ."""
    return np.random.default_rng(seed).integers(0, 256, (count, size), np.uint8)


def keys_of(count: int) -> list[bytes]:
    """Return some keys, of different lengths."""
    return [b"key-%d" % number for number in range(count)]


def key_array(count: int) -> Bytes:
    """Return many keys of 16 bytes."""
    keys = np.zeros((count, 16), np.uint8)
    keys[:, :8] = np.arange(count, dtype=">u8").view(np.uint8).reshape(-1, 8)
    return keys


def outcomes(result: runtime.Result) -> Sequence[str]:
    """Return the names of a result's outcomes."""
    return [Outcome(outcome).name for outcome in result.status]


def reported(kv: KV, counter: str) -> int:
    """Return a counter of the queues' reports."""
    return sum(pair.report[counter] for pair in kv.queues)
