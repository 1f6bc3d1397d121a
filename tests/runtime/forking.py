"""Work in a child of fork, for tests of what one may do."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable

_SECONDS = 20


def in_child(work: Callable[[], object]) -> str:
    """Return what `work` returns or raises in a child of fork, which has 20 seconds."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads at a fork
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_SECONDS)
        try:
            answer = str(work())
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child ended with {status}"
    return answer
