"""The headers that a program includes, and the page of their Doxygen comments."""

from __future__ import annotations

import re
from pathlib import Path

from xiokv.codegen.config import Output
from xiokv.codegen.errors import XiokvError

# What docs/c-api.md and docs/host-c-api.md tell readers to include; what these include in turn
# is public, too. The library's are there where the project emits the engine.
ENTRIES = ("kv_commands.h", "kv_operation.h")
LIBRARY = ("xiokv.h", "xiokv_emulator.h", "xiokv_rados.h")

_INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)


def public(output: Output) -> list[str]:
    """Return the names of a project's public headers, from its include folder, sorted.

    Raises:
        XiokvError: they are not there.
    """
    folder = output.dir / "include"
    entries = [f"{output.names.folder}/{name}" for name in ENTRIES]
    for name in entries:
        if not (folder / name).exists():
            raise XiokvError(f"no {folder / name}; run xiokv-gen build in that project")
    found: set[str] = set()
    waiting = entries + [name for name in LIBRARY if (folder / name).exists()]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _INCLUDE.findall((folder / name).read_text(encoding="utf-8"))
    return sorted(found)


def sections(output: Output) -> str:
    """Return a section for each public header of an output folder."""
    return "\n".join(
        f"## {name}\n\n:::{{autodoxygenfile}} {Path(name).name}\n:project: xiokv\n:::\n"
        for name in public(output)
    )
