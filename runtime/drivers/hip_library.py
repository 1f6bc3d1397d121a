"""hip-python, and what is wrong where it or the library behind it is not there.

In: nothing. Out: the module ``hip`` of hip-python, whose import needs no library: the first
call opens ``libamdhip64.so``, by that name alone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from xiokv.runtime.drivers.vendor_library import call_library, why_not_opened
from xiokv.runtime.errors import MissingFault, RuntimeFault, UnusableFault

LIBRARY = "libamdhip64.so"

_FOLDERS = (
    "/opt/rocm/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/lib",
)


def bindings() -> Any:
    """Import hip-python.

    Raises:
        MissingFault: it is not installed, or cannot be imported.
    """
    try:
        from hip import hip
    except ImportError as error:
        raise MissingFault(
            f"hip-python cannot be imported ({error}); install the one of your ROCm:"
            " pip install 'hip-python>=6.2'"
        ) from error
    return hip


def call(hip: Any, name: str, *arguments: Any) -> Any:
    """Call HIP; return the value, the values where there are several, or None."""
    return call_library(hip, name, arguments, _describe, _library_fault)


def decoded(text: Any) -> str:
    """Return a name as text, which hip-python before 8 gives as bytes."""
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)


def _describe(hip: Any, code: Any) -> str:
    _, text = hip.hipGetErrorString(code)
    return f"{code.name} ({int(code)}): {decoded(text)}"


def _library_fault(error: RuntimeError) -> RuntimeFault:
    """Return what is wrong where the library or one of its functions cannot be had."""
    why = why_not_opened(LIBRARY)
    if not why:
        return UnusableFault(
            f"{LIBRARY} lacks a function that hip-python calls ({error}); install the"
            " hip-python of your ROCm"
        )
    others = _others()
    if others:
        return MissingFault(
            f"hip-python opens {LIBRARY}, and there is only {', '.join(map(str, others))}:"
            " install the development package of your ROCm, which has that name, or make a"
            " link and add its folder to LD_LIBRARY_PATH"
        )
    return MissingFault(
        f"no HIP runtime: {why}; install AMD's ROCm, or add the folder of {LIBRARY} to"
        " LD_LIBRARY_PATH"
    )


def _others() -> list[Path]:
    """Return the runtimes that are there under a name with a version alone."""
    named = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    rocm = [f"{root}/lib" for root in [os.environ.get("ROCM_PATH")] if root]
    folders = dict.fromkeys(Path(folder) for folder in (*named, *rocm, *_FOLDERS) if folder)
    return [path for folder in folders for path in sorted(folder.glob(f"{LIBRARY}.*"))]
