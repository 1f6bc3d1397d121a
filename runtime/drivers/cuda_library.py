"""cuda-bindings, and what is wrong where it or the driver behind it is not there.

In: nothing. Out: the module ``driver`` of cuda-bindings, with the library initialised. Its
import needs no library: the first call opens ``libcuda.so.1``, which comes with the driver.
"""

from __future__ import annotations

from typing import Any

from xiokv.runtime.drivers.vendor_library import (
    NO_DEVICE,
    VendorFault,
    call_library,
    why_not_opened,
)
from xiokv.runtime.errors import MissingFault, RuntimeFault, UnusableFault

LIBRARY = "libcuda.so.1"

_STUB_LIBRARY = 34
_DRIVER_MISMATCH = 803


def bindings() -> Any:
    """Import cuda-bindings and initialise the library.

    Raises:
        MissingFault: there is no package, no library or no device.
        UnusableFault: there are, and the driver is too old for the package.
    """
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise MissingFault(
            f"cuda-bindings cannot be imported ({error}); install the one of your CUDA:"
            " pip install 'cuda-bindings>=12'"
        ) from error
    try:
        call(driver, "cuInit", 0)
    except VendorFault as fault:
        raise _init_fault(fault) from fault
    _check_version(driver)
    return driver


def call(cuda: Any, name: str, *arguments: Any) -> Any:
    """Call CUDA; return the value, the values where there are several, or None."""
    return call_library(cuda, name, arguments, _describe, _library_fault)


def _describe(cuda: Any, error: Any) -> str:
    failed, text = cuda.cuGetErrorString(error)
    said = "an error without a description" if failed else text.decode(errors="replace")
    return f"{error.name} ({int(error)}): {said}"


def _init_fault(fault: VendorFault) -> RuntimeFault:
    if fault.code == NO_DEVICE:
        return MissingFault(
            "no NVIDIA GPU: CUDA finds none; nvidia-smi has to list one, and"
            " CUDA_VISIBLE_DEVICES may hide devices"
        )
    if fault.code == _STUB_LIBRARY:
        return MissingFault(f"no NVIDIA driver ({fault}); install or update the driver")
    if fault.code == _DRIVER_MISMATCH:
        return UnusableFault(f"no usable NVIDIA driver ({fault}); update the driver")
    return fault


def _check_version(cuda: Any) -> None:
    """Refuse a driver of an older major version than the bindings'."""
    supported = int(call(cuda, "cuDriverGetVersion"))
    wanted = int(cuda.CUDA_VERSION)
    if supported // 1000 < wanted // 1000:
        raise UnusableFault(
            f"the NVIDIA driver is for CUDA {_dotted(supported)} and cuda-bindings for"
            f" {_dotted(wanted)}: update the driver, or pip install"
            f" 'cuda-bindings<{supported // 1000 + 1}'"
        )


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _library_fault(error: RuntimeError) -> RuntimeFault:
    """Return what is wrong where the library or one of its functions cannot be had."""
    why = why_not_opened(LIBRARY)
    if why:
        return MissingFault(f"no NVIDIA driver: {why}; install the driver")
    return UnusableFault(
        f"the NVIDIA driver is too old for this cuda-bindings ({error}): update the driver, or"
        " install an older cuda-bindings"
    )
