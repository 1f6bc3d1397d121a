"""Batches follow each other in whatever stream they are, and own their memory meanwhile."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import submit
from xiokv.runtime.abi import Outcome
from xiokv.runtime.drivers.host import HostDriver, HostLaunch, Stream
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.module import Module
from xiokv.runtime.results import BatchFault
from xiokv.runtime.slabs import FIRST_KEYS, SLABS_MAX


class Gate:
    """Work in a stream that holds what comes after it until it is opened."""

    def __init__(self, stream: Stream) -> None:
        self._event = threading.Event()
        stream.submit(self._event.wait)

    def open(self) -> None:
        self._event.set()


def test_a_stream_makes_the_call_return_at_once(attach) -> None:
    controller, kv = attach()
    with Stream() as stream:
        gate = Gate(stream)
        result = kv.exist([b"a"], stream=stream)
        assert not result.done
        assert result.wait(timeout=0.01) is False
        assert controller.counters().commands == 0
        gate.open()
        assert result.status.tolist() == [Outcome.MISSING]
        assert result.done


@pytest.mark.parametrize("timeout", [float("inf"), 1e300, np.float32(60), 60])
def test_a_wait_may_be_as_long_as_a_number_can_say(attach, timeout: float) -> None:
    _, kv = attach()
    with Stream() as stream:
        gate = Gate(stream)
        result = kv.exist([b"a"], stream=stream)
        opener = threading.Timer(0.02, gate.open)
        opener.start()
        assert result.wait(timeout) is True
        opener.join()
        assert result.status.tolist() == [Outcome.MISSING]


@pytest.mark.parametrize("timeout", ["1", float("nan"), True, [1]])
def test_a_wait_for_no_number_is_refused_and_changes_nothing(attach, timeout: Any) -> None:
    _, kv = attach()
    with Stream() as stream:
        gate = Gate(stream)
        result = kv.exist([b"a"], stream=stream)
        with pytest.raises(ArgumentFault, match=r"timeout is .*; allowed is a number"):
            result.wait(timeout)
        assert not result.done
        gate.open()
        assert result.status.tolist() == [Outcome.MISSING]


def test_a_wait_that_fails_before_the_end_leaves_the_batch_its_memory(attach, monkeypatch) -> None:
    _, kv = attach()

    def fail(*arguments: Any) -> bool:
        raise OSError("no clock")

    with Stream() as stream:
        gate = Gate(stream)
        result = kv.exist([b"a"], stream=stream)
        with monkeypatch.context() as patch:
            patch.setattr(HostLaunch, "wait", fail)
            with pytest.raises(OSError, match="no clock"):
                result.wait()
        gate.open()
        assert result.status.tolist() == [Outcome.MISSING]


def test_work_before_and_after_in_a_stream_stays_ordered(attach) -> None:
    _, kv = attach()
    values = np.zeros(64, np.uint8)
    out = np.zeros(64, np.uint8)
    with Stream() as stream:
        gate = Gate(stream)
        stream.submit(lambda: values.fill(7))
        kv.store([b"a"], values, stream=stream)
        kv.retrieve([b"a"], out, stream=stream)
        seen = stream.submit(out.copy)
        gate.open()
        assert seen.result().tolist() == [7] * 64


@pytest.mark.parametrize("streams", [1, 2])
def test_batches_back_to_back_keep_their_order(attach, streams: int) -> None:
    _, kv = attach(queues=2, depth=16)
    one, other = Stream(), Stream()
    with one, other:
        for round_ in range(20):
            value = np.full((300, 8), round_, np.uint8)
            out = np.zeros_like(value)
            keys = [b"%d" % i for i in range(300)]
            kv.store(keys, value, stream=one)
            result = kv.retrieve(keys, out, stream=other if streams == 2 else one)
            assert result.counts == {Outcome.OK: 300}
            assert (out == value).all()


def test_a_call_without_a_stream_follows_one_that_has_one(attach) -> None:
    _, kv = attach()
    with Stream() as stream:
        gate = Gate(stream)
        stored = kv.store([b"a"], b"1234", stream=stream)
        opener = threading.Timer(0.05, gate.open)
        opener.start()
        assert kv.exist([b"a"]).status.tolist() == [Outcome.OK]
        assert stored.done


@pytest.mark.parametrize("stream", [0, 5, "stream", Stream, object()])
def test_what_is_no_stream_is_refused_and_the_kv_stays_usable(attach, stream: Any) -> None:
    _, kv = attach()
    for _ in range(SLABS_MAX + 1):
        with pytest.raises(ArgumentFault, match=r"takes a Stream of xiokv\.runtime"):
            kv.exist([b"a"], stream=stream)
    assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]


def test_a_batch_that_its_stream_refuses_raises_what_kept_it(attach) -> None:
    controller, kv = attach()

    def fail() -> None:
        raise ValueError("no disk")

    stream = Stream()
    stream.submit(fail)
    result = kv.exist([b"a"], stream=stream)
    for ask in (result.wait, lambda: result.status, result.raise_for_status):
        with pytest.raises(RuntimeFault, match="no disk"):
            ask()
    with pytest.raises(ValueError, match="no disk"):
        stream.close()
    assert controller.counters().commands == 0
    assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]


def test_threads_may_share_a_kv(attach) -> None:
    _, kv = attach(queues=2)
    wrong: list[int] = []

    def work(number: int) -> None:
        keys = [b"%d-%d" % (number, i) for i in range(200)]
        value = np.full((200, 16), number, np.uint8)
        for _ in range(10):
            out = np.zeros_like(value)
            kv.store(keys, value).raise_for_status()
            kv.retrieve(keys, out).raise_for_status()
            wrong.extend([number] * int((out != value).any()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_more_batches_than_there_is_memory_for_wait_their_turn(attach) -> None:
    _, kv = attach()
    with Stream() as stream:
        results = [kv.exist([b"%d" % i], stream=stream) for i in range(3 * SLABS_MAX)]
        assert [result.status[0] for result in results] == [Outcome.MISSING] * 3 * SLABS_MAX


def test_memory_for_a_larger_batch_is_made_once_nothing_runs(attach) -> None:
    _, kv = attach()
    with Stream() as stream:
        small = kv.exist([b"a"], stream=stream)
        large = kv.exist(np.zeros((FIRST_KEYS + 1, 16), np.uint8), stream=stream)
        assert small.done
        assert large.counts == {Outcome.MISSING: FIRST_KEYS + 1}


def test_nothing_is_allocated_for_batches_of_a_size_seen_before(attach, monkeypatch) -> None:
    _, kv = attach()
    keys = np.zeros((FIRST_KEYS, 16), np.uint8)
    out = bytearray(4 * FIRST_KEYS)

    def refuse(self: HostDriver, size: int, *place: Any) -> Any:
        raise AssertionError(f"{size} bytes allocated")

    monkeypatch.setattr(HostDriver, "allocate", refuse)
    kv.retrieve(keys, out, sizes=np.full(FIRST_KEYS, 4), offsets=np.arange(FIRST_KEYS) * 4)
    list(kv.list())


def test_buffers_stay_alive_while_the_batch_runs_and_no_longer(attach) -> None:
    _, kv = attach()
    with Stream() as stream:
        gate = Gate(stream)
        out = np.zeros(64, np.uint8)
        alive = weakref.ref(out)
        result = kv.retrieve([b"a"], out, stream=stream)
        del out
        gc.collect()
        assert alive() is not None
        gate.open()
        result.wait()
        gc.collect()
        assert alive() is None


def test_buffers_stay_alive_although_all_of_it_was_dropped(module: Module) -> None:
    with Emulator() as controller, Stream() as stream:
        gate = Gate(stream)
        kv = module.attach(controller)
        pair = kv.queues.pairs[0]
        out = np.zeros(64, np.uint8)
        alive = weakref.ref(out)
        kv.retrieve([b"a"], out, stream=stream)
        del out, kv
        gc.collect()
        assert alive() is not None
        gate.open()
        stream.synchronize()
        pair.close()


def test_buffers_of_a_dead_queue_stay_alive_until_it_is_gone(attach) -> None:
    controller, kv = attach(timeout=0.1)
    controller.fault("drop", key=b"a")
    out = np.zeros(64, np.uint8)
    alive = weakref.ref(out)
    kv.retrieve([b"a"], out)
    del out
    gc.collect()
    assert alive() is not None
    kv.reset()
    gc.collect()
    assert alive() is None


class Idle:
    """A launch that ended without having run anything."""

    done = True

    def wait(self, timeout: float | None = None) -> bool:
        return True


def test_a_kernel_that_never_ran_reports_no_success(attach, monkeypatch) -> None:
    _, kv = attach()
    monkeypatch.setattr(HostDriver, "launch", lambda *arguments: Idle())
    result = kv.store([b"a", b"b"], b"12345678")
    assert result.status.tolist() == [Outcome.ERROR] * 2
    assert result.nvme_status.tolist() == [(-1, -1, -1)] * 2
    with pytest.raises(BatchFault, match="no kernel got to it"):
        result.raise_for_status()


def test_a_launch_that_fails_leaves_the_kv_usable(attach, monkeypatch) -> None:
    _, kv = attach()

    def fail(*arguments: Any) -> Any:
        raise RuntimeFault("no device")

    with monkeypatch.context() as patch:
        patch.setattr(HostDriver, "launch", fail)
        for _ in range(SLABS_MAX + 1):
            with pytest.raises(RuntimeFault, match="no device"):
                kv.exist([b"a"])
    assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]


def test_close_waits_deletes_the_queues_and_is_final(module: Module) -> None:
    with Emulator(queues=2) as controller, Stream() as stream:
        kv = module.attach(controller, queues=2)
        result = kv.exist([b"%d" % i for i in range(1000)], stream=stream)
        kv.close()
        assert result.done
        assert result.counts == {Outcome.MISSING: 1000}
        kv.close()
        for call in (lambda: kv.exist([b"a"]), kv.reset):
            with pytest.raises(RuntimeFault, match="closed; attach again"):
                call()
        with module.attach(controller, queues=2) as again:
            again.exist([b"a"]).raise_for_status()


def test_quiesce_waits_for_all_batches(attach) -> None:
    _, kv = attach()
    with Stream() as stream:
        results = [kv.exist([b"a"], stream=stream) for _ in range(5)]
        kv.quiesce()
        assert [result.done for result in results] == [True] * 5


class Stubborn(Emulator):
    """A controller that deletes no queue."""

    def delete_queue(self, qid: int) -> None:
        raise RuntimeFault(f"queue {qid} stays")


def test_a_failure_to_close_does_not_hide_what_the_block_raised(module: Module, caplog) -> None:
    with Stubborn() as controller:
        kv = module.attach(controller)
        with pytest.raises(KeyError, match="the block's own"), kv:
            raise KeyError("the block's own")
        assert "queue 1 stays" in caplog.text
        kv.confirm_deleted()


def test_a_failure_to_close_is_raised_and_may_be_mended(module: Module) -> None:
    with Stubborn() as controller:
        kv = module.attach(controller)
        for _ in range(2):
            with pytest.raises(RuntimeFault, match="queue 1 stays"):
                kv.close()
        kv.confirm_deleted()
        kv.close()


KILLED = """
from xiokv.runtime import Emulator, Stream, load
with Emulator() as controller, Stream() as stream, load().attach(controller, queues=2) as kv:
    controller.fault("delay", amount=3_000_000)
    result = kv.exist([b"%d" % i for i in range(1000)], stream=stream)
    while not (controller.counters().commands or result.done):
        pass
    print("in mid-batch", flush=True)
"""


@pytest.mark.slow
def test_a_killed_process_blocks_no_later_one(attach) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "in mid-batch\n"
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    _, kv = attach()
    assert kv.exist([b"a"]).status.tolist() == [Outcome.MISSING]


def test_a_batch_that_an_interrupt_kept_from_being_noted_is_waited_for(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who replaces the queues frees their memory next."""

    class Interrupted(submit.Run):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            raise KeyboardInterrupt

    with Emulator() as controller, module.attach(controller) as kv:
        controller.fault("delay", amount=300_000)
        with monkeypatch.context() as patch:
            patch.setattr(submit, "Run", Interrupted)
            with pytest.raises(KeyboardInterrupt):
                kv.exist([b"key"])
        assert not kv.queues._last.done
        kv._submitter.drain()
        assert kv.queues._last.done
