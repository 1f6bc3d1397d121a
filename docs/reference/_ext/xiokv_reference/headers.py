"""The headers that a program in C includes, and the page of their Doxygen comments."""

from __future__ import annotations

import re
from pathlib import Path

from xiokv.codegen.config import Output
from xiokv.codegen.errors import XiokvError

# What docs/c-api.md tells readers to include; what it includes in turn is public, too.
ENTRY = "kv_commands.h"

_INCLUDE = re.compile(r'^#include ".*/(.*)"$', re.MULTILINE)


def folder(output: Output) -> Path:
    """Return the folder of a project's headers."""
    return output.dir / "include" / output.names.folder


def public(folder: Path) -> list[str]:
    """Return the names of the public headers in a folder, sorted.

    Raises:
        XiokvError: they are not there.
    """
    if not (folder / ENTRY).exists():
        raise XiokvError(f"no {folder / ENTRY}; run xiokv-gen build in that project")
    found: set[str] = set()
    waiting = [ENTRY]
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
