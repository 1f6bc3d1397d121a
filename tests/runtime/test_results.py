"""A result says of every key what became of it, and raises for those that failed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xiokv.generated.nvme_kv import Status, decode_completion
from xiokv.runtime.abi import NO_STATUS, Outcome
from xiokv.runtime.keys import pack_keys
from xiokv.runtime.operation import Operation
from xiokv.runtime.results import RECORD, BatchFault, Result

OK = (0, 0, Outcome.OK, 0)
TRUNCATED = (5000, 0, Outcome.TRUNCATED, 0)
MISSING = (0, 0x87, Outcome.MISSING, 0)
EXISTS = (0, 0x89, Outcome.EXISTS, 0)
ERROR = (0, 0x4000 | 0x100 | 0x88, Outcome.ERROR, 0)
TIMEOUT = (0, NO_STATUS, Outcome.TIMEOUT, 0)
CANCELLED = (0, NO_STATUS, Outcome.CANCELLED, 0)
NEVER = (0, 0, Outcome.NONE, 0)


class Ended:
    """A batch that has ended with given records."""

    done = True

    def __init__(self, records: Any, memory_in_use: bool = False) -> None:
        self._records = records
        self.memory_in_use = memory_in_use

    def wait(self, timeout: float | None = None) -> bool:
        return True

    def cancel(self) -> None:
        raise AssertionError("nothing to cancel")

    def records(self) -> Any:
        return self._records


class Running(Ended):
    done = False

    def records(self) -> Any:
        raise AssertionError("asked a running batch")


def result_of(
    *records: Any, command: Operation = Operation.RETRIEVE, memory_in_use: bool = False
) -> Result:
    keys = pack_keys([b"key%d" % i for i in range(len(records))], None, 16)
    return Result(command, keys, Ended(np.array(list(records), RECORD), memory_in_use))


def test_status_is_an_outcome_a_key() -> None:
    result = result_of(OK, TRUNCATED, MISSING, EXISTS, ERROR, TIMEOUT, CANCELLED)
    assert list(map(Outcome, result.status)) == list(Outcome)[1:]


def test_a_key_that_no_kernel_got_to_is_an_error() -> None:
    result = result_of(OK, NEVER)
    assert result.status.tolist() == [Outcome.OK, Outcome.ERROR]
    with pytest.raises(BatchFault, match="no kernel got to it"):
        result.raise_for_status()


def test_value_size_is_the_whole_size() -> None:
    assert result_of(TRUNCATED, MISSING).value_size.tolist() == [5000, 0]


@pytest.mark.parametrize("status", [0x0000, 0x0087, 0x0187, 0x4002, 0x7FFF, 0x2701])
def test_nvme_status_is_what_came(status: int) -> None:
    came = decode_completion(bytes(14) + (status << 1).to_bytes(2, "little"))
    seen = result_of((0, status, Outcome.ERROR, 0)).nvme_status[0]
    assert (seen["sct"], seen["sc"], seen["dnr"]) == (came.sct, came.sc, came.dnr)


@pytest.mark.parametrize("record", [TIMEOUT, CANCELLED, NEVER])
def test_nvme_status_is_minus_one_without_a_completion(record: Any) -> None:
    assert result_of(OK, record).nvme_status.tolist() == [(0, 0, 0), (-1, -1, -1)]


FAILS = {
    Operation.STORE: {Outcome.ERROR, Outcome.TIMEOUT, Outcome.CANCELLED},
    Operation.EXIST: {Outcome.ERROR, Outcome.TIMEOUT, Outcome.CANCELLED},
    Operation.DELETE: {Outcome.ERROR, Outcome.TIMEOUT, Outcome.CANCELLED},
    Operation.RETRIEVE: {
        Outcome.ERROR,
        Outcome.TIMEOUT,
        Outcome.CANCELLED,
        Outcome.MISSING,
        Outcome.TRUNCATED,
    },
}


@pytest.mark.parametrize("record", [OK, TRUNCATED, MISSING, EXISTS, ERROR, TIMEOUT, CANCELLED])
@pytest.mark.parametrize("command", FAILS)
def test_only_what_failed_raises(command: Operation, record: Any) -> None:
    result = result_of(OK, record, command=command)
    if record[2] in FAILS[command]:
        with pytest.raises(BatchFault) as fault:
            result.raise_for_status()
        assert fault.value.result is result
    else:
        result.raise_for_status()


def test_the_message_names_the_first_keys_and_their_status() -> None:
    result = result_of(OK, MISSING, ERROR, TRUNCATED, *[MISSING] * 10)
    with pytest.raises(BatchFault) as fault:
        result.raise_for_status()
    lines = str(fault.value).splitlines()
    assert lines[0] == ("retrieve: 13 of 14 keys failed (1 OK, 1 TRUNCATED, 11 MISSING, 1 ERROR)")
    assert lines[1] == (
        f"  key 1 ({b'key1'.hex()}): MISSING,"
        f" {Status.KEY_DOES_NOT_EXIST.name} (SCT 0h, SC 87h, DNR 0)"
    )
    assert "ERROR, UNRECOVERED_ERROR (SCT 1h, SC 88h, DNR 1)" in lines[2]
    assert lines[3].endswith("TRUNCATED, its value has 5000 bytes")
    assert lines[-1] == "  and 8 more"


def test_a_size_that_was_not_believed_is_said() -> None:
    with pytest.raises(BatchFault, match="with a size above the namespace"):
        result_of((0, 0, Outcome.ERROR, 0)).raise_for_status()


def test_memory_still_in_use_is_said() -> None:
    result = result_of(TIMEOUT, memory_in_use=True)
    assert result.buffer_may_be_written
    with pytest.raises(BatchFault, match="may still touch the buffer"):
        result.raise_for_status()


def test_repr_counts_and_names_what_failed() -> None:
    quiet = result_of(OK, MISSING, command=Operation.EXIST)
    assert repr(quiet) == "<Result: exist of 2 keys: 1 OK, 1 MISSING>"
    assert "key 1 (6b657931): TIMEOUT" in repr(result_of(OK, TIMEOUT))


def test_repr_of_a_running_batch_does_not_wait() -> None:
    result = Result(Operation.STORE, pack_keys([b"a"], None, 16), Running(None))
    assert repr(result) == "<Result: store of 1 keys, running>"


def test_no_key_has_an_empty_result() -> None:
    result = result_of()
    result.raise_for_status()
    assert (len(result), result.counts, result.status.tolist()) == (0, {}, [])
