"""The GPU driver reads modules, and leaves nothing behind of what it could not make."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.runtime.gpu_fakes import SPEC, Api, attempt
from xiokv.runtime import abi
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.gpu import GpuDriver
from xiokv.runtime.drivers.gpu_device import GpuDevice
from xiokv.runtime.drivers.side_kernel import GpuSideKernel
from xiokv.runtime.errors import ExitCode, MissingFault, RuntimeFault

from .conftest import KERNEL, batch


def test_identity_is_read_from_inside_the_module(driver: GpuDriver) -> None:
    assert driver.module_abi() == (abi.VERSION, abi.layout_hash())
    assert driver.module_spec() == SPEC


def test_symbols_that_are_neither_kernel_nor_variable_are_missing(driver: GpuDriver) -> None:
    assert driver.missing([KERNEL, "xiokv_module_abi", "other"]) == ["other"]


def test_a_number_past_the_devices_is_missing(api: Api) -> None:
    with pytest.raises(MissingFault, match="no device 1: hip has 1") as caught:
        GpuDevice(api, 1)
    assert caught.value.exit_code is ExitCode.MISSING


def test_a_module_that_nobody_holds_is_unloaded_and_its_device_closed(api: Api) -> None:
    GpuDriver(GpuDevice(api), b"image")
    assert "unload" in api.names()
    assert api.is_empty


def test_a_launch_that_runs_holds_its_module(api: Api) -> None:
    api.ended = False
    launch = GpuDriver(GpuDevice(api), b"image").launch(KERNEL, batch(), 5, None)
    assert "unload" not in api.names()
    api.ended = True
    assert launch.wait()
    del launch


class Driver(GpuDriver):
    def __init__(self, api: Api) -> None:
        super().__init__(GpuDevice(api), b"image")


def side_kernel(api: Api, file: Path, entry: str = KERNEL) -> GpuSideKernel:
    return GpuSideKernel(GpuDevice(api), file, entry)


def side_launch(api: Api, file: Path) -> None:
    with closing(side_kernel(api, file)) as kernel:
        kernel.launch(abi.Batch(), 1)()


@pytest.mark.parametrize(
    "make",
    [
        lambda api, file: GpuDevice(api),
        lambda api, file: Driver(api),
        lambda api, file: Driver(api).allocate(64, Place.DEVICE),
        lambda api, file: Driver(api).stream(),
        side_kernel,
        side_launch,
    ],
    ids=["device", "driver", "memory", "stream", "side kernel", "side launch"],
)
def test_what_could_not_be_made_leaves_nothing_behind(
    api: Api, tmp_path: Path, make: Callable[[Api, Path], object]
) -> None:
    """Each call of the library is refused in turn, until all succeed."""
    image = tmp_path / "image"
    image.write_bytes(b"image")
    for granted in range(100):
        api.granted = granted
        if attempt(lambda: make(api, image)):
            return
        assert (granted, api.is_empty) == (granted, True)
    pytest.fail("it is never made")


def test_a_side_kernel_gives_everything_back(api: Api, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"image")
    with pytest.raises(RuntimeFault, match="no kernel other"):
        side_kernel(api, image, "other")
    kernel = side_kernel(api, image)
    kernel.launch(abi.Batch(), 1)()
    kernel.close()
    kernel.close()
    del kernel
    assert api.is_empty
