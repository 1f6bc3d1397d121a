"""Sizes as people read them."""

from __future__ import annotations

_UNITS = ((1 << 20, "MiB"), (1 << 10, "KiB"))


def size_text(size: int) -> str:
    """Return a size in the largest unit that it is a multiple of."""
    for unit, name in _UNITS:
        if size and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"
