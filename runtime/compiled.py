"""Libraries that the runtime compiles for itself: a recipe and functions in, a library out."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from xiokv.runtime import toolchain
from xiokv.runtime.errors import RuntimeFault

#: By name without the prefix: what a function returns, and what it takes.
Functions = Mapping[str, tuple[Any, tuple[Any, ...]]]


def open_compiled(
    recipe: toolchain.Recipe, what: str, prefix: str, functions: Functions
) -> ctypes.CDLL:
    """Return a library with its functions declared, compiling it where needed.

    Args:
        recipe: how it is made.
        what: what it is, for messages.
        prefix: what the functions' names begin with.
        functions: those that are declared.

    Raises:
        MissingFault: there is no C++ compiler.
        RuntimeFault: the library could not be compiled or loaded.
    """
    path = toolchain.build_cached(recipe)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise RuntimeFault(f"cannot load the {what}: {error}") from error
    for name, (result, arguments) in functions.items():
        function = getattr(library, f"{prefix}{name}")
        function.restype = result
        function.argtypes = arguments
    return library
