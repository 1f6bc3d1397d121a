"""Blocks into memory of the GPU: the GPU's own retrieve beside what the CPU can do for it.

The CPU retrieves into page-locked memory, and copies from there: each block as it comes, or
all at once. Beside it stands a round trip of the same bytes over the bus, with no controller.
The controller serves all from threads, and reaches the GPU's memory by copies of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from xiokv.runtime.bench import cpu
from xiokv.runtime.bench.job import Load
from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import ENGINE
from xiokv.runtime.bench.rows import Row, compared, take_turns
from xiokv.runtime.bench.stand import Stand
from xiokv.runtime.bench.timers import DeviceTimer
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.units import size_text

SIZES = (4 << 10, 16 << 10, 128 << 10, 1 << 20)
BLOCKS = (1, 64)
PER_BLOCK, BATCHED, ROUND_TRIP = "CPU, copy a block", "CPU, one copy", "D2H + H2D"

_QUEUES = 4
_MICROSECONDS = 1e6

# Library, copy to the device and wait, by target; the calls of both vendors have one shape.
_LIBRARIES = {
    "cuda": ("libcuda.so.1", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"),
    "hip": ("libamdhip64.so", "hipMemcpyHtoDAsync", "hipStreamSynchronize"),
}


def measure(lab: Lab) -> Iterator[Row]:
    """Yield microseconds of some blocks."""
    if lab.gpu is None:
        raise RuntimeFault("a table of a GPU's memory on the host, whose memory is the device's")
    for blocks in BLOCKS:
        for size in SIZES:
            yield from _rows(lab, lab.gpu, size, blocks)


def _rows(lab: Lab, gpu: DeviceTimer, size: int, blocks: int) -> Iterator[Row]:
    setting = "1 block" if blocks == 1 else f"{blocks} blocks"
    lab.say(f"{size_text(size)}, {setting}")
    queues = min(_QUEUES, blocks, lab.cores.most(2))
    load = Load(queues, blocks, size, place=Place.DEVICE)
    with Stand(lab, load, null=False, client=True) as stand:
        stand.check_values(ENGINE, blocks)
        samples = take_turns(_cases(gpu, stand), lab.scale.samples)
    yield from compared(
        Row("device", size_text(size), setting, who, "us", tuple(taken), x=size)
        for who, taken in samples.items()
    )


def _cases(gpu: DeviceTimer, stand: Stand) -> dict[str, Callable[[], float]]:
    blocks = stand.load.keys
    return {
        PER_BLOCK: partial(_by_cpu, gpu, stand, True),
        BATCHED: partial(_by_cpu, gpu, stand, False),
        ROUND_TRIP: partial(_round_trip, gpu, stand),
        ENGINE: lambda: stand.seconds(ENGINE, blocks) * _MICROSECONDS,
    }


def _by_cpu(gpu: DeviceTimer, stand: Stand, per_block: bool) -> float:
    """Let one thread of the CPU retrieve and copy."""
    library, copy, wait = _LIBRARIES[gpu.device.api.name]
    copier = cpu.Copier(
        copy=cpu.function(library, copy),
        wait=cpu.function(library, wait),
        stream=gpu.handle,
        to=stand.job.values.address,
        per_value=per_block,
    )
    with gpu.device.using():
        return cpu.copied(stand.client.batch(stand.load.keys), copier) * _MICROSECONDS


def _round_trip(gpu: DeviceTimer, stand: Stand) -> float:
    """Copy the bytes to the host and back, timed by events."""
    api, stream = gpu.device.api, gpu.handle
    device, host = stand.job.values.address, stand.client.values.iova
    size = stand.load.keys * stand.load.size

    def copies() -> None:
        api.copy(host, device, size, stream)
        api.copy(device, host, size, stream)

    return gpu.between(copies) * _MICROSECONDS
