"""Queues that something else created, used by half, and a process that was killed.

The other owner is this test: it writes entries by hand and keeps its own count.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from xiokv.generated.nvme_kv import encode
from xiokv.runtime.controller import Rings
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.queues import QueuePair

SQ_DEPTH, CQ_DEPTH = 8, 5
STORED = b"0123456789abcdef" * 4


@dataclass
class ByHand:
    """A queue pair that is driven without the runtime, one command at a time."""

    emulator: Emulator
    wait_until: Any
    tail: int = 0
    head: int = 0
    phase: int = 1

    def __post_init__(self) -> None:
        self._memory = HostMemory(3 * 4096)
        at = self._memory.address
        self.rings = Rings(at, at + 4096, SQ_DEPTH, CQ_DEPTH)
        self.queue = self.emulator.create_queue(self.rings)
        self._value = at + 8192

    def store(self, key: bytes) -> None:
        """Store STORED under a key, and take its completion."""
        self._memory.view[8192 : 8192 + len(STORED)] = np.frombuffer(STORED, np.uint8)
        sqe = bytearray(encode("store", nsid=1, key=key, value_size=len(STORED)))
        sqe[24:32] = self._value.to_bytes(8, "little")
        ctypes.memmove(self.rings.sq_iova + self.tail * 64, bytes(sqe), 64)
        self.tail = (self.tail + 1) % SQ_DEPTH
        ctypes.c_uint32.from_address(self.queue.sq_doorbell).value = self.tail
        status = ctypes.c_uint16.from_address(self.rings.cq_iova + self.head * 16 + 14)
        self.wait_until(lambda: status.value & 1 == self.phase)
        assert status.value >> 1 == 0
        self.head = (self.head + 1) % CQ_DEPTH
        self.phase ^= self.head == 0
        ctypes.c_uint32.from_address(self.queue.cq_doorbell).value = self.head

    def hand_over(self) -> QueuePair:
        return QueuePair.from_pointers(
            sq=self.rings.sq_iova,
            cq=self.rings.cq_iova,
            sq_doorbell=self.queue.sq_doorbell,
            cq_doorbell=self.queue.cq_doorbell,
            qid=self.queue.qid,
            sq_depth=SQ_DEPTH,
            cq_depth=CQ_DEPTH,
            tail=self.tail,
            head=self.head,
            phase=self.phase,
            nsid=1,
            limits=self.emulator.limits(1),
        )

    def take_back(self, state: Any) -> None:
        self.tail, self.head, self.phase = state["tail"], state["head"], state["phase"]


@pytest.fixture
def by_hand(wait_until) -> Iterator[ByHand]:
    with Emulator() as emulator:
        yield ByHand(emulator, wait_until)


@pytest.mark.parametrize("used", range(12))
def test_a_queue_used_by_half_works_on_and_goes_back_as_it_stands(
    by_hand: ByHand, module, used: int
) -> None:
    keys = [b"by hand %d" % i for i in range(used)]
    for key in keys:
        by_hand.store(key)
    pair = by_hand.hand_over()
    with module.attach(None, queues=[pair]) as kv:
        blocks = np.arange(13 * 64, dtype=np.uint8).reshape(13, 64)
        ours = [b"ours %d" % i for i in range(13)]
        kv.store(ours, blocks).raise_for_status()
        out = np.zeros((used + 13, 64), np.uint8)
        kv.retrieve(keys + ours, out).raise_for_status()
        assert bytes(out[:used]) == STORED * used
        assert (out[used:] == blocks).all()
    by_hand.take_back(pair.release())
    assert (by_hand.tail, by_hand.head) == ((2 * used + 26) % SQ_DEPTH, (2 * used + 26) % CQ_DEPTH)
    by_hand.store(b"after")


def test_a_queue_can_be_handed_over_again_and_again(by_hand: ByHand, module) -> None:
    for number in range(5):
        key = b"turn %d" % number
        by_hand.store(key)
        pair = by_hand.hand_over()
        with module.attach(None, queues=[pair]) as kv:
            assert kv.exist([key, b"other"]).status.tolist()[0] == 1
        by_hand.take_back(pair.release())


def test_two_owners_of_a_live_queue_are_refused(by_hand: ByHand) -> None:
    pair = by_hand.hand_over()
    with pytest.raises(ArgumentFault, match="owned by another"):
        by_hand.hand_over()
    pair.release()


def test_calls_on_a_queue_that_was_released_are_refused(by_hand: ByHand, module) -> None:
    pair = by_hand.hand_over()
    with module.attach(None, queues=[pair]) as kv:
        pair.release()
        with pytest.raises(RuntimeFault):
            kv.exist([b"key"])
    by_hand.store(b"still works")


# A process in the middle of a batch that its controller, dead, leaves open. It says so once
# the doorbell has been rung.
MID_BATCH = """
import ctypes, sys, threading
from xiokv.runtime import Emulator, load
def say_when_submitted(kv):
    doorbell = ctypes.c_uint32.from_address(kv.queues.pairs[0].record.sq_doorbell)
    while doorbell.value == 0:
        pass
    print("submitted", flush=True)
with Emulator() as emulator, load().attach(emulator, timeout=float(sys.argv[1])) as kv:
    emulator.kill()
    threading.Thread(target=say_when_submitted, args=(kv,), daemon=True).start()
    kv.exist([b"key"] * 1000)
"""

WHOLE = """
from xiokv.runtime import Emulator, load
with Emulator() as emulator, load().attach(emulator) as kv:
    print(kv.exist([b"key"] * 1000).status.tolist() == [3] * 1000)
"""


@pytest.fixture
def python(module) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that starts a Python program which loads the module under test."""

    def start(text: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", text, *arguments],
            env={**os.environ, "XIOKV_MODULE": str(module.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.fixture
def in_mid_batch(python) -> Callable[[float], subprocess.Popen[str]]:
    """Return a function that starts a process, which then waits for the end of a batch."""

    def start(timeout: float) -> subprocess.Popen[str]:
        process = python(MID_BATCH, str(timeout))
        assert process.stdout.readline() == "submitted\n"
        return process

    return start


def test_a_process_killed_in_mid_batch_blocks_no_later_one(in_mid_batch, python) -> None:
    killed = in_mid_batch(600)
    killed.kill()
    killed.communicate()
    assert python(WHOLE).communicate(timeout=60)[0] == "True\n"


def test_an_interrupt_in_mid_batch_ends_a_process_within_the_deadline(in_mid_batch) -> None:
    interrupted = in_mid_batch(2)
    interrupted.send_signal(signal.SIGINT)
    _, error = interrupted.communicate(timeout=60)
    assert "KeyboardInterrupt" in error
    assert interrupted.returncode == -signal.SIGINT


# A command is late, and goes on half a second after the second interrupt was raised.
TWICE = """
import ctypes, os, signal, threading, time
from xiokv.runtime import Emulator, load
def interrupt():
    doorbell = ctypes.c_uint32.from_address(kv.queues.pairs[0].record.sq_doorbell)
    while doorbell.value == 0:
        pass
    for _ in range(2):
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
with Emulator() as emulator, load().attach(emulator, timeout=60) as kv:
    emulator.fault("delay", amount=50_000_000, count=1)
    threading.Thread(target=interrupt).start()
    try:
        kv.exist([b"key"])
    except KeyboardInterrupt:
        print("raised", kv.queues.pairs[0].report["completed"])
    threading.Timer(0.5, emulator.clear_faults).start()
    print(kv.exist([b"key"] * 2).counts, kv.queues.pairs[0].report["completed"])
"""


def test_a_second_interrupt_is_raised_at_once_and_the_next_call_waits_for_the_batch(python) -> None:
    out, error = python(TWICE).communicate(timeout=60)
    assert (out, error) == ("raised 0\n{<Outcome.MISSING: 3>: 2} 3\n", "")
