"""What ptxas, the last step of nvcc, says of the kernels that it compiled.

In: what nvcc said with ``-Xptxas -v``. Out: figures of each kernel. Without ptxas, as for
PTX, which the driver compiles when it loads it, there are none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

WAVE = 32

_ENTRY = re.compile(r"Compiling entry function '(\S+)'")
_PROPERTIES = re.compile(
    r"Function properties for (\S+)\s+"
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r"(?:\s+ptxas info\s+: (Used \d+ registers.*))?"
)
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


def ptxas_figures(said: str) -> Mapping[str, Any]:
    """Return wave size, kernels and called functions of one cubin."""
    entries = set(_ENTRY.findall(said))
    found = {match[1]: _figures(match) for match in _PROPERTIES.finditer(said)}
    return {
        "wave": WAVE,
        "kernels": {name: figures for name, figures in found.items() if name in entries},
        "functions": sorted(found.keys() - entries),
    }


def _figures(match: re.Match[str]) -> dict[str, int]:
    used = match[5] or ""
    return {
        "registers": _number(_REGISTERS, used),
        "shared_bytes": _number(_SHARED, used),
        "local_bytes": int(match[2]),
        "spill_stores": int(match[3]),
        "spill_loads": int(match[4]),
    }


def _number(pattern: re.Pattern[str], text: str) -> int:
    """Return the number that the text states; what ptxas leaves out is 0."""
    found = pattern.search(text)
    return int(found[1]) if found else 0
