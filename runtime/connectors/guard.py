"""Keeps failures away from the server's threads: a call in, its result or what stands for none.

Each kind of failure is logged once and counted after that, since a server asks for thousands
of pages and would fill its log with one cause.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.log import log

_T = TypeVar("_T")


class Guard:
    """What has failed in one connector.

    Args:
        name: of the connector, for the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def counts(self) -> dict[str, int]:
        """How often each kind of failure was met."""
        with self._lock:
            return dict(self._counts)

    def run(self, what: str, operation: Callable[[], _T], failed: _T) -> _T:
        """Return what an operation does, or `failed` where it raises."""
        try:
            return operation()
        except Exception as error:
            unforeseen = None if isinstance(error, RuntimeFault) else error
            self.tell(f"{what}: {type(error).__name__}", str(error), error=unforeseen)
            return failed

    def tell(
        self, kind: str, message: str, count: int = 1, error: BaseException | None = None
    ) -> None:
        """Count failures of a kind, and log the first.

        Args:
            kind: what failed, and how.
            message: of the first.
            count: how many.
            error: whose traceback is of use.
        """
        with self._lock:
            first = kind not in self._counts
            self._counts[kind] += count
        if first:
            log.warning(
                "%s: %s: %s (further ones are counted, not logged)",
                self._name,
                kind,
                message,
                exc_info=error,
            )
