"""Code objects of the kernels, as they are shipped or with changes to the engine.

What was compiled once, from the same text, is kept in the folder of test builds.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.errors import MissingFault

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "generated"
KEPT = ROOT / "build" / "tests" / "kernels"

# A change to the engine: a text that its headers have once, the text in its place.
Edit = tuple[str, str]


@cache
def code_object(architecture: str) -> Path:
    """Return the code object that is shipped for an architecture."""
    return _compiled(GENERATED, architecture)


def changed(architecture: str, command: str, edits: tuple[Edit, ...]) -> Path:
    """Return a code object with one command's kernel, compiled from changed headers."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "generated"
        for part in ("include", "kernels"):
            shutil.copytree(GENERATED / part, folder / part)
        for there, instead in edits:
            _edit(folder / "include", there, instead)
        unit = folder / "kernels" / "kv_kernels.cpp"
        other = rf"^XIOKV_DEFINE_KERNEL\((?!{command}\))\w+\)\n"
        unit.write_text(re.sub(other, "", unit.read_text(), flags=re.MULTILINE))
        return _compiled(folder, architecture)


def _edit(include: Path, there: str, instead: str) -> None:
    texts = {path: path.read_text() for path in include.rglob("*.h")}
    found = {path.name: text.count(there) for path, text in texts.items() if there in text}
    assert sum(found.values()) == 1, f"{there!r} is not once in the headers: {found}"
    for path, text in texts.items():
        path.write_text(text.replace(there, instead))


def _compiled(generated: Path, architecture: str) -> Path:
    try:
        recipe = toolchain.recipe("hip", generated, "tests", (architecture,))
    except MissingFault as fault:
        pytest.skip(str(fault))
    return toolchain.build(recipe, KEPT / recipe.key(recipe.find_compiler()))
