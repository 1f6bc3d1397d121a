"""What nothing can be faster than: a round trip between device and CPU, and a launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xiokv.runtime import abi
from xiokv.runtime.bench import baselines, cpu
from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import NOTHING, PING_PONG
from xiokv.runtime.bench.rows import Row, take_turns
from xiokv.runtime.drivers.base import Memory
from xiokv.runtime.errors import RuntimeFault

_ROUNDS = 2_000
_DEADLINE = 2.0
_LINE_BYTES = 128
_MICROSECONDS = 1e6


def measure(lab: Lab) -> Iterator[Row]:
    """Yield microseconds of a ping-pong and of a launch that does nothing."""
    cases: dict[str, Callable[[], float]] = {
        PING_PONG: lambda: ping_pong(lab),
        NOTHING: lambda: nothing(lab),
    }
    lab.say("ping-pong, empty launch")
    take_turns(cases, 1)
    for who, samples in take_turns(cases, lab.scale.samples).items():
        yield Row("floor", "one", "", who, "us", tuple(samples))


def ping_pong(lab: Lab) -> float:
    """Return microseconds from a word that the device writes to the CPU's answer."""
    driver = lab.baselines.driver
    memory = driver.allocate(3 * _LINE_BYTES)
    try:
        return _rounds(lab, memory)
    finally:
        memory.free()


def nothing(lab: Lab) -> float:
    """Return microseconds of a launch that does nothing."""
    batch = abi.Batch(queue_count=1)
    return lab.timer.seconds(lab.baselines, baselines.entry("nothing"), batch) * _MICROSECONDS


def _rounds(lab: Lab, memory: Memory) -> float:
    """The GPU writes the first line, the CPU the second; the third takes the count."""
    ping, pong, done = (at * _LINE_BYTES for at in range(3))
    batch = abi.Batch(
        keys=memory.address + ping,
        results=memory.address + pong,
        state=memory.address + done,
        count=_ROUNDS,
        queue_count=1,
        deadline=lab.baselines.driver.ticks(_DEADLINE),
    )
    answering, asking = lab.cores.shares(1, 2)
    host = memory.iova
    with cpu.answering(host + ping, host + pong, answering):
        seconds = lab.timer.seconds(lab.baselines, baselines.entry("ping_pong"), batch, asking)
    answered = int(memory.view.view("<u4")[done // 4])
    if answered != _ROUNDS:
        raise RuntimeFault(f"ping-pong: {answered} of {_ROUNDS} rounds were answered in time")
    return seconds / _ROUNDS * _MICROSECONDS
