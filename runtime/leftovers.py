"""What a run that is cut off leaves in a store: it is deleted if the store answers, else told.

In: what was stored, and where. Out: a store without it, or a note of the exception that ended
the run, which the command line prints.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from xiokv.generated.nvme_kv import Status
from xiokv.runtime.abi import Outcome
from xiokv.runtime.deletion import gone_by
from xiokv.runtime.emulator.options import pool_of
from xiokv.runtime.ending import last_words, noticed
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kv import KV
from xiokv.runtime.log import log
from xiokv.runtime.rados import RadosUrl, by_hand

#: Seconds for deleting what a run that was cut off has stored.
SECONDS = 20.0
#: Seconds without any answer after which the store is given up.
PATIENCE = 4.0

_AGAIN = "the same command, run to its end, deletes them"


class Stored(Protocol):
    """What a run has stored."""

    @property
    def left(self) -> int:
        """How many values of it may be there, at most."""

    def clear(self, until: float) -> None:
        """Delete it, as long as the store answers, and until `time.monotonic()` is `until`.

        Raises:
            RuntimeFault: the store does not answer.
        """


@dataclass(frozen=True, slots=True)
class LastingPlace:
    """Where values are that outlive the process.

    Attributes:
        name: for messages.
        advice: how to remove them, in lines.
    """

    name: str
    advice: str


def lasting_place(store: str, device: str | None = None) -> LastingPlace | None:
    """Return where values are; None for a store that ends with the process.

    Args:
        store: as `Emulator` takes it.
        device: a namespace's character device, in its place.
    """
    if device:
        return LastingPlace(device, _AGAIN)
    pool = pool_of(store)
    if pool is None:
        return None
    line = by_hand.removal(pool)
    return LastingPlace(pool.title, f"{_AGAIN}; this removes all that the namespace has:\n  {line}")


def named_place(place: RadosUrl, *beginnings: str) -> LastingPlace:
    """Return where objects of a pool are whose names begin so: see `lasting_place`."""
    line = by_hand.removal(place, *beginnings)
    return LastingPlace(place.title, f"this removes them:\n  {line}")


def refuse_read_only(store: str, who: str) -> None:
    """Refuse a store that is opened read-only.

    Args:
        store: as `Emulator` takes it.
        who: would write to it.

    Raises:
        ArgumentFault: it is.
    """
    pool = pool_of(store)
    if pool is not None and pool.read_only:
        raise ArgumentFault(f"store {store!r} is read-only, and {who} stores: leave that out")


@contextmanager
def cleared(stored: Stored, where: LastingPlace | None) -> Iterator[None]:
    """Delete what a block has stored where it raises; what may be left becomes a note."""
    if where is None:
        yield
        return
    notice = (
        f"deleting what was stored in {where.name}, for up to {SECONDS:.0f} s; a second signal"
        " leaves it there"
    )
    with last_words(lambda: _told(stored, where)):
        try:
            with noticed(notice):
                yield
        except BaseException as error:
            if stored.left:
                _clear(error, stored, where)
            raise


def _clear(error: BaseException, stored: Stored, where: LastingPlace) -> None:
    try:
        stored.clear(time.monotonic() + SECONDS)
    except RuntimeFault as fault:
        log.debug("not all was deleted: %s", fault)
    except BaseException as second:
        second.add_note(str(error))
        _note(second, stored, where)
        raise
    _note(error, stored, where)


def _note(error: BaseException, stored: Stored, where: LastingPlace) -> None:
    if told := _told(stored, where):
        error.add_note(told)


def _told(stored: Stored, where: LastingPlace) -> str:
    """Return what is left, and how to remove it; "" where nothing is."""
    if not (left := stored.left):
        return ""
    what = "1 object" if left == 1 else f"{left} objects"
    return f"up to {what} may be left in {where.name}; {where.advice}"


class StoredKeys:
    """Values that were, or may have been, stored under keys of a `KV`.

    Args:
        kv: the calls.
        keys: all of them, as its calls take them.
    """

    def __init__(self, kv: KV, keys: Sequence[bytes] | Any) -> None:
        self._kv = kv
        self._keys = keys

    @property
    def left(self) -> int:
        """How many values may be there, at most."""
        return len(self._keys)

    def clear(self, until: float) -> None:
        """Delete them on new queues: see `Stored`."""
        self._kv.reset()
        for left in delete_until(self._kv, self._keys, until):
            self._keys = self._keys[:left]


def check_answers(kv: KV) -> None:
    """Refuse to go on where a store does not answer within `PATIENCE`.

    Raises:
        RuntimeFault: it does not.
    """
    result = kv.exist([b"\0"], timeout=PATIENCE)
    answers = result.status[0] not in (Outcome.TIMEOUT, Outcome.CANCELLED)
    if not answers or result.nvme_status["sc"][0] == Status.NAMESPACE_NOT_READY:
        raise RuntimeFault(f"the store does not answer: {result}")


def delete_until(kv: KV, keys: Sequence[bytes] | Any, until: float) -> Iterator[int]:
    """Delete keys from the last to the first, as many at a time as are in flight.

    Yields:
        How many are not known to be gone, at most; all of these are the first ones.

    Raises:
        RuntimeFault: the store does not answer, so that nothing was deleted.
    """
    # Else it would carry out what was given up when it is back.
    check_answers(kv)
    step = sum(int(pair.record.window) for pair in kv.queues)
    left = len(keys)
    while left and (seconds := until - time.monotonic()) > 0:
        first = max(left - step, 0)
        some = keys[first:left]
        result = kv.delete(some, timeout=min(seconds, PATIENCE))
        if not gone_by(result, kv, some, PATIENCE).all():
            return
        left = first
        yield left
