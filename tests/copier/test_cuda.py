"""The copier's way to CUDA: its own context for each call, and the thread's again after it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from xiokv.runtime.gpu import copier_library
from xiokv.runtime.gpu.copier_library import Cuda, Launch, Range, Vendor

OWN, OTHER = 0x1000, 0x2000
INVALID_CONTEXT = 201


class FakeCuda:
    """A driver library that notes which context its calls find.

    Attributes:
        current: the calling thread's context.
        found: the context at each call that needs one.
        refuses: whether contexts are refused.
    """

    def __init__(self) -> None:
        self.current: int | None = None
        self.found: list[int | None] = []
        self.refuses = False
        integer, pointer = ctypes.c_int, ctypes.c_void_p
        self._functions = {
            "cuCtxGetCurrent": ctypes.CFUNCTYPE(integer, ctypes.POINTER(pointer))(self._get),
            "cuCtxSetCurrent": ctypes.CFUNCTYPE(integer, pointer)(self._set),
            "cuLaunchKernel": ctypes.CFUNCTYPE(integer)(self._use),
            "cuPointerGetAttributes": ctypes.CFUNCTYPE(integer)(self._use),
        }
        addresses = {name: ctypes.cast(call, pointer) for name, call in self._functions.items()}
        self._cuda = Cuda(**addresses, context=OWN, function=1, stream=2, lanes=32)
        self.vendor = Vendor()
        copier_library.load().xiokv_copier_cuda_vendor(self._cuda, self.vendor)

    def _get(self, found: Any) -> int:
        found[0] = self.current
        return 0

    def _set(self, context: int | None) -> int:
        if self.refuses:
            return INVALID_CONTEXT
        self.current = context
        return 0

    def _use(self) -> int:
        self.found.append(self.current)
        return 0


def launch(vendor: Vendor) -> int:
    return int(vendor.launch(vendor.context, Launch(), 1))


def locate(vendor: Vendor) -> int:
    return int(vendor.locate(vendor.context, 4096, Range()))


CALLS = pytest.mark.parametrize("call", [launch, locate])


@CALLS
@pytest.mark.parametrize("before", [None, OWN, OTHER], ids=["none", "own", "another's"])
def test_a_thread_has_the_copiers_context_for_a_call_alone(
    call: Callable[[Vendor], int], before: int | None
) -> None:
    cuda = FakeCuda()
    cuda.current = before

    assert call(cuda.vendor) == 0

    assert (cuda.found, cuda.current) == ([OWN], before)


@CALLS
def test_without_its_context_nothing_is_called(call: Callable[[Vendor], int]) -> None:
    cuda = FakeCuda()
    cuda.refuses = True

    assert call(cuda.vendor) == INVALID_CONTEXT

    assert cuda.found == []
