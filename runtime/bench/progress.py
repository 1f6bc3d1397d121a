"""What is being measured, on one line of a terminal; elsewhere nothing is said."""

from __future__ import annotations

import sys

_ERASE = "\r\x1b[2K"


class Progress:
    """A line that is overwritten."""

    def __init__(self) -> None:
        """Find out whether anybody looks."""
        self._shown = sys.stderr.isatty()
        self._title = ""

    def table(self, title: str) -> None:
        """Say which table is at work."""
        self._title = title
        self.say("")

    def say(self, text: str) -> None:
        """Say what of the table is being measured."""
        if self._shown:
            shown = f"{self._title}: {text}" if text else self._title
            print(f"{_ERASE}measuring: {shown}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the line."""
        if self._shown:
            print(_ERASE, end="", file=sys.stderr, flush=True)
