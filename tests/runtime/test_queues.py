"""Queue pairs: sizes, first state, owners, and when their memory is given back."""

from __future__ import annotations

import ctypes
import logging

import numpy as np
import pytest

from xiokv.runtime import abi
from xiokv.runtime.controller import CreatedQueue, Rings
from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.errors import ArgumentFault, DeadQueueFault, RuntimeFault
from xiokv.runtime.queues import QueuePair

from .queue_fakes import MIB, Controller


def die(pair: QueuePair) -> None:
    pair.record.state = abi.QueueState.DEAD


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


class OneNumber(Controller):
    """A controller that gives the same number again at once."""

    def create_queue(self, rings: Rings) -> CreatedQueue:
        return CreatedQueue(1, self.bar.address, self.bar.address + 4)


def test_a_number_may_be_given_again_before_its_last_owner_is_done(driver, pointers) -> None:
    controller = OneNumber()
    pairs = [QueuePair.create(controller, driver, depth=8) for _ in range(2)]
    pairs[0].close()
    with pytest.raises(ArgumentFault, match="is owned by another"):
        QueuePair.from_pointers(**{**pointers, "sq_doorbell": controller.bar.address})
    pairs[1].close()


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
