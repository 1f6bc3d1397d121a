"""Sets of queue pairs: side by side in memory, one batch after the other, all closed."""

from __future__ import annotations

import pytest

from xiokv.runtime import abi
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.queues import QueueSet


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
