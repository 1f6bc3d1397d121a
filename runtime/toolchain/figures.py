"""What a compiled kernel costs beyond registers: memory behind them, and calls.

In: the folder of a module. Out: lines for the user, none for a module as it should be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xiokv.runtime.toolchain.build import DESCRIPTION

_COSTS = {
    "scratch_bytes": "bytes of scratch",
    "vgpr_spills": "spilled vector registers",
    "sgpr_spills": "spilled scalar registers",
    "local_bytes": "bytes of local memory",
    "spill_stores": "bytes of spill stores",
    "spill_loads": "bytes of spill loads",
}


def costs(folder: Path) -> tuple[str, ...]:
    """Return a line for each file of a module whose kernels use scratch, spill or call."""
    document = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    found = ((image["file"], ", ".join(_costs(image))) for image in document["images"])
    return tuple(f"{file}: {told}; see {DESCRIPTION}" for file, told in found if told)


def _costs(image: Mapping[str, Any]) -> Iterator[str]:
    kernels = image["kernels"]
    for name, words in _COSTS.items():
        worst = max(kernels, key=lambda kernel: kernels[kernel].get(name, 0), default=None)
        if worst is not None and kernels[worst].get(name):
            yield f"{kernels[worst][name]} {words} in {worst}"
    if image["functions"]:
        yield f"calls of {', '.join(image['functions'])}"
