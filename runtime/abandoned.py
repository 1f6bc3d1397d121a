"""What was dropped without being closed, until a quiet moment to close it.

In: resources whose owner the garbage collector took. Out: they are closed before the next
queue is created or taken over. The collector must not close them itself: it comes at any
moment and in any thread, also where a lock is held that closing needs.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from xiokv.runtime.log import log


class Resource(Protocol):
    """Something that holds queues."""

    @property
    def idle(self) -> bool:
        """Tell whether nothing runs on them, so that closing does not wait."""

    def close(self) -> None:
        """Give them back."""


_dropped: deque[Resource] = deque()


def take_in(resource: Resource) -> None:
    """Note a resource whose owner is gone; the garbage collector may call this."""
    _dropped.append(resource)


def close_idle() -> None:
    """Close all that nothing runs on."""
    for _ in range(len(_dropped)):
        try:
            resource = _dropped.popleft()
        except IndexError:  # another thread was faster
            return
        if resource.idle:
            _close(resource)
        else:
            _dropped.append(resource)


def _close(resource: Resource) -> None:
    log.warning("a KV was dropped without close(); its queues are given back now")
    try:
        resource.close()
    except Exception:
        log.exception("a KV that was dropped failed to close")
