"""A user's project, as far as its modules go: its file, and the folder that they lie in.

In: the working folder, or a folder that was named. Out: paths. No more of xiokv.toml is read
than where modules are compiled to.
"""

from __future__ import annotations

import sys
from pathlib import Path

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.toolchain import DESCRIPTION

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = "xiokv.toml"

_DEFAULT_DIR = "build/xiokv"


def nearest_project() -> Path | None:
    """Return the xiokv.toml that governs the working folder, if any.

    A working folder that is gone or may not be looked into belongs to no project.
    """
    try:
        return _project_above(Path.cwd())
    except OSError:
        return None


def _project_above(start: Path) -> Path | None:
    """Search upward, within one file system and not past the root of a git checkout."""
    device = start.stat().st_dev
    for folder in (start, *start.parents):
        if folder.stat().st_dev != device:
            return None
        if (folder / PROJECT).is_file():
            return folder / PROJECT
        if (folder / ".git").exists():
            return None
    return None


def compile_dir(project: Path) -> Path:
    """Return the folder that holds a project's modules; no more of the file is read."""
    try:
        document = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeFault(f"{project} cannot be read: {error}") from error
    table = document.get("compile", {})
    written = table.get("dir", _DEFAULT_DIR) if isinstance(table, dict) else table
    if not isinstance(written, str) or "\0" in written:
        raise RuntimeFault(f"{project}: [compile] dir is {written!r}; a path is needed")
    try:
        folder = (project.parent / written).resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, up to Python 3.12
        raise RuntimeFault(f"{project}: [compile] dir leads nowhere: {error}") from error
    if not folder.is_relative_to(project.parent.resolve()):
        raise RuntimeFault(f"{project}: [compile] dir leaves the project's folder: {folder}")
    return folder


def modules_below(folder: Path) -> list[Path]:
    """Return the modules of a project, given its folder or the one that it compiles to."""
    project = folder / PROJECT
    folders = [folder, *([compile_dir(project)] if project.is_file() else [])]
    return [path.parent for place in folders for path in sorted(place.glob(f"*/{DESCRIPTION}"))]
