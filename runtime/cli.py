"""The command line of xiokv: it begins it, and ends it where nothing else can.

Little is imported before `main`, so that an interrupt or a lack of memory while the rest is
imported ends in one line, too.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

# What the loader says where a library does not fit into memory.
_NO_ROOM = ("failed to map segment from shared object", "annot allocate memory")


def main(argv: list[str] | None = None) -> NoReturn:
    """Run the tool and leave with one of the documented exit codes."""
    try:
        from xiokv.runtime.commands import dispatch

        code = dispatch.run(argv)
    except KeyboardInterrupt:
        _failed("interrupted")
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        code = 128 + signal.SIGINT  # where the process outlives its signal
    except Exception as error:
        lacking = _lack_of_memory(error)
        if lacking is None:
            raise
        code = _failed(f"not enough memory: {lacking}")
    sys.exit(code)


def _failed(message: str) -> int:
    if sys.stderr:
        sys.stderr.write(f"xiokv: {message}\n")
    return 1


def _lack_of_memory(error: BaseException | None) -> str | None:
    """Return what was said where an error, or one that led to it, is a lack of memory."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        text = str(error).strip()
        if isinstance(error, MemoryError):
            return text.splitlines()[0] if text else f"of this process, {os.getpid()}"
        if isinstance(error, ImportError | OSError):
            found = [line for line in text.splitlines() if any(w in line for w in _NO_ROOM)]
            if found:
                return found[0].removeprefix("Original error was: ").strip()
        error = error.__cause__ or error.__context__
    return None
