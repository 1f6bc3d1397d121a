"""The headers that a program includes, and the page of their Doxygen comments."""

from __future__ import annotations

import re
from pathlib import Path

from xiokv.codegen.config import Output
from xiokv.codegen.errors import XiokvError

# What docs/c-api.md tells readers to include; what it includes in turn is public, too.
ENTRIES = ("kv_commands.h", "kv_operation.h")

_INCLUDE = re.compile(r'^#include ".*/(.*)"$', re.MULTILINE)


def folder(output: Output) -> Path:
    """Return the folder of a project's headers."""
    return output.dir / "include" / output.names.folder


def public(folder: Path) -> list[str]:
    """Return the names of the public headers in a folder, sorted.

    Raises:
        XiokvError: they are not there.
    """
    found: set[str] = set()
    waiting = list(ENTRIES)
    for name in ENTRIES:
        if not (folder / name).exists():
            raise XiokvError(f"no {folder / name}; run xiokv-gen build in that project")
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _INCLUDE.findall((folder / name).read_text(encoding="utf-8"))
    return sorted(found)


def sections(output: Output) -> str:
    """Return a section for each public header of an output folder."""
    return "\n".join(
        f"## {output.names.folder}/{name}\n\n:::{{autodoxygenfile}} {name}\n:project: xiokv\n:::\n"
        for name in public(folder(output))
    )
