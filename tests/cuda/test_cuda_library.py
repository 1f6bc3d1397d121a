"""What a user is told where CUDA cannot be used, by bindings that answer as asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import IntEnum
from types import ModuleType
from typing import Any

import pytest

from xiokv.runtime.devices import open_device
from xiokv.runtime.drivers.cuda_library import CudaFault, bindings, call
from xiokv.runtime.errors import ExitCode, MissingFault, RuntimeFault, UnusableFault


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_STUB_LIBRARY = 34
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803
    CUDA_ERROR_UNKNOWN = 999


class Bindings(ModuleType):
    """Bindings for CUDA 13.0 on a driver that supports it and has one device."""

    CUDA_VERSION = 13000

    def __init__(self, **calls: Callable[..., Any]) -> None:
        super().__init__("driver")
        self.__dict__.update(
            {
                "cuInit": lambda flags: (CUresult.CUDA_SUCCESS,),
                "cuDriverGetVersion": lambda: (CUresult.CUDA_SUCCESS, 13000),
                "cuGetErrorString": lambda error: (CUresult.CUDA_SUCCESS, b"the reason"),
                **calls,
            }
        )


def refusing(code: CUresult) -> Callable[..., Any]:
    return lambda *arguments: (code, None)


def raising(error: Exception) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        raise error

    return call


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Bindings]:
    """Return a function that puts bindings with other calls in the place of any others."""

    def put(**calls: Callable[..., Any]) -> Bindings:
        package = ModuleType("cuda.bindings")
        package.driver = Bindings(**calls)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
        monkeypatch.setitem(sys.modules, "cuda.bindings", package)
        return package.driver  # type: ignore[attr-defined, no-any-return]

    return put


def test_no_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda", None)

    with pytest.raises(MissingFault, match=r"pip install cuda-bindings$"):
        bindings()


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        ({"cuInit": raising(RuntimeError("Failed to dlopen libcuda.so.1"))}, "libcuda.so.1"),
        ({"cuInit": refusing(CUresult.CUDA_ERROR_NO_DEVICE)}, "no NVIDIA GPU"),
        ({"cuInit": refusing(CUresult.CUDA_ERROR_STUB_LIBRARY)}, "install or update the driver"),
        ({"cuInit": refusing(CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)}, "update the driver"),
        (
            {"cuDriverGetVersion": lambda: (CUresult.CUDA_SUCCESS, 12040)},
            r"is for CUDA 12\.4 and cuda-bindings for 13\.0: .*'cuda-bindings<13'",
        ),
        (
            {"cuDriverGetVersion": raising(RuntimeError('Function "x" not found'))},
            "too old for this cuda-bindings",
        ),
    ],
)
def test_what_is_missing_is_told_in_one_line(
    install: Callable[..., Bindings], calls: dict[str, Any], told: str
) -> None:
    install(**calls)

    with pytest.raises(MissingFault, match=told) as caught:
        bindings()

    assert caught.value.exit_code is ExitCode.MISSING
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("calls", "is_there"),
    [
        ({"cuInit": refusing(CUresult.CUDA_ERROR_NO_DEVICE)}, False),
        ({"cuInit": raising(RuntimeError("Failed to dlopen libcuda.so.1"))}, False),
        ({"cuInit": refusing(CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)}, True),
        ({"cuDriverGetVersion": lambda: (CUresult.CUDA_SUCCESS, 12040)}, True),
        ({"cuDriverGetVersion": raising(RuntimeError('Function "x" not found'))}, True),
    ],
    ids=["no device", "no driver", "mismatch", "old driver", "older driver"],
)
def test_a_device_that_cannot_be_used_is_not_passed_over_for_another(
    install: Callable[..., Bindings],
    monkeypatch: pytest.MonkeyPatch,
    calls: dict[str, Any],
    is_there: bool,
) -> None:
    install(**calls)
    monkeypatch.setitem(sys.modules, "hip", None)

    if is_there:
        with pytest.raises(UnusableFault):
            open_device(None)
    else:
        assert open_device(None).target == "host"


@pytest.mark.parametrize("size", [-1, 2**64])
def test_a_number_without_room_is_told_of(install: Callable[..., Bindings], size: int) -> None:
    cuda = install(cuMemAlloc=lambda size: (CUresult.CUDA_SUCCESS, size.to_bytes(8, "little")))

    with pytest.raises(RuntimeFault, match=r"^cuMemAlloc: "):
        call(cuda, "cuMemAlloc", size)


def test_another_failure_to_initialise_is_no_missing_part(
    install: Callable[..., Bindings],
) -> None:
    install(cuInit=refusing(CUresult.CUDA_ERROR_UNKNOWN))

    with pytest.raises(CudaFault, match=r"^cuInit: CUDA_ERROR_UNKNOWN \(999\): the reason$"):
        bindings()


def test_a_refused_call_names_call_code_and_reason(install: Callable[..., Bindings]) -> None:
    cuda = install(cuMemAlloc=refusing(CUresult.CUDA_ERROR_OUT_OF_MEMORY))

    with pytest.raises(RuntimeFault) as caught:
        call(cuda, "cuMemAlloc", 1)

    assert str(caught.value) == "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): the reason"


@pytest.mark.parametrize(
    ("returned", "value"), [((), None), ((7,), 7), ((1, 2), [1, 2])], ids=["none", "one", "two"]
)
def test_values_come_without_the_code(
    install: Callable[..., Bindings], returned: tuple[int, ...], value: object
) -> None:
    cuda = install(cuCall=lambda: (CUresult.CUDA_SUCCESS, *returned))

    assert call(cuda, "cuCall") == value
