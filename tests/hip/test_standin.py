"""The stand-in does what HIP does, as hip-python sees it."""

from __future__ import annotations

from typing import Any


def _device(number: int) -> Any:
    from hip import hip

    error, properties = hip.hipGetDeviceProperties(number)
    return error.name, properties.gcnArchName, properties.warpSize, properties.c_sizeof()


def test_a_device_is_what_the_environment_says(standin):
    assert standin.call(_device, 0) == ["hipSuccess", "gfx942:sramecc+:xnack-", 64, 1472]
