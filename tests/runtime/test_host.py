"""The host driver: memory that stays, launches in order, failures that are heard of."""

from __future__ import annotations

import gc
import logging
import signal
import threading
import weakref
from dataclasses import dataclass

import pytest

from xiokv.runtime import abi
from xiokv.runtime.drivers.host import HostDriver, HostLaunch, Stream
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.errors import RuntimeFault

MIB = 1 << 20

# Kernels that leave a note (thread, place in the order of all notes) a queue. `meet`
# waits until every queue has come, `hold` until the stop flag is set.
KERNELS = """
#include <unistd.h>
#include "xiokv/kv_abi.h"
namespace {
uint64_t order;
uint32_t *come(const xiokv_batch *batch) {
  uint32_t *count = &reinterpret_cast<xiokv_batch_state *>(batch->state)->exited;
  __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
  return count;
}
}
extern "C" {
void note(const xiokv_batch *batch, uint32_t number) {
  uint64_t *notes = reinterpret_cast<uint64_t *>(batch->results) + 2 * number;
  notes[1] = __atomic_add_fetch(&order, 1, __ATOMIC_SEQ_CST);
  notes[0] = gettid();
}
void meet(const xiokv_batch *batch, uint32_t number) {
  uint32_t *count = come(batch);
  while (__atomic_load_n(count, __ATOMIC_SEQ_CST) != batch->queue_count)
    usleep(10);
  note(batch, number);
}
void meet_some(const xiokv_batch *batch, uint32_t number) {
  if (number < batch->count) {
    uint32_t *count = come(batch);
    while (__atomic_load_n(count, __ATOMIC_SEQ_CST) != batch->count)
      usleep(10);
  }
  note(batch, number);
}
void hold(const xiokv_batch *batch, uint32_t number) {
  come(batch);
  uint32_t *stop = &reinterpret_cast<xiokv_stop *>(batch->stop)->flag;
  while (__atomic_load_n(stop, __ATOMIC_SEQ_CST) == 0)
    usleep(10);
  note(batch, number);
}
}
"""


@pytest.fixture(scope="module")
def driver(run_gxx) -> HostDriver:
    return HostDriver(run_gxx(KERNELS, "-shared", "-fPIC"))


@dataclass
class Work:
    """A batch for the kernels above, and the memory that it points to."""

    driver: HostDriver
    batch: abi.Batch
    memory: HostMemory
    stream: Stream

    def launch(self, kernel: str, stream: Stream | None = None, after=None) -> HostLaunch:
        return self.driver.launch(kernel, self.batch, stream or self.stream, after)

    @property
    def come(self) -> int:
        return abi.BatchState.from_buffer(self.memory.view).exited

    @property
    def notes(self) -> list[tuple[int, int]]:
        """(thread, place in the order) of every queue; zeros where none was left."""
        words = self.memory.view[64 : 64 + self.batch.queue_count * 16].view("u8")
        return [(int(words[i]), int(words[i + 1])) for i in range(0, len(words), 2)]

    def stop(self) -> None:
        abi.Stop.from_buffer(self.memory.view, 32).flag = 1


def work(driver: HostDriver, queues: int = 1) -> Work:
    memory = driver.allocate(64 + queues * 16)
    at = memory.address
    batch = abi.Batch(state=at, stop=at + 32, results=at + 64, queue_count=queues)
    return Work(driver, batch, memory, driver.stream())


# Launches.


@pytest.mark.parametrize(
    ("seconds", "ticks"),
    [(0, 0), (5.0, 5_000_000_000), (1e-10, 1), (float("inf"), (1 << 63) - 1)],
)
def test_a_tick_is_a_nanosecond(driver, seconds: float, ticks: int) -> None:
    assert driver.ticks(seconds) == ticks


def test_the_calling_thread_stays_free(driver) -> None:
    task = work(driver)
    launch = task.launch("hold")
    assert not launch.done
    task.stop()
    assert launch.wait() is True
    assert task.notes[0][0] != threading.get_native_id()


def test_every_queue_has_a_thread_of_its_own_at_the_same_time(driver) -> None:
    task = work(driver, queues=5)
    assert task.launch("meet").wait()
    threads = {thread for thread, _ in task.notes}
    assert len(threads) == 5
    assert threading.get_native_id() not in threads


def test_threads_are_used_again(driver) -> None:
    task = work(driver, queues=3)
    task.launch("meet").wait()
    before = {thread for thread, _ in task.notes}
    for _ in range(10):
        abi.BatchState.from_buffer(task.memory.view).exited = 0
        task.launch("meet").wait()
        assert {thread for thread, _ in task.notes} == before


def test_a_launch_that_runs_is_not_done(driver, wait_until) -> None:
    task = work(driver, queues=2)
    launch = task.launch("hold")
    wait_until(lambda: task.come == 2)
    assert not launch.done
    assert launch.wait(timeout=0) is False
    task.stop()
    assert launch.wait() is True


@pytest.mark.parametrize("queues", [1, 2])
def test_a_launch_starts_after_the_one_it_is_told_to_follow(
    driver, wait_until, queues: int
) -> None:
    first, second = work(driver, queues=2), work(driver, queues=queues)
    held = first.launch("hold")
    wait_until(lambda: first.come == 2)
    launch = second.launch("note", after=held)
    assert launch.wait(timeout=0.02) is False
    first.stop()
    launch.wait()
    assert held.done
    assert min(place for _, place in second.notes) > max(place for _, place in first.notes)


def test_the_batch_may_be_changed_once_it_is_launched(driver, wait_until) -> None:
    task = work(driver, queues=2)
    launch = task.launch("hold")
    task.batch.results = task.batch.stop = 0
    wait_until(lambda: task.come == 2)
    task.stop()
    launch.wait()
    assert all(place for _, place in task.notes)


class Kept:
    """Something that a caller hangs on its batch."""


def wait_and_be_interrupted(task: Work) -> None:
    """Launch a kernel that does not end, and interrupt the wait for it."""
    launch = task.launch("hold")
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.02, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        launch.wait()


@pytest.mark.parametrize("queues", [1, 2])
def test_an_interrupt_while_waiting_frees_nothing_that_is_in_use(
    driver, wait_until, queues: int
) -> None:
    task = work(driver, queues)
    task.batch.kept = Kept()
    kept = weakref.ref(task.batch.kept)
    wait_and_be_interrupted(task)
    task.batch = abi.Batch()
    gc.collect()
    assert kept() is not None
    task.stop()
    wait_until(lambda: task.launch("note").wait() and kept() is None)


def test_a_kernel_that_the_module_lacks_is_named(driver) -> None:
    with pytest.raises(RuntimeFault, match="no kernel absent"):
        work(driver).launch("absent")


def test_symbols_that_the_module_lacks_are_listed(driver) -> None:
    assert driver.missing(["note", "absent", "hold", "gone"]) == ["absent", "gone"]


# Streams.


def test_a_stream_keeps_its_order(driver) -> None:
    tasks = [work(driver, queues) for queues in (1, 2, 1)]
    seen: list[int] = []
    with Stream() as stream:
        for task in tasks:
            task.launch("note", stream)
            stream.submit(lambda task=task: seen.append(max(p for _, p in task.notes)))
    assert len(seen) == 3
    assert 0 < seen[0] < seen[1] < seen[2]


def test_work_of_a_stream_returns_its_value() -> None:
    with Stream() as stream:
        assert stream.submit(lambda: 7).result() == 7


def fail() -> None:
    raise ValueError("no disk")


def test_after_a_failure_nothing_later_runs_until_it_was_heard_of(driver) -> None:
    task = work(driver)
    with Stream() as stream:
        stream.submit(fail)
        skipped = task.launch("note", stream)
        with pytest.raises(RuntimeFault, match=r"earlier work in its stream failed.*no disk"):
            skipped.wait()
        assert task.notes == [(0, 0)]
        with pytest.raises(ValueError, match="no disk"):
            stream.synchronize()
        assert task.launch("note", stream).wait()


def test_settling_waits_for_all_work_and_takes_no_failure_away(driver, wait_until) -> None:
    task = work(driver)
    launch = task.launch("hold")
    failed = task.stream.submit(fail)
    threading.Timer(0.02, task.stop).start()
    driver.settle(task.stream)
    assert launch.done
    assert failed.done()
    with pytest.raises(ValueError, match="no disk"):
        task.stream.close()
    driver.settle(task.stream)


def test_close_raises_a_failure_once() -> None:
    stream = Stream()
    stream.submit(fail)
    with pytest.raises(ValueError, match="no disk"):
        stream.close()
    stream.close()


def fail_within_and_beside_a_stream() -> None:
    with Stream() as stream:
        stream.submit(fail)
        raise KeyError


def test_a_failure_of_the_block_goes_before_that_of_its_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(KeyError):
        fail_within_and_beside_a_stream()
    assert "no disk" in caplog.text


def test_a_failure_that_nobody_waited_for_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    stream = Stream()
    with pytest.raises(ValueError, match="no disk"):
        stream.submit(fail).result()
    with caplog.at_level(logging.ERROR, "xiokv"):
        del stream
        gc.collect()
    assert "nobody waited for it: ValueError('no disk')" in caplog.text


def test_a_closed_stream_takes_no_work() -> None:
    stream = Stream()
    stream.close()
    with pytest.raises(RuntimeFault, match="closed"):
        stream.submit(fail)


def test_a_failed_launch_ends_after_the_one_it_was_to_follow(driver) -> None:
    held = work(driver)
    running = held.launch("hold")
    stream = Stream()
    stream.submit(fail)
    failed = work(driver).launch("note", stream, after=running)
    assert failed.wait(timeout=0.02) is False
    held.stop()
    with pytest.raises(RuntimeFault, match="not run"):
        failed.wait()
    assert running.done
    with pytest.raises(ValueError, match="no disk"):
        stream.close()


def test_what_follows_a_failed_launch_runs_all_the_same(driver) -> None:
    task = work(driver)
    stream = Stream()
    stream.submit(fail)
    failed = work(driver).launch("note", stream)
    assert task.launch("note", after=failed).wait()
    assert task.notes[0][1] > 0
    with pytest.raises(ValueError, match="no disk"):
        stream.close()
