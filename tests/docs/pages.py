"""The Markdown pages of this repository, taken apart into their fenced blocks.

A fence's first word is the language; what follows are tags:

- ``bash`` and ``python`` run, page by page and in order, in an empty folder.
- ``file=NAME`` writes the block there instead.
- ``text output``: what the command before prints holds these lines.
- ``needs=NAME`` leaves the block out unless the program NAME is there; what no test gives,
  a network or a run of its own, is in `NEVER`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

# This checkout's tools first, wherever the tests were started.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

NEVER = {
    "network": "needs a network",
    "spdk": "needs a clone of SPDK",
    "checkout": "works on the whole checkout, and is run by itself",
}

_BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first line in the page."""

    page: Path
    line: int
    language: str
    tags: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def kind(self) -> str:
        """What becomes of it: a language that runs, "file", "output" or "shown"."""
        if self.tag("file"):
            return "file"
        if self.language in ("bash", "python"):
            return self.language
        return "output" if "output" in self.tags else "shown"

    def tag(self, name: str) -> str:
        """Return the value of a tag, or an empty string."""
        return next((tag.partition("=")[2] for tag in self.tags if tag.startswith(f"{name}=")), "")

    @property
    def lacks(self) -> str:
        """Return why the block cannot run here, or an empty string."""
        need = self.tag("needs")
        if not need or (need not in NEVER and shutil.which(need, path=PATH)):
            return ""
        return NEVER.get(need, f"needs {need}, which is not installed")


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start(3)) + 1,
            found[1],
            tuple(found[2].split()),
            found[3],
        )
        for found in _BLOCK.finditer(text)
    ]


ALL = list(chain.from_iterable(map(blocks_of, PAGES)))
