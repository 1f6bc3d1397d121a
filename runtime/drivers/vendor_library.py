"""What the libraries of all vendors have in common: calls, faults, and where they are not there.

In: a module of bindings, whose functions return an error code and then their values. Out: the
values, or a fault. Bindings tell that a library is not there in words that change with their
versions; the loader's answer is the same with all of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from xiokv.runtime.errors import RuntimeFault

# Codes that are the same with all of them.
SUCCESS = 0
NO_DEVICE = 100
NOT_FOUND = 500
NOT_READY = 600


class VendorFault(RuntimeFault):
    """An error that a vendor's library returned; `code` is its number."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def call_library(
    bindings: Any,
    name: str,
    arguments: tuple[Any, ...],
    describe: Callable[[Any, Any], str],
    library_fault: Callable[[RuntimeError], RuntimeFault],
) -> Any:
    """Call a vendor's library; return the value, the values where there are several, or None.

    Args:
        bindings: the module that has the function.
        name: the function's.
        arguments: what it is given.
        describe: says of the bindings and a code what the code means.
        library_fault: says what is wrong where the library or the function cannot be had.
    """
    try:
        code, *values = getattr(bindings, name)(*arguments)
    except RuntimeError as missing:
        raise library_fault(missing) from missing
    except (ValueError, OverflowError) as error:  # a code or a number that has no name or room
        raise RuntimeFault(f"{name}: {error}") from error
    if code != SUCCESS:
        raise VendorFault(f"{name}: {describe(bindings, code)}", int(code))
    if not values:
        return None
    return values[0] if len(values) == 1 else values


def why_not_opened(library: str) -> str:
    """Return why a library cannot be opened by its name; nothing where it can."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return ""
