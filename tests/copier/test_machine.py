"""The copier's kernel as AMD code on the software machine: waves that take turns at will."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.amdgpu import machine
from tests.copier.conftest import Gpu
from xiokv.runtime.gpu.copier_library import Launch
from xiokv.runtime.gpu.kernels import kernel_file

KERNEL = "xiokv_kernel_copier"
LANES = 256
# Of the machine's clock, which counts steps.
LEASE = 40_000
SIZES = (1, 17, 4096, 5000, 16_384, 70_001)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(machine.missing_tools()), reason=f"needs {', '.join(machine.missing_tools())}"
    ),
]


class MachineGpu(Gpu):
    """A copier whose kernel runs on the machine, a seed a launch."""

    def __init__(self, image: machine.Image) -> None:
        super().__init__(channels=1, slots=4, patience=60.0)
        self._image = image
        self.failures: list[machine.MachineFault] = []

    def _run(self, launch: Launch, groups: int) -> None:
        launch.lease = LEASE
        sizes = {"groups": (groups,), "lanes": (LANES,)}
        try:
            with self._image.start(KERNEL, bytes(launch), **sizes, seed=launch.number) as run:
                run.to_end()
        except machine.MachineFault as fault:
            self.failures.append(fault)


@pytest.fixture(params=["gfx942", "gfx1100"])
def machine_gpu(request: pytest.FixtureRequest) -> Iterator[MachineGpu]:
    """Return a copier on the machine."""
    elf = kernel_file("copier", "hip", request.param).read_bytes()
    with machine.Image(elf) as image:
        gpu = MachineGpu(image)
        yield gpu
        gpu.close()


def test_workgroups_carry_copies_whole_over_several_leases(machine_gpu: MachineGpu) -> None:
    gpu = machine_gpu
    some_bytes = Random(1).randbytes
    number = 0
    while number < len(SIZES) or gpu.launches < 3:
        at = gpu.far.address + 4096 + 12 * number
        data = some_bytes(SIZES[number % len(SIZES)])
        gpu.write(at, data)
        assert gpu.read(at, len(data)) == data
        number += 1

    assert gpu.failures == []
