"""Errors that a user can act on, and the exit codes they map to.

Every error states what was seen, what is allowed and what to do next. A source error
also shows ``path:line:col``, the line itself and a caret. Code that can find several
faults collects them in `Problems` and reports all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of both command-line tools."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    STALE = 3
    BREAKING = 4
    MISSING = 5


class XiokvError(Exception):
    """An error with a message for the user; its first line stands alone."""

    exit_code: ExitCode = ExitCode.FAILURE


class UsageError(XiokvError):
    """The command line or a configuration file asks for something that is not allowed."""

    exit_code = ExitCode.USAGE


class StaleError(XiokvError):
    """Generated output differs from what the inputs render to."""

    exit_code = ExitCode.STALE


class BreakingChangeError(XiokvError):
    """Upstream changed in a way that breaks users; it needs an explicit acceptance."""

    exit_code = ExitCode.BREAKING


class MissingToolError(XiokvError):
    """A compiler, a library or a device that this step needs is not there."""

    exit_code = ExitCode.MISSING


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A place in a source file. Lines and columns count from 1; 0 means not known."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return ``path:line:col``, without the parts that are not known."""
        parts = [self.path, *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(parts)


class SourceError(XiokvError):
    """A fault at a place in a source text, shown with its line and a caret."""

    def __init__(self, origin: Origin, message: str, line_text: str | None = None) -> None:
        """Build the message from the place, the fault and, where known, the line."""
        self.origin = origin
        self.message = message
        lines = [f"{origin}: error: {message}"]
        if line_text is not None:
            shown = line_text.rstrip("\r\n").replace("\t", " ")
            lines.append(f"    {shown}")
            if origin.column:
                lines.append("    " + " " * (origin.column - 1) + "^")
        super().__init__("\n".join(lines))


class Problems:
    """Faults found so far; `raise_if_any` reports them together, in source order."""

    def __init__(self) -> None:
        """Start with no fault."""
        self._found: list[XiokvError] = []

    def add(self, error: XiokvError) -> None:
        """Keep one fault."""
        self._found.append(error)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Keep a fault raised inside the block and go on after it."""
        try:
            yield
        except XiokvError as error:
            self._found.append(error)

    def __bool__(self) -> bool:
        """Tell whether anything was found."""
        return bool(self._found)

    def raise_if_any(self) -> None:
        """Raise the one fault, or one error that lists all of them."""
        if not self._found:
            return
        messages = dict.fromkeys(map(str, self._found))  # each once
        if len(messages) == 1:
            raise self._found[0]
        combined = XiokvError("\n".join(messages))
        combined.exit_code = max(error.exit_code for error in self._found)
        raise combined


@contextmanager
def restorable(shown: str) -> Iterator[None]:
    """Add to a fault of a file that fetch wrote how to mend the file."""
    try:
        yield
    except XiokvError as error:
        raise XiokvError(
            f"{error}\nrestore {shown} from version control, or delete it and run xiokv-gen fetch"
        ) from error


@contextmanager
def nesting(shown: str) -> Iterator[None]:
    """Turn a text that is nested without end into an error."""
    try:
        yield
    except RecursionError:
        raise XiokvError(f"{shown}: nested too deeply to be read") from None
