"""What a user is told where CUDA cannot be used, by bindings that answer as asked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from enum import IntEnum
from types import ModuleType
from typing import Any

import pytest

from xiokv.runtime.devices import open_device
from xiokv.runtime.drivers import cuda_library
from xiokv.runtime.drivers.cuda_library import bindings, call
from xiokv.runtime.drivers.vendor_library import VendorFault
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


class DynamicLibNotFoundError(RuntimeError):
    """What bindings from 13.5 on raise; those before raise a RuntimeError."""


# What bindings say where they do not find the library, which changes with their versions.
NO_LIBRARY = [
    RuntimeError("Failed to dlopen libcuda.so.1"),
    DynamicLibNotFoundError("libcuda.so.1 can only be found via system search"),
]


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


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a function that says whether the loader finds the library."""

    def put(found: bool) -> None:
        # Any program has its C library, and no system has one of the other name.
        monkeypatch.setattr(cuda_library, "LIBRARY", "libc.so.6" if found else "libcuda.so.none")

    return put


def test_no_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda", None)

    with pytest.raises(MissingFault, match=r"pip install 'cuda-bindings>=12'$"):
        bindings()


NO_DEVICE = {"cuInit": refusing(CUresult.CUDA_ERROR_NO_DEVICE)}
STUB = {"cuInit": refusing(CUresult.CUDA_ERROR_STUB_LIBRARY)}
MISMATCH = {"cuInit": refusing(CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)}
OLD = {"cuDriverGetVersion": lambda: (CUresult.CUDA_SUCCESS, 12040)}
OLDER = {"cuDriverGetVersion": raising(RuntimeError('Function "x" not found'))}


def refusal() -> tuple[type[RuntimeFault], str, int]:
    """Return how the bindings are refused."""
    with pytest.raises(RuntimeFault) as caught:
        bindings()
    return caught.type, str(caught.value), caught.value.exit_code


@pytest.mark.parametrize(
    ("calls", "told"),
    [(NO_DEVICE, "no NVIDIA GPU"), (STUB, "no NVIDIA driver (")],
    ids=["no device", "stub"],
)
def test_what_is_missing_is_told_in_one_line_and_passed_by(
    install: Callable[..., Bindings],
    monkeypatch: pytest.MonkeyPatch,
    calls: dict[str, Any],
    told: str,
) -> None:
    install(**calls)
    monkeypatch.setitem(sys.modules, "hip", None)

    kind, text, code = refusal()

    assert (kind, code) == (MissingFault, ExitCode.MISSING)
    assert text.startswith(told)
    assert "\n" not in text
    assert open_device(None).target == "host"


@pytest.mark.parametrize("error", NO_LIBRARY, ids=lambda error: type(error).__name__)
def test_a_library_that_the_loader_does_not_find_is_missing_whatever_the_bindings_say(
    install: Callable[..., Bindings],
    loader: Callable[[bool], None],
    monkeypatch: pytest.MonkeyPatch,
    error: RuntimeError,
) -> None:
    install(cuInit=raising(error))
    loader(False)
    monkeypatch.setitem(sys.modules, "hip", None)

    kind, text, code = refusal()

    assert (kind, code) == (MissingFault, ExitCode.MISSING)
    assert text.startswith("no NVIDIA driver: libcuda.so.none: ")
    assert open_device(None).target == "host"


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        (MISMATCH, r"; update the driver$"),
        (OLD, r"is for CUDA 12\.4 and cuda-bindings for 13\.0: .*'cuda-bindings<13'"),
        (OLDER, r'too old for this cuda-bindings \(Function "x" not found\)'),
    ],
    ids=["mismatch", "old driver", "older driver"],
)
def test_what_is_there_and_cannot_be_used_is_a_failure_and_not_passed_by(
    install: Callable[..., Bindings],
    loader: Callable[[bool], None],
    calls: dict[str, Any],
    told: str,
) -> None:
    install(**calls)
    loader(True)

    kind, text, code = refusal()

    assert (kind, code) == (UnusableFault, ExitCode.FAILURE)
    assert re.search(told, text)
    assert "\n" not in text
    with pytest.raises(UnusableFault):
        open_device(None)


@pytest.mark.parametrize("size", [-1, 2**64])
def test_a_number_without_room_is_told_of(install: Callable[..., Bindings], size: int) -> None:
    cuda = install(cuMemAlloc=lambda size: (CUresult.CUDA_SUCCESS, size.to_bytes(8, "little")))

    with pytest.raises(RuntimeFault, match=r"^cuMemAlloc: "):
        call(cuda, "cuMemAlloc", size)


def test_another_failure_to_initialise_is_no_missing_part(
    install: Callable[..., Bindings],
) -> None:
    install(cuInit=refusing(CUresult.CUDA_ERROR_UNKNOWN))

    with pytest.raises(VendorFault, match=r"^cuInit: CUDA_ERROR_UNKNOWN \(999\): the reason$"):
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
