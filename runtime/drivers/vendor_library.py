"""Whether the dynamic loader finds a vendor's library: a name in, what is in the way out.

Bindings tell that a library is not there in words that change with their versions; the
loader's answer is the same with all of them.
"""

from __future__ import annotations

import ctypes


def why_not_opened(library: str) -> str:
    """Return why a library cannot be opened by its name; nothing where it can."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return ""
