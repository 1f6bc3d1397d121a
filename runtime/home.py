"""The process that something was made in: a child of fork has its memory and no thread of it."""

from __future__ import annotations

import os

from xiokv.runtime.errors import RuntimeFault


class Home:
    """Where something was made, and the only process in which it works.

    Args:
        what: what was made, for the message.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        # At the end of the interpreter a finaliser finds no module any more.
        self._getpid = os.getpid
        self._pid = os.getpid()

    @property
    def is_here(self) -> bool:
        """Tell whether this is that process."""
        return self._getpid() == self._pid

    def check(self) -> None:
        """Refuse any other process.

        Raises:
            RuntimeFault: this process was forked from that one.
        """
        if not self.is_here:
            raise RuntimeFault(
                f"this {self._what} is of process {self._pid}, whose threads a fork leaves"
                f" behind: make one in this process, {self._getpid()}"
            )
