"""The end of a `with` block, the same for all that has to be closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TypeVar

from xiokv.runtime.log import log

_Self = TypeVar("_Self", bound="Closing")


class Closing(ABC):
    """A context manager that closes at the end of its block.

    Where the block raised, that goes on, and a failure to close is logged beside it.
    """

    @abstractmethod
    def close(self) -> None:
        """Give everything back; a second call does nothing."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except Exception:
            if raised is None:
                raise
            log.exception("a %s failed to close as well", type(self).__name__)
