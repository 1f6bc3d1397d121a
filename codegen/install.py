"""Installs what a project generates below a prefix, for other projects to use.

In: a project's `Config` and a prefix. Out: what was written and taken away. Headers go to
``include/``, all else below ``share/``: neither depends on the machine. What is installed is
rendered anew, so it is what the inputs say, whatever lies in the project's folder.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from xiokv.codegen.config import Config, Output
from xiokv.codegen.listed import write_listed
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.render.packages import INSTALLED
from xiokv.codegen.spec.load import load_spec
from xiokv.codegen.writer import Written


def install(config: Config, prefix: Path) -> Written:
    """Install the project's output below `prefix`, an absolute path without links.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    texts = {
        prefix / _place(path, config.output): text
        for path, text in render_all(load_spec(config), config.output).items()
    }
    return write_listed(prefix, texts, f"{INSTALLED}/installed-files.txt", "xiokv-gen install")


def _place(path: Path, output: Output) -> PurePosixPath:
    """Return where below a prefix a generated file goes."""
    if path == output.python:
        return PurePosixPath(INSTALLED, "python", path.name)
    relative = PurePosixPath(path.relative_to(output.dir).as_posix())
    as_it_is = relative.parts[0] in ("include", "share")
    return relative if as_it_is else INSTALLED / relative
