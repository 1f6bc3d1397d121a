"""Queue pairs: sizes, first state, owners, and when their memory is given back."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import abi
from xiokv.runtime.controller import CreatedQueue, Limits, Rings
from xiokv.runtime.drivers.host import Stream
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.errors import ArgumentFault, DeadQueueFault, RuntimeFault
from xiokv.runtime.queue_sizes import POOL_MAX, Wish, list_pages, plan
from xiokv.runtime.queues import QueuePair, QueueSet

MIB = 1 << 20
LIMITS = Limits(
    key_max=16,
    value_max=32 * MIB,
    transfer_max=0,
    entries_max=65536,
    queues_max=4,
    page_bytes=4096,
)


class Controller:
    """A controller that takes notes, with limits and faults as the test wants them."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self.rings: dict[int, Rings] = {}
        self.deleted: list[int] = []
        self.refuses_to_delete = False
        self.refuses_to_create_after = limits.queues_max
        self.bar = HostMemory(4096)

    def limits(self, nsid: int) -> Limits:
        return self._limits

    def create_queue(self, rings: Rings) -> CreatedQueue:
        qid = len(self.rings) + 1
        if qid > self.refuses_to_create_after:
            raise RuntimeFault("no more queues")
        self.rings[qid] = rings
        return CreatedQueue(qid, self.bar.address + 8 * qid, self.bar.address + 8 * qid + 4)

    def delete_queue(self, qid: int) -> None:
        if self.refuses_to_delete:
            raise RuntimeFault("the controller does not answer")
        self.deleted.append(qid)


class Driver:
    """A driver that keeps a list of the memory in use, and of launches."""

    def __init__(self) -> None:
        self.memory: list[HostMemory] = []
        self.launches: list[tuple[abi.Batch, Any]] = []
        self.settled: list[Any] = []
        self.interrupted = False

    def allocate(self, size: int) -> HostMemory:
        memory = HostMemory(size)
        self.memory.append(memory)
        return memory

    @property
    def in_use(self) -> int:
        """Bytes that were allocated and not freed."""
        return sum(memory.view.nbytes for memory in self.memory)

    def stream(self) -> Stream:
        return Stream()

    def launch(self, kernel: str, batch: abi.Batch, stream: Any, after: Any) -> Launch:
        self.launches.append((batch, after))
        if self.interrupted:
            raise KeyboardInterrupt
        return Launch()

    def settle(self, stream: Any) -> None:
        self.settled.append(stream)


class Launch:
    """A launch that says whether it was waited for."""

    done = False

    def wait(self, timeout: float | None = None) -> bool:
        self.done = True
        return True


@pytest.fixture
def controller() -> Controller:
    return Controller()


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def pair(controller: Controller, driver: Driver) -> Iterator[QueuePair]:
    """Return a queue pair of depth 8 on a controller."""
    pair = QueuePair.create(controller, driver, depth=8)
    yield pair
    pair.confirm_deleted()


@pytest.fixture
def pointers() -> Iterator[dict[str, Any]]:
    """Return what something else would say of a queue pair of its own."""
    memory = HostMemory(3 * 4096)
    yield {
        "sq": memory.address,
        "cq": memory.address + 4096,
        "sq_doorbell": memory.address + 8192,
        "cq_doorbell": memory.address + 8196,
        "qid": 3,
        "sq_depth": 16,
        "cq_depth": 8,
        "tail": 5,
        "head": 6,
        "phase": 0,
        "nsid": 1,
        "limits": LIMITS,
    }
    memory.free()


@pytest.fixture
def adopted(pointers: dict[str, Any]) -> Iterator[QueuePair]:
    pair = QueuePair.from_pointers(**pointers)
    yield pair
    pair.confirm_deleted()


def die(pair: QueuePair) -> None:
    pair.record.state = abi.QueueState.DEAD


# Sizes.


@pytest.mark.parametrize(
    ("size", "pages"),
    [
        (1, 0),
        (4096, 0),
        (4097, 0),  # at worst one byte, then a page
        (4098, 1),  # at worst one byte, a page, and a byte
        (512 * 4096 + 1, 1),  # 512 entries fill a page that is the last
        (512 * 4096 + 2, 2),
        (1023 * 4096 + 1, 2),  # 511 and a link, then 512
        (1023 * 4096 + 2, 3),
        (32 * MIB, 17),
    ],
)
def test_a_slot_has_the_list_pages_of_the_largest_transfer(size: int, pages: int) -> None:
    assert list_pages(size) == pages


@pytest.mark.parametrize(
    ("wish", "limits", "said"),
    [
        (Wish(1, 8), {}, "sq_depth 1: 2 to 65536"),
        (Wish(65537, 8), {}, "sq_depth 65537: 2 to 65536"),
        (Wish(8, 1), {}, "cq_depth 1: 2 to 65536"),
        (Wish(1025, 8), {"entries_max": 1024}, r"2 to 1024 is allowed \(the controller's MQES"),
        (Wish(8, 1025), {"entries_max": 1024}, r"2 to 1024 is allowed \(the controller's MQES"),
        (Wish(8, 8, window=0), {}, "window 0: 1 to 65535"),
        (Wish(8, 8, window=65536), {}, "window 65536: 1 to 65535"),
        (Wish(8, 8, max_transfer=0), {}, "max_transfer 0"),
        (Wish(8, 8, max_transfer=MIB + 1), {"transfer_max": MIB}, "the controller's MDTS"),
        (Wish(8, 8), {"page_bytes": 8192}, "pages of 8192 bytes"),
    ],
)
def test_what_the_controller_does_not_allow_is_refused(wish: Wish, limits, said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        plan(wish, 1, replace(LIMITS, **limits))


@pytest.mark.parametrize("nsid", [0, 0xFFFFFFFF])
def test_a_namespace_that_no_command_may_name_is_refused(nsid: int) -> None:
    with pytest.raises(ArgumentFault, match=f"nsid {nsid}: 1 to 4294967294"):
        plan(Wish(8, 8), nsid, LIMITS)


@pytest.mark.parametrize(
    ("wish", "window"),
    [
        (Wish(1024, 1024), 1023),
        (Wish(65536, 65536), 1023),
        (Wish(64, 1024), 63),
        (Wish(1024, 2), 1),
        (Wish(64, 64, window=1000), 1000),
    ],
)
def test_the_window_is_1023_or_what_the_rings_hold(wish: Wish, window: int) -> None:
    assert plan(wish, 1, LIMITS).window == window


@pytest.mark.parametrize(
    ("limits", "asked", "transfer"),
    [
        ({}, None, 32 * MIB),
        ({"transfer_max": MIB}, None, MIB),
        ({"value_max": 100}, None, 4096),  # room for a List page
        ({}, 64 * MIB, 64 * MIB),
        ({}, 512, 512),
    ],
)
def test_the_largest_transfer_is_what_the_limits_allow(limits, asked, transfer: int) -> None:
    sizes = plan(Wish(1024, 1024, max_transfer=asked), 1, replace(LIMITS, **limits))
    assert sizes.max_transfer == transfer
    assert sizes.prp_pages == list_pages(transfer)


def test_the_pool_of_32_mib_values_is_68_kib_a_slot() -> None:
    assert plan(Wish(1024, 1024), 1, LIMITS).pool_bytes == 1023 * 17 * 4096


@pytest.mark.parametrize("window", [1023, 10_000, 65535])
def test_a_pool_that_nobody_asked_for_stays_within_its_bound(window: int) -> None:
    sizes = plan(Wish(65536, 65536, window), 1, replace(LIMITS, value_max=(1 << 32) - 1))
    assert POOL_MAX - window * 4096 < sizes.pool_bytes <= POOL_MAX
    assert list_pages(sizes.max_transfer) == sizes.prp_pages
    assert list_pages(sizes.max_transfer + 4096) > sizes.prp_pages


def test_sizes_beyond_32_bits_are_cut_to_what_a_command_carries() -> None:
    sizes = plan(Wish(8, 8), 1, replace(LIMITS, value_max=1 << 40, transfer_max=1 << 40))
    assert sizes.max_value == (1 << 32) - 1


# A queue pair that is created.


def test_the_controller_gets_zeroed_rings_on_page_boundaries(pair, controller) -> None:
    rings = controller.rings[pair.qid]
    assert (rings.sq_depth, rings.cq_depth) == (8, 8)
    for address, size in ((rings.sq_iova, 8 * 64), (rings.cq_iova, 8 * 16)):
        assert address % 4096 == 0
        assert ctypes.string_at(address, size) == bytes(size)
    assert (pair.record.sq, pair.record.cq) == (rings.sq_iova, rings.cq_iova)


def test_a_new_queue_stands_at_its_start(pair) -> None:
    assert pair.ring_state == {"tail": 0, "head": 0, "phase": 1}
    assert pair.state is abi.QueueState.READY
    assert set(pair.report.values()) == {0}


def test_every_slot_is_free_at_first(pair) -> None:
    ring = ctypes.string_at(pair.record.tables, pair.record.window * 2)
    assert np.frombuffer(ring, "<u2").tolist() == list(range(7))


def test_the_pool_takes_no_memory_until_it_is_used(controller, driver) -> None:
    pair = QueuePair.create(controller, driver, max_transfer=64 * MIB)
    assert pair.pool_bytes == 1023 * 33 * 4096
    pool = next(memory for memory in driver.memory if memory.view.nbytes == pair.pool_bytes)
    assert resident_pages(pool) == 0
    pair.close()


def resident_pages(memory: HostMemory) -> int:
    """Return how many pages of a mapping hold memory."""
    pages = -(-memory.view.nbytes // 4096)
    states = (ctypes.c_ubyte * pages)()
    libc = ctypes.CDLL(None)
    address, size = ctypes.c_void_p(memory.address), ctypes.c_size_t(memory.view.nbytes)
    assert libc.mincore(address, size, states) == 0
    return sum(state & 1 for state in states)


def test_close_deletes_the_queue_once_and_frees_its_memory(pair, controller, driver) -> None:
    assert driver.in_use > 0
    pair.close()
    pair.close()
    assert controller.deleted == [pair.qid]
    assert driver.in_use == 0
    assert pair.closed


def test_memory_is_freed_only_after_the_queue_is_deleted(pair, controller, driver) -> None:
    in_use = driver.in_use
    controller.refuses_to_delete = True
    with pytest.raises(RuntimeFault, match="does not answer"):
        pair.close()
    assert driver.in_use == in_use
    controller.refuses_to_delete = False
    pair.close()
    assert driver.in_use == 0


def test_a_dead_queue_keeps_what_its_commands_may_write(pair, controller) -> None:
    die(pair)
    kept = [bytearray(4)]
    pair.keep(kept)
    controller.refuses_to_delete = True
    with pytest.raises(RuntimeFault):
        pair.close()
    assert pair._kept == [kept]
    pair.confirm_deleted()
    assert pair._kept == []


def test_after_a_reset_the_memory_is_free_without_the_controller(pair, controller, driver) -> None:
    pair.confirm_deleted()
    assert controller.deleted == []
    assert driver.in_use == 0


def test_state_and_report_can_be_read_after_close(pair) -> None:
    pair.record.report.submitted = 9
    die(pair)
    pair.close()
    assert pair.report["submitted"] == 9
    assert pair.state is abi.QueueState.DEAD


def test_a_queue_that_the_controller_refuses_costs_no_memory(controller, driver) -> None:
    controller.refuses_to_create_after = 0
    with pytest.raises(RuntimeFault, match="no more queues"):
        QueuePair.create(controller, driver, depth=8)
    assert driver.in_use == 0


def test_a_created_queue_is_not_released(pair) -> None:
    with pytest.raises(RuntimeFault, match=r"created here: close\(\) deletes it"):
        pair.release()


# A queue pair that is taken over.


def test_a_queue_is_taken_over_where_it_stands(adopted, pointers) -> None:
    assert adopted.ring_state == {"tail": 5, "head": 6, "phase": 0}
    for name in ("sq", "cq", "sq_doorbell", "cq_doorbell", "qid", "sq_depth", "cq_depth"):
        assert getattr(adopted.record, name) == pointers[name]
    assert adopted.record.window == 7


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sq": 0}, "sq 0x0: an address that is a multiple of 64"),
        ({"sq": 0x1010}, "sq 0x1010: an address that is a multiple of 64"),
        ({"cq": 0x1008}, "cq 0x1008: an address that is a multiple of 16"),
        ({"sq_doorbell": 0x1002}, "sq_doorbell 0x1002"),
        ({"cq_doorbell": 1 << 64}, "cq_doorbell 0x10000000000000000"),
        ({"qid": 0}, "qid 0: 1 to 65535"),
        ({"qid": 65536}, "qid 65536: 1 to 65535"),
        ({"tail": 16}, "tail 16: 0 to 15"),
        ({"head": 8}, "head 8: 0 to 7"),
        ({"phase": 2}, "phase 2: 0 to 1"),
        ({"nsid": 0}, "nsid 0"),
        ({"iova": lambda a, n: a, "page_table": lambda a, n: [a]}, "give one of both"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else next(iter(value)),
)
def test_pointers_that_cannot_be_a_queues_are_refused(pointers, changes, said: str) -> None:
    with pytest.raises(ArgumentFault, match=said):
        QueuePair.from_pointers(**{**pointers, **changes})
    QueuePair.from_pointers(**pointers).close()


def test_release_hands_the_state_back_and_a_second_time_the_same(adopted) -> None:
    adopted.record.sq_tail = 9
    expected = {"tail": 9, "head": 6, "phase": 0}
    assert adopted.release() == expected
    assert adopted.release() == expected


def test_a_released_queue_can_be_taken_over_again(pointers) -> None:
    state = QueuePair.from_pointers(**pointers).release()
    again = QueuePair.from_pointers(**{**pointers, **state})
    assert again.release() == state


@pytest.mark.parametrize("shared", ["sq", "sq_doorbell"])
def test_a_second_owner_is_refused(adopted, pointers, shared: str) -> None:
    other = {name: pointers[name] + 64 for name in ("sq", "sq_doorbell")}
    with pytest.raises(ArgumentFault, match=r"queue 3 .* is owned by another"):
        QueuePair.from_pointers(**{**pointers, **other, shared: pointers[shared]})


def test_a_queue_created_here_cannot_be_taken_over(pair, pointers) -> None:
    queue = pair.record
    mine = {"sq": queue.sq, "cq": queue.cq, "sq_doorbell": queue.sq_doorbell}
    with pytest.raises(ArgumentFault, match="is owned by another"):
        QueuePair.from_pointers(**{**pointers, **mine})


def test_a_dead_queue_is_not_handed_back_until_it_is_known_to_be_gone(
    adopted, driver, caplog: pytest.LogCaptureFixture
) -> None:
    adopted.prepare(driver)
    in_use = driver.in_use
    die(adopted)
    with pytest.raises(DeadQueueFault, match="queue 3 is dead"):
        adopted.release()
    with caplog.at_level(logging.WARNING, "xiokv"):
        adopted.close()
    assert "queue 3 is dead" in caplog.text
    assert driver.in_use == in_use > 0
    adopted.confirm_deleted()
    assert driver.in_use == 0


# How its memory is reached.


def test_the_pools_iova_is_its_address_unless_something_translates(adopted, driver) -> None:
    adopted.prepare(driver)
    assert adopted.record.prp_iova == adopted.record.prp_pool != 0


def test_a_function_gives_the_pools_iova(pointers, driver) -> None:
    pair = QueuePair.from_pointers(**pointers, iova=lambda address, size: address + (1 << 40))
    pair.prepare(driver)
    assert pair.record.prp_iova == pair.record.prp_pool + (1 << 40)
    pair.close()


def test_a_page_table_gives_the_pools_iova_if_its_pages_follow_one_another(
    pointers, driver
) -> None:
    def pages(address: int, size: int) -> list[int]:
        return [(1 << 40) + i * 4096 for i in range(size // 4096)]

    pair = QueuePair.from_pointers(**pointers, page_table=pages)
    pair.prepare(driver)
    assert pair.record.prp_iova == 1 << 40
    pair.close()


def test_a_pool_whose_pages_are_scattered_is_refused(pointers, driver) -> None:
    def pages(address: int, size: int) -> list[int]:
        return [(1 << 40) + i * 8192 for i in range(size // 4096)]

    pair = QueuePair.from_pointers(**pointers, page_table=pages)
    with pytest.raises(RuntimeFault, match="not contiguous for the controller"):
        pair.prepare(driver)
    pair.close()
    assert driver.in_use == 0


def test_without_lists_there_is_no_pool(pointers, driver) -> None:
    pair = QueuePair.from_pointers(**pointers, max_transfer=4096)
    pair.prepare(driver)
    assert (pair.pool_bytes, pair.record.prp_pool) == (0, 0)
    pair.close()


# Sets.


def test_a_set_holds_its_queues_side_by_side(controller, driver) -> None:
    with QueueSet.create(controller, driver, 3, depth=8) as queues:
        queues.launch("kernel", abi.Batch())
        (batch, _) = driver.launches[0]
        assert batch.queue_count == 3
        found = (abi.Queue * 3).from_address(batch.queues)
        assert [queue.qid for queue in found] == [1, 2, 3]
        assert [queue.cq_depth for queue in found] == [8] * 3
        found[1].state = abi.QueueState.DEAD
        assert [pair.state for pair in queues][1] is abi.QueueState.DEAD
    assert controller.deleted == [1, 2, 3]
    assert driver.in_use == 0


def test_each_batch_of_a_set_follows_the_one_before(controller, driver) -> None:
    with QueueSet.create(controller, driver, 1, depth=8) as queues:
        launches = [queues.launch("kernel", abi.Batch()) for _ in range(3)]
    assert [after for _, after in driver.launches] == [None, *launches[:2]]


def test_a_set_waits_for_its_last_batch_before_it_closes(controller, driver) -> None:
    queues = QueueSet.create(controller, driver, 1, depth=8)
    launch = queues.launch("kernel", abi.Batch())
    assert not launch.done
    queues.close()
    assert launch.done


def test_queues_taken_over_can_make_a_set_and_are_given_back(adopted, driver) -> None:
    with QueueSet(driver, [adopted]) as queues:
        queues.launch("kernel", abi.Batch())
        abi.Queue.from_address(driver.launches[0][0].queues).sq_tail = 11
    assert adopted.release()["tail"] == 11
    with pytest.raises(RuntimeFault, match="queue 3 is closed"):
        queues.launch("kernel", abi.Batch())


def test_an_interrupted_launch_is_waited_for_before_anything_else(controller, driver) -> None:
    queues = QueueSet.create(controller, driver, 1, depth=8)
    driver.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        queues.launch("kernel", abi.Batch(), "their stream")
    assert driver.settled == []
    driver.interrupted = False
    queues.launch("kernel", abi.Batch())
    assert driver.settled == ["their stream"]
    driver.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        queues.launch("kernel", abi.Batch(), "another")
    queues.close()
    assert driver.settled == ["their stream", "another"]


@pytest.mark.parametrize("queues", [0, 5])
def test_a_set_has_as_many_queues_as_the_controller_gives(controller, driver, queues: int) -> None:
    with pytest.raises(ArgumentFault, match=f"queues {queues}: 1 to 4"):
        QueueSet.create(controller, driver, queues)


def test_a_set_of_closed_queues_is_refused(pair, driver) -> None:
    pair.close()
    with pytest.raises(ArgumentFault, match="is closed"):
        QueueSet(driver, [pair])


def test_a_set_that_cannot_be_completed_leaves_nothing(controller, driver) -> None:
    controller.refuses_to_create_after = 2
    with pytest.raises(RuntimeFault, match="no more queues"):
        QueueSet.create(controller, driver, 3, depth=8)
    assert controller.deleted == [1, 2]
    assert driver.in_use == 0


def test_a_set_that_cannot_be_closed_can_be_closed_later(controller, driver) -> None:
    queues = QueueSet.create(controller, driver, 2, depth=8)
    controller.refuses_to_delete = True
    with pytest.raises(RuntimeFault, match="does not answer"):
        queues.close()
    controller.refuses_to_delete = False
    queues.close()
    assert sorted(controller.deleted) == [1, 2]
    assert driver.in_use == 0
