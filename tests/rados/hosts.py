"""A host on a controller over a cluster: batches that run meanwhile, and what came of each key."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime import KV, Emulator, Outcome, Result
from xiokv.runtime.results import BatchFault

COMMANDS = ("store", "retrieve", "exist", "delete", "list")

# Status code type and status code, as `said` counts them.
OK = (0, 0x00)
GONE = (0, 0x0B)
FULL = (0, 0x81)
UNREACHABLE = (0, 0x82)
MISSING = (0, 0x87)
CUT_OFF = (3, 0x60)
NOTHING = (-1, -1)  # no completion

Said = Counter[tuple[int, int]]

# Of two queues, 127 commands each: what is in flight at once.
WINDOW = 254
MANY = range(6000)

# What a busy machine may add to any time that is bounded.
SLACK = 5.0


def said(result: Result) -> Said:
    """Return how many keys had each status."""
    status = result.nvme_status
    return Counter(zip(status["sct"].tolist(), status["sc"].tolist(), strict=True))


def all_say(status: tuple[int, int], keys: int) -> dict[str, Said]:
    """Return what every command says of so many keys if it says one thing."""
    return {name: Counter({status: keys if name != "list" else 1}) for name in COMMANDS}


def keys_of(numbers: range) -> list[bytes]:
    """Return a key a number."""
    return [b"key-%06d" % number for number in numbers]


def values_of(numbers: range, size: int = 1024) -> npt.NDArray[np.uint8]:
    """Return a value a number, each its own bytes."""
    return np.concatenate([value_of(number, size) for number in numbers]).reshape(-1, size)


def value_of(number: int, size: int = 1024) -> npt.NDArray[np.uint8]:
    """Return the value of a number."""
    return np.random.default_rng(number).integers(0, 256, size, dtype=np.uint8)


@dataclass
class Host:
    """A controller with queues, and a thread for a batch.

    Attributes:
        controller: the controller.
        kv: what is attached to it.
    """

    controller: Emulator
    kv: KV
    threads: ThreadPoolExecutor

    def begin(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begin a call; it runs on."""
        return self.threads.submit(call, *arguments)

    def wait_for(self, completions: int) -> None:
        """Wait for more commands to complete."""
        wanted = self.controller.counters().completions + completions
        end = time.monotonic() + 20
        while self.controller.counters().completions < wanted:
            assert time.monotonic() < end, f"{completions} commands do not complete"
            time.sleep(0.002)

    def wait_for_fetch(self, commands: int) -> None:
        """Wait until the controller has so many commands that are not complete."""
        end = time.monotonic() + 20
        while True:
            counters = self.controller.counters()
            if counters.commands - counters.completions >= commands:
                return
            assert time.monotonic() < end, f"no {commands} commands are in flight: {counters}"
            time.sleep(0.002)

    def listed(self) -> Said:
        """Return the status of a List from the first key on."""
        try:
            list(self.kv.list())
        except BatchFault as fault:
            return said(fault.result)
        return Counter([OK])

    def say(self, command: str, keys: Sequence[bytes], size: int = 1024) -> Said:
        """Return what one command says of some keys; a Store stores zeros."""
        if command == "list":
            return self.listed()
        buffer = [np.zeros((len(keys), size), np.uint8)]
        call = getattr(self.kv, command)
        return said(call(keys, *(buffer if command in ("store", "retrieve") else [])))

    def values(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of some keys, up to 64 KiB; None is for a key that is not there."""
        out = np.zeros((len(keys), 1 << 16), np.uint8)
        result = self.kv.retrieve(keys, out)
        assert set(said(result)) <= {OK, MISSING}, result
        sizes = result.value_size
        there = result.status == Outcome.OK
        return [out[i, : sizes[i]].tobytes() if there[i] else None for i in range(len(keys))]

    def every_command(self, keys: Sequence[bytes]) -> dict[str, Said]:
        """Return what each command says of some keys."""
        return {command: self.say(command, keys) for command in COMMANDS}


@contextmanager
def host(
    module: Any, url: str, *, queues: int = 2, depth: int = 128, timeout: float = 60
) -> Iterator[Host]:
    """Return a host for a `with`: the controller, its threads and the queues end with it.

    Args:
        module: what drives the queues.
        url: the store.
        queues: queue pairs.
        depth: entries of each ring; one less are in flight.
        timeout: seconds without any completion after which the host gives a queue up.
    """
    with (
        ThreadPoolExecutor() as threads,
        Emulator(store=url) as controller,
        module.attach(controller, queues=queues, depth=depth, timeout=timeout) as kv,
    ):
        yield Host(controller, kv, threads)


def at_last(call: Callable[[], Said], wanted: Said) -> None:
    """Hold that a call comes to say one thing, when what ailed the cluster has passed."""
    end = time.monotonic() + 30
    while (heard := call()) != wanted:
        assert time.monotonic() < end, f"{heard}; wanted {wanted}"


@contextmanager
def took(least: float, most: float) -> Iterator[None]:
    """Hold that a `with` takes so many seconds, and at most `SLACK` more."""
    start = time.monotonic()
    yield
    seconds = time.monotonic() - start
    assert least <= seconds < most + SLACK, f"{seconds:.2f} s; wanted {least} to {most} + {SLACK}"
